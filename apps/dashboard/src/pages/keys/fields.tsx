/** What is asked about a new API key. */
import { Group, MultiSelect, Radio, Select, Stack, TextInput } from '@mantine/core';
import { useFactories } from '../../api/factories.ts';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { ROLES, type ApiKey } from './queries.ts';
import { ENDS, type Draft } from './draft.ts';

interface FieldsProps {
  draft: Draft;
  /** Keys that there are: their principals may have another one. */
  known: readonly ApiKey[];
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

export function KeyFields(props: FieldsProps) {
  const { draft, fault, onChange } = props;
  const { data: factories = [] } = useFactories();
  return (
    <>
      <TextInput
        label="Name"
        description="What it is for."
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={fault('/name')}
        required
        data-autofocus
        autoComplete="off"
      />
      <Radio.Group label="Role" value={draft.role} onChange={(role) => onChange({ role })} error={fault('/role')}>
        <Stack gap={6} mt={6}>
          {ROLES.map(({ role, label, means }) => (
            <Radio key={role} value={role} label={label} description={means} />
          ))}
        </Stack>
      </Radio.Group>
      <MultiSelect
        label="Factories"
        description="The only ones that it may see; not for admins."
        placeholder={draft.factories.length === 0 ? 'All, later ones too' : undefined}
        searchable
        clearable
        data={factories.map(({ uid, name }) => ({ value: uid, label: withHiddenNamed(name) }))}
        value={draft.factories}
        onChange={(chosen) => onChange({ factories: chosen })}
        error={fault('/factories')}
      />
      <End {...props} />
      <Whose {...props} />
    </>
  );
}

function End({ draft: { end, endsAt }, fault, onChange }: FieldsProps) {
  return (
    <Group align="flex-start">
      <Select
        label="Runs out"
        data={[...ENDS]}
        value={end}
        onChange={(value) => onChange({ end: value ?? '90' })}
        allowDeselect={false}
        error={fault('/expires_in_days')}
        w={180}
      />
      {end === 'at' && (
        <TextInput
          type="datetime-local"
          label="At"
          value={endsAt}
          onChange={(event) => onChange({ endsAt: event.currentTarget.value })}
          error={fault('/expires_at')}
          required
        />
      )}
    </Group>
  );
}

const WHOSE: readonly { value: Draft['whose']; label: string; means?: string }[] = [
  { value: 'own', label: 'Yours', means: 'What is done with it is done by you.' },
  { value: 'service_account', label: 'A new program’s' },
  { value: 'user', label: 'A new person’s' },
  { value: 'other', label: 'Somebody’s who has a key already' },
];

function Whose({ draft, known, fault, onChange }: FieldsProps) {
  const { whose, displayName, email, principalUid } = draft;
  const principals = new Map(
    known.map(({ principal }) => [principal.uid, withHiddenNamed(`${principal.display_name} (${principal.uid})`)]),
  );
  return (
    <>
      <Radio.Group label="Whose key it is" value={whose} onChange={(value) => onChange({ whose: value })}>
        <Stack gap={6} mt={6}>
          {WHOSE.map(({ value, label, means }) => (
            <Radio key={value} value={value} label={label} description={means} />
          ))}
        </Stack>
      </Radio.Group>
      {(whose === 'user' || whose === 'service_account') && (
        <>
          <TextInput
            label={whose === 'user' ? 'Name of the person' : 'Name of the program'}
            required
            autoComplete="off"
            value={displayName}
            onChange={(event) => onChange({ displayName: event.currentTarget.value })}
            error={fault('/principal/display_name')}
          />
          <TextInput
            label="E-mail address"
            description="Where its owner can be reached; may be blank."
            autoComplete="off"
            value={email}
            onChange={(event) => onChange({ email: event.currentTarget.value })}
            error={fault('/principal/email')}
          />
        </>
      )}
      {whose === 'other' && (
        <Select
          label="Whose"
          data={[...principals].map(([value, label]) => ({ value, label }))}
          searchable
          required
          value={principalUid === '' ? null : principalUid}
          onChange={(value) => onChange({ principalUid: value ?? '' })}
          error={fault('/principal_uid')}
        />
      )}
    </>
  );
}
