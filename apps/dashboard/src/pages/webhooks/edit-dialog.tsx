/** Changing what a webhook is, member by member: only what was changed here is sent. */
import { Alert, Autocomplete, Button, Group, NumberInput, Stack, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import type { DialogProps } from './actions.tsx';
import { HeaderInput, ModePicker, ProtectionInput } from './create/create-fields.tsx';
import { FIELDS } from './create/draft.ts';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { ProviderPicker } from './create/provider-fields.tsx';
import { providerOfScheme, PROVIDERS } from './sending/providers.ts';
import { useSecretNames, webhooksChanged, type Mode, type Webhook } from '../../api/webhooks.ts';
import { Refusal } from './refusal.tsx';
import { useChange } from '../../components/forms/use-change.ts';

const SECRET_HINT =
  'Another secret that exists, and that the factory may use for webhooks. Senders need its value at once.';

interface Wanted {
  name: string;
  description: string;
  mode: Mode;
  /** Identifier of the provider; empty: none. */
  provider: string;
  secretName: string;
  header: string;
  isBodyProtected: boolean;
  /** Empty: none. */
  overlapMinutes: number | '';
}

export function EditDialog({ factory, seen, onClose }: DialogProps) {
  const queries = useQueryClient();
  const [base, setBase] = useState(seen);
  const [changes, setChanges] = useState<Partial<Wanted>>({});
  const wanted: Wanted = { ...wantedOf(base.body), ...changes };
  const path = { factory_uid: factory.uid, webhook_uid: seen.body.uid };
  const save = useChange(
    ({ tag, body }: { tag: string; body: Api<'WebhookPatch'> }) =>
      ask(
        api.PATCH('/factory/{factory_uid}/webhooks/{webhook_uid}', {
          params: { path, header: { 'If-Match': tag } },
          body,
        }),
      ),
    ({ name }) => {
      announce(`The webhook ${name} was changed`);
      onClose();
      void webhooksChanged(queries, factory.uid);
    },
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, save.error);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const body = patchOf(base.body, wanted);
    if (Object.keys(body).length === 0) onClose();
    else save.start({ tag: base.etag, body });
  };
  /** What was typed here stays; everything else is as it is now. */
  const goOn = (): void => {
    setBase(seen);
    save.reset();
  };
  return (
    <Dialog
      isBusy={save.isPending}
      onClose={onClose}
      title={`Edit ${base.body.name}`}
      size="lg"
      closeOnClickOutside={false}
    >
      <form ref={form} onSubmit={submit} noValidate aria-label="Edit webhook">
        <Stack>
          {factory.definitions_managed && (
            <Alert color="blue" title="Managed in files">
              Nothing is changed here: you get the text of{' '}
              <span className="mono">
                <UntrustedText>{base.body.file ?? 'its file'}</UntrustedText>
              </span>{' '}
              with what you change.
            </Alert>
          )}
          <EditFields
            factoryUid={factory.uid}
            wanted={wanted}
            error={save.error}
            onChange={(change) => setChanges((before) => ({ ...before, ...change }))}
          />
          <Refusal error={save.error} before={base} now={seen} onGoOn={goOn} shown={FIELDS} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {factory.definitions_managed ? 'Show the file' : 'Save'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function EditFields({
  factoryUid,
  wanted,
  error,
  onChange,
}: {
  factoryUid: string;
  wanted: Wanted;
  error: unknown;
  onChange: (change: Partial<Wanted>) => void;
}) {
  const fault = (pointer: string): string | undefined => problemOf(error)?.fault(pointer);
  const names = useSecretNames(factoryUid);
  return (
    <>
      <TextInput
        label="Name"
        description="The URL and the permanent short name stay."
        value={wanted.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={fault('/name')}
        required
        data-autofocus
        autoComplete="off"
      />
      <Textarea
        label="Description"
        value={wanted.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        error={fault('/description')}
        autosize
        minRows={1}
        maxRows={6}
      />
      <ModePicker value={wanted.mode} onChange={(mode) => onChange({ mode })} error={fault('/auth_mode')} />
      {wanted.mode === 'signature' && (
        <ProviderPicker
          value={wanted.provider}
          onChange={(provider) => onChange({ provider })}
          error={fault('/signature_scheme')}
        />
      )}
      <Autocomplete
        label="Secret name"
        description={SECRET_HINT}
        data={names}
        value={wanted.secretName}
        onChange={(secretName) => onChange({ secretName })}
        error={fault('/secret_name')}
        autoComplete="off"
      />
      <HeaderInput
        value={wanted.header}
        onChange={(header) => onChange({ header })}
        error={fault('/delivery_id_header')}
      />
      <NumberInput
        label="Secret overlap"
        description="Minutes for which the value of before is accepted too when the secret has got another one"
        value={wanted.overlapMinutes}
        onChange={(minutes) => onChange({ overlapMinutes: typeof minutes === 'number' ? minutes : '' })}
        error={fault('/secret_overlap_minutes')}
        min={1}
        max={1_440}
        allowDecimal={false}
        placeholder="none"
      />
      {wanted.mode === 'signature' && (
        <ProtectionInput
          value={wanted.isBodyProtected}
          onChange={(isBodyProtected) => onChange({ isBodyProtected })}
          error={fault('/replay_protection')}
        />
      )}
    </>
  );
}

function wantedOf(webhook: Webhook): Wanted {
  const {
    name,
    description,
    auth_mode: mode,
    signature_scheme: scheme,
    secret_name: secretName,
    delivery_id_header: header,
    replay_protection: protection,
    secret_overlap_minutes: overlap,
  } = webhook;
  return {
    name,
    description: description ?? '',
    mode,
    provider: scheme === null ? '' : providerOfScheme(scheme).id,
    secretName,
    header: header ?? '',
    isBodyProtected: protection === 'body',
    overlapMinutes: overlap ?? '',
  };
}

function patchOf(base: Webhook, wanted: Wanted): Api<'WebhookPatch'> {
  const before = wantedOf(base);
  const scheme = PROVIDERS.find(({ id }) => id === wanted.provider)?.scheme ?? wanted.provider;
  return {
    ...(wanted.name === before.name ? {} : { name: wanted.name }),
    ...(wanted.description === before.description
      ? {}
      : { description: wanted.description === '' ? null : wanted.description }),
    ...(wanted.mode === before.mode ? {} : { auth_mode: wanted.mode }),
    ...(wanted.mode !== 'signature' || scheme === base.signature_scheme || scheme === ''
      ? {}
      : { signature_scheme: scheme }),
    ...(wanted.secretName === before.secretName ? {} : { secret_name: wanted.secretName }),
    ...(wanted.mode !== 'signature' || wanted.isBodyProtected === before.isBodyProtected
      ? {}
      : { replay_protection: wanted.isBodyProtected ? 'body' : null }),
    ...(wanted.overlapMinutes === before.overlapMinutes
      ? {}
      : { secret_overlap_minutes: wanted.overlapMinutes === '' ? null : wanted.overlapMinutes }),
    ...(wanted.header === before.header ? {} : { delivery_id_header: wanted.header === '' ? null : wanted.header }),
  };
}
