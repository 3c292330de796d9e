/** Replacing the secret: asked for once, done once, shown once. spec: Webhook management (Rotate secret). */
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { useSchemes, useWebhooks, webhooksChanged, type SeenWebhook, type Webhook } from '../../api/webhooks.ts';
import { Copyable } from '../../components/text/copy.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useFocusOnError } from '../../components/forms/focus-first-error.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { useChange } from '../../components/forms/use-change.ts';
import type { DialogProps } from './actions.tsx';
import { useSecretDraft } from './create/secret-draft.ts';
import { OnceShown } from './secret-shown-once.tsx';
import { ProviderSecretInput } from './create/provider-fields.tsx';
import { providerOfScheme } from './sending/providers.ts';
import { Refusal } from './refusal.tsx';
import { SecretPlace } from './secret-place.tsx';

export function RotateDialog({ factory, seen, onClose }: DialogProps) {
  const queries = useQueryClient();
  const [base, setBase] = useState(seen);
  const given = useSecretDraft();
  const [rotated, setRotated] = useState<Api<'WebhookRotated'>>();
  const rotate = useChange(
    ({ tag, secret }: { tag: string; secret: string }, key) =>
      rotation(factory.uid, base.body.uid, { tag, secret, key }),
    (done) => {
      setRotated({ ...done, ...given.shown(done.secret) });
      given.forget();
      void webhooksChanged(queries, factory.uid);
    },
  );
  const goOn = (): void => {
    setBase(seen);
    rotate.reset();
  };
  if (rotated !== undefined)
    return (
      <Dialog isOnce onClose={onClose} title={`${base.body.name} has a new secret`} size="lg">
        <Rotated rotated={rotated} onClose={onClose} />
      </Dialog>
    );
  if (factory.definitions_managed)
    return (
      <Dialog onClose={onClose} title={`Rotate the secret of ${base.body.name}`} size="lg">
        <RotateElsewhere factoryUid={factory.uid} webhook={seen.body} onClose={onClose} />
      </Dialog>
    );
  // While it is under way the answer may hold the only copy of the new secret: nothing closes the dialog then.
  return (
    <Dialog isBusy={rotate.isPending} onClose={onClose} title={`Rotate the secret of ${base.body.name}`} size="lg">
      <RotateForm
        factory={factory}
        base={base}
        given={given}
        error={rotate.error}
        isPending={rotate.isPending}
        onRotate={() => rotate.start({ tag: base.etag, secret: given.text })}
        onClose={onClose}
      >
        <Refusal
          error={rotate.error}
          before={base}
          now={seen}
          onGoOn={goOn}
          shown={base.body.signature_scheme === null ? [] : ['/secret']}
        />
      </RotateForm>
    </Dialog>
  );
}

function rotation(
  factoryUid: string,
  webhookUid: string,
  { tag, secret, key }: { tag: string; secret: string; key: string },
): Promise<Api<'WebhookRotated'>> {
  const params = {
    path: { factory_uid: factoryUid, webhook_uid: webhookUid },
    header: { 'If-Match': tag, 'Idempotency-Key': key },
  };
  return ask(
    api.POST('/factory/{factory_uid}/webhooks/{webhook_uid}/rotate', { params, body: secret === '' ? {} : { secret } }),
  );
}

interface RotateFormProps {
  factory: Api<'Factory'>;
  base: SeenWebhook;
  given: ReturnType<typeof useSecretDraft>;
  error: unknown;
  isPending: boolean;
  onRotate: () => void;
  onClose: () => void;
  /** What was refused. */
  children: React.ReactNode;
}

function RotateForm({
  factory,
  base: { body: webhook },
  given,
  error,
  isPending,
  onRotate,
  onClose,
  children,
}: RotateFormProps) {
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, error);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    onRotate();
  };
  return (
    <form ref={form} onSubmit={submit} noValidate aria-label="Rotate secret">
      <Stack>
        <WhatHappens factoryUid={factory.uid} webhook={webhook} />
        {webhook.signature_scheme !== null && (
          <NewProviderSecret
            scheme={webhook.signature_scheme}
            given={given}
            error={problemOf(error)?.fault('/secret')}
          />
        )}
        {children}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isPending}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={isPending}>
            Rotate secret
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The webhook of a file names its secret, which is rotated itself. */
function RotateElsewhere({
  factoryUid,
  webhook,
  onClose,
}: {
  factoryUid: string;
  webhook: Webhook;
  onClose: () => void;
}) {
  return (
    <Stack>
      <Alert color="blue" title="Rotate the secret itself">
        <Text size="sm" component="div">
          The file of this webhook names the secret <SecretPlace factoryUid={factoryUid} webhook={webhook} />. Rotate it
          there, or by{' '}
          <span className="mono">
            millwright secrets set <UntrustedText>{webhook.secret_name}</UntrustedText>
          </span>
          ; no file changes. The webhook takes the new value over at its next sync, which is asked for at once.
        </Text>
      </Alert>
      <WhatHappens factoryUid={factoryUid} webhook={webhook} when="with that sync" />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
      </Group>
    </Stack>
  );
}

function NewProviderSecret({
  scheme: id,
  given,
  error,
}: {
  scheme: string;
  given: ReturnType<typeof useSecretDraft>;
  error: string | undefined;
}) {
  const scheme = useSchemes().data?.signature_schemes.find((one) => one.id === id);
  const label =
    scheme?.secret_origin === 'either' ? 'The sender’s own secret (blank: one is generated)' : 'New provider secret';
  return (
    <ProviderSecretInput
      provider={providerOfScheme(id)}
      label={label}
      requirement={scheme?.secret_requirement}
      required={scheme?.secret_origin === 'provider'}
      value={given.text}
      onChange={given.type}
      onMakeUp={given.makeUp}
      error={error}
    />
  );
}

function WhatHappens({
  factoryUid,
  webhook,
  when = 'at once',
}: {
  factoryUid: string;
  webhook: Webhook;
  when?: string;
}) {
  const sharing = (useWebhooks(factoryUid).data ?? []).filter(
    ({ uid, secret_name: name }) => name === webhook.secret_name && uid !== webhook.uid,
  );
  return (
    <Stack gap="xs">
      <Text size="sm">
        The old secret stops working {when}, with no overlap: senders get 401 until they have the new one. To move a
        sender without a gap, create a second webhook, move the sender to it, then delete this one.
      </Text>
      {sharing.length > 0 && (
        <div>
          <Text size="sm" fw={600}>
            These webhooks use the same secret and move with it:
          </Text>
          <List size="sm">
            {sharing.map(({ uid, name }) => (
              <List.Item key={uid}>
                <UntrustedText>{name}</UntrustedText>
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </Stack>
  );
}

function Rotated({ rotated, onClose }: { rotated: Api<'WebhookRotated'>; onClose: () => void }) {
  const others = rotated.rotated.filter(({ uid }) => uid !== rotated.uid);
  return (
    <Stack>
      <Alert color="orange" role="status" title="The old secret is dead">
        Requests that use it are refused from now on.
      </Alert>
      <OnceShown webhook={rotated} shown={{ secret: rotated.secret, url: rotated.url }} />
      {others.length > 0 && (
        <div>
          <Text size="sm" fw={600}>
            Moved with it
          </Text>
          <List size="sm">
            {others.map(({ uid, name, url }) => (
              <List.Item key={uid}>
                <UntrustedText>{name}</UntrustedText>
                {url !== undefined && <Copyable value={url} what={`the URL of ${name}`} />}
              </List.Item>
            ))}
          </List>
        </div>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
