/** What is asked about a federated credential: whose tokens, and what their keys may do. */
import { Autocomplete, MultiSelect, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useFactories } from '../../api/factories.ts';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { ROLES } from '../keys/queries.ts';
import type { Draft } from './draft.ts';

interface FieldsProps {
  draft: Draft;
  /** An issuer stays as it is. */
  isNew: boolean;
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

/** Issuers that serve everybody; of these a claim has to say whose tokens are meant. */
const KNOWN_ISSUERS = ['https://token.actions.githubusercontent.com', 'https://gitlab.com'];

export function CredentialFields({ draft, isNew, fault, onChange }: FieldsProps) {
  const { data: factories = [] } = useFactories();
  return (
    <>
      <TextInput
        label="Name"
        description="What it is for; also the name of the service account that its keys belong to."
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={fault('/name')}
        required
        data-autofocus
        autoComplete="off"
      />
      {isNew ? (
        <Autocomplete
          label="Issuer"
          description="As its tokens name it, byte for byte. Its keys are found below it."
          placeholder="https://…"
          data={KNOWN_ISSUERS}
          value={draft.issuer}
          onChange={(issuer) => onChange({ issuer })}
          error={fault('/issuer')}
          required
          spellCheck={false}
        />
      ) : (
        <Text size="sm" component="div">
          Of <span className="mono foreign">{draft.issuer}</span>, which stays: for another issuer make another one.
        </Text>
      )}
      <TextInput
        label="Audience"
        description="Whom a token has to be made for, and nobody else."
        value={draft.audience}
        onChange={(event) => onChange({ audience: event.currentTarget.value })}
        error={fault('/audience')}
        required
        autoComplete="off"
        spellCheck={false}
      />
      <Textarea
        label="Claims"
        description="What a token has to say, a line for each value that is allowed; of several values of a claim one."
        placeholder="repository=acme/factory"
        value={draft.claims}
        onChange={(event) => onChange({ claims: event.currentTarget.value })}
        error={fault('/claims')}
        required
        autosize
        minRows={2}
        spellCheck={false}
        classNames={{ input: 'mono' }}
      />
      <Radio.Group label="Role" value={draft.role} onChange={(role) => onChange({ role })} error={fault('/role')}>
        <Stack gap={6} mt={6}>
          {ROLES.map(({ role, label, means }) =>
            role === 'admin' ? null : <Radio key={role} value={role} label={label} description={means} />,
          )}
        </Stack>
      </Radio.Group>
      <MultiSelect
        label="Factories"
        description="The only ones that its keys may see."
        placeholder={draft.factories.length === 0 ? 'All, later ones too' : undefined}
        searchable
        clearable
        data={factories.map(({ uid, name }) => ({ value: uid, label: withHiddenNamed(name) }))}
        value={draft.factories}
        onChange={(chosen) => onChange({ factories: chosen })}
        error={fault('/factories')}
      />
    </>
  );
}
