/** The fields of a new webhook. */
import { Autocomplete, Checkbox, Radio, Stack, Textarea, TextInput } from '@mantine/core';
import type { Api } from '../../../api/client.ts';
import { problemOf } from '../../../api/problems.ts';
import { slugOf, suggestedSecretName } from '#definitions/names';
import { isBodyProtected, type Draft } from './draft.ts';
import { generatedSecret } from './secret-draft.ts';
import { ProviderPicker, ProviderSecretInput } from './provider-fields.tsx';
import type { Provider } from '../sending/providers.ts';
import { useSchemes, useSecretNames, useWebhooks, type Mode } from '../../../api/webhooks.ts';
import { MODES } from '../labels.ts';

interface CreateFieldsProps {
  factory: Api<'Factory'>;
  draft: Draft;
  provider: Provider | undefined;
  error: unknown;
  onChange: (change: Partial<Draft>) => void;
}

export function CreateFields({ factory, draft, provider, error, onChange }: CreateFieldsProps) {
  const fault = (pointer: string): string | undefined => problemOf(error)?.fault(pointer);
  return (
    <>
      <TextInput
        label="Name"
        description="For people. The first name also makes the permanent short name."
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={fault('/name')}
        required
        data-autofocus
        autoFocus
        autoComplete="off"
      />
      <ModePicker value={draft.mode} onChange={(mode) => onChange({ mode })} error={fault('/auth_mode')} />
      {draft.mode === 'signature' && (
        <ProviderPicker
          value={draft.provider}
          onChange={(chosen) =>
            onChange({ provider: chosen, secret: '', isSecretOurs: false, isBodyProtected: undefined })
          }
          error={fault('/signature_scheme')}
        />
      )}
      {provider !== undefined && !factory.definitions_managed && (
        <SecretOfProvider provider={provider} draft={draft} onChange={onChange} error={fault('/secret')} />
      )}
      <SecretName factoryUid={factory.uid} draft={draft} onChange={onChange} error={fault('/secret_name')} />
      <HeaderInput
        value={draft.header}
        onChange={(header) => onChange({ header })}
        error={fault('/delivery_id_header')}
      />
      {draft.mode === 'signature' && provider !== undefined && (
        <ProtectionInput
          value={isBodyProtected(draft, provider)}
          onChange={(chosen) => onChange({ isBodyProtected: chosen })}
          error={fault('/replay_protection')}
        />
      )}
      <Textarea
        label="Description"
        value={draft.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        error={fault('/description')}
        autosize
        minRows={1}
        maxRows={6}
      />
    </>
  );
}

export function ModePicker({
  value,
  onChange,
  error,
}: {
  value: Mode;
  onChange: (mode: Mode) => void;
  error?: string;
}) {
  return (
    <Radio.Group
      label="Authentication"
      description="How senders prove themselves"
      value={value}
      onChange={onChange}
      error={error}
    >
      <Stack gap="xs" mt="xs">
        {MODES.map(({ mode, label, means }) => (
          <Radio key={mode} value={mode} label={label} description={means} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function SecretOfProvider({
  provider,
  draft,
  onChange,
  error,
}: {
  provider: Provider;
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  error?: string;
}) {
  const requirement = useSchemes().data?.signature_schemes.find(({ id }) => id === provider.scheme)?.secret_requirement;
  const label =
    provider.secret === 'generated'
      ? 'Provider secret (blank: one is generated)'
      : 'Provider secret (blank: give it later)';
  return (
    <ProviderSecretInput
      provider={provider}
      label={label}
      requirement={requirement}
      value={draft.secret}
      error={error}
      onChange={(secret) => onChange({ secret, isSecretOurs: false })}
      onMakeUp={() => onChange({ secret: generatedSecret(), isSecretOurs: true })}
    />
  );
}

/** The name that the server would choose is shown where nothing is typed. */
function SecretName({
  factoryUid,
  draft,
  onChange,
  error,
}: {
  factoryUid: string;
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  error?: string;
}) {
  const usedSlugs = new Set(useWebhooks(factoryUid).data?.map(({ slug }) => slug) ?? []);
  const names = useSecretNames(factoryUid);
  const suggested =
    draft.name.trim() === '' ? '<name>-webhook' : suggestedSecretName(slugOf(draft.name, 'webhook', usedSlugs));
  return (
    <Autocomplete
      label="Secret name"
      placeholder={suggested}
      data={names}
      value={draft.secretName}
      onChange={(secretName) => onChange({ secretName })}
      error={error}
      autoComplete="off"
      description={
        `The managed secret that holds the credential. Blank: ${suggested}, with a number behind it where that ` +
        'is taken. One that exists is used as it is, and not shown.'
      }
    />
  );
}

export function ProtectionInput({
  value,
  onChange,
  error,
}: {
  value: boolean;
  onChange: (isProtected: boolean) => void;
  error?: string;
}) {
  return (
    <Checkbox
      label="Accept each signed body once"
      checked={value}
      onChange={(event) => onChange(event.currentTarget.checked)}
      error={error}
      description={
        'A captured request that is sent again under another delivery ID starts nothing. For providers that sign no ' +
        'time with their requests; not where equal bodies are different deliveries.'
      }
    />
  );
}

export function HeaderInput({
  value,
  onChange,
  error,
}: {
  value: string;
  onChange: (header: string) => void;
  error?: string;
}) {
  return (
    <TextInput
      label="Delivery ID header"
      placeholder="X-Request-Id"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      autoComplete="off"
      spellCheck={false}
      description={
        'Optional: a header of the sender that is different for each delivery; a second delivery with the same value ' +
        'starts nothing. Blank: the provider’s own, X-Millwright-Delivery-Id, or a hash of the body.'
      }
    />
  );
}
