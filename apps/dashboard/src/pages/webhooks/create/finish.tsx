/** Second half of a set-up: the address exists, the secret does not. Deliveries are accepted once it is set. */
import { Button, Divider, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { api, ask, askSeen, type Api } from '../../../api/client.ts';
import { problemOf } from '../../../api/problems.ts';
import { Copyable } from '../../../components/text/copy.tsx';
import { announce } from '../../../components/feedback/announcements.ts';
import { useSecretDraft } from './secret-draft.ts';
import { useFocusOnError } from '../../../components/forms/focus-first-error.ts';
import type { Shown } from '../secret-shown-once.tsx';
import { ProviderSecretInput } from './provider-fields.tsx';
import { ProviderSteps } from '../sending/provider-steps.tsx';
import { providerOfScheme, type Provider } from '../sending/providers.ts';
import { useSchemes, webhooksChanged, type SeenWebhook } from '../../../api/webhooks.ts';
import { Refusal } from '../refusal.tsx';
import { useChange } from '../../../components/forms/use-change.ts';

interface FinishSetUpProps {
  factoryUid: string;
  seen: SeenWebhook;
  /** Who signs, where that is known better than by the scheme. */
  provider?: Provider;
  /** Gets what is shown this once: a secret that was generated or made up. */
  onFinished: (shown: Shown) => void;
}

export function FinishSetUp({ factoryUid, seen, provider, onFinished }: FinishSetUpProps) {
  const { signature_scheme: scheme, ingress_url: url } = seen.body;
  const chosen = provider ?? (scheme === null ? undefined : providerOfScheme(scheme));
  return (
    <Stack>
      <div>
        <Text size="sm" fw={600}>
          Ingress URL
        </Text>
        <Copyable value={url} what="the ingress URL" />
      </div>
      <Text size="sm">
        It answers 404 until its secret is set
        {chosen?.secret === 'revealed' ? ': give the URL to the provider, which then shows the secret' : ''}.
      </Text>
      {chosen !== undefined && <ProviderSteps provider={chosen} url={url} isSecretAsked />}
      <Divider />
      <FinishForm factoryUid={factoryUid} seen={seen} provider={chosen} onFinished={onFinished} />
    </Stack>
  );
}

function FinishForm({ factoryUid, seen, provider, onFinished }: FinishSetUpProps) {
  const queries = useQueryClient();
  const [base, setBase] = useState(seen);
  const given = useSecretDraft();
  const { name, signature_scheme: schemeId } = seen.body;
  const scheme = useSchemes().data?.signature_schemes.find(({ id }) => id === schemeId);
  const isGiven = scheme?.secret_origin === 'provider';
  const finish = useChange(
    (secret: string, key) => finished(factoryUid, base, secret, key),
    ({ secret: generated, url, enabled }) => {
      const shown = given.shown(generated);
      given.forget();
      announce(
        enabled
          ? `The webhook ${name} takes deliveries now`
          : `The secret is set, but the webhook ${name} could not be enabled`,
      );
      onFinished({ ...shown, url });
      void webhooksChanged(queries, factoryUid);
    },
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, finish.error);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    finish.start(given.text);
  };
  const goOn = (): void => {
    setBase(seen);
    finish.reset();
  };
  return (
    <form ref={form} onSubmit={submit} noValidate aria-label="Finish webhook set-up">
      <Stack>
        {provider !== undefined && (
          <ProviderSecretInput
            provider={provider}
            requirement={scheme?.secret_requirement}
            required={isGiven}
            value={given.text}
            onChange={given.type}
            onMakeUp={given.makeUp}
            error={problemOf(finish.error)?.fault('/secret')}
          />
        )}
        <Refusal error={finish.error} before={base} now={seen} onGoOn={goOn} shown={['/secret']} />
        <Group justify="flex-end">
          <Button type="submit" loading={finish.isPending}>
            {isGiven || given.text !== '' ? 'Finish webhook set-up' : 'Generate a secret and finish'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/**
 * Sets the secret, then lets deliveries in. A secret that was generated is answered even where the second step fails:
 * nobody could see it again.
 */
async function finished(
  factoryUid: string,
  { body: { uid }, etag }: SeenWebhook,
  secret: string,
  key: string,
): Promise<Api<'WebhookRotated'>> {
  const path = { factory_uid: factoryUid, webhook_uid: uid };
  const { body: rotated, etag: tag } = await askSeen(
    api.POST('/factory/{factory_uid}/webhooks/{webhook_uid}/rotate', {
      params: { path, header: { 'If-Match': etag, 'Idempotency-Key': key } },
      body: secret === '' ? {} : { secret },
    }),
  );
  if (rotated.enabled) return rotated;
  const enabling = ask(
    api.PATCH('/factory/{factory_uid}/webhooks/{webhook_uid}', {
      params: { path, header: { 'If-Match': tag } },
      body: { enabled: true },
    }),
  );
  return {
    ...rotated,
    enabled: await enabling.then(
      ({ enabled }) => enabled,
      () => false,
    ),
  };
}
