/** Creates a webhook: first the form, then what is shown once. */
import { Alert, Button, Group, Paper, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { Link } from 'react-router';
import { api, askSeen, type Api } from '../../../api/client.ts';
import { useMay } from '../../../api/session.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { RoleNeeded } from '../../../components/feedback/role-needed.tsx';
import { announce } from '../../../components/feedback/announcements.ts';
import { useFactory } from '../../factories/frame.tsx';
import { CreateFields } from './create-fields.tsx';
import { CreatedWebhook, type Created } from './created.tsx';
import { bodyOf, EMPTY_DRAFT, FIELDS, type Draft } from './draft.ts';
import { useFocusOnError } from '../../../components/forms/focus-first-error.ts';
import { providersOf } from '../sending/providers.ts';
import { useSchemes, webhooksChanged } from '../../../api/webhooks.ts';
import { useChange } from '../../../components/forms/use-change.ts';
import { sourceKindOf } from '../../../api/source-kinds.ts';

export function CreateWebhookPage() {
  const factory = useFactory();
  const mayManage = useMay('manager');
  const [created, setCreated] = useState<Created>();
  if (!mayManage)
    return (
      <>
        <PageTitle above={[{ label: 'Webhooks', to: `/factories/${factory.uid}/webhooks` }]}>Create webhook</PageTitle>
        <RoleNeeded>A manager of the factory can create webhooks.</RoleNeeded>
      </>
    );
  return created === undefined ? (
    <CreateForm factory={factory} onCreated={setCreated} />
  ) : (
    <CreatedWebhook factoryUid={factory.uid} created={created} />
  );
}

function CreateForm({ factory, onCreated }: { factory: Api<'Factory'>; onCreated: (created: Created) => void }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  const schemes = useSchemes().data?.signature_schemes ?? [];
  const provider =
    draft.mode === 'signature' ? providersOf(schemes).find(({ id }) => id === draft.provider) : undefined;
  const create = useChange(
    (body: Api<'WebhookCreate'>, key) =>
      askSeen(
        api.POST('/factory/{factory_uid}/webhooks', {
          params: { path: { factory_uid: factory.uid }, header: { 'Idempotency-Key': key } },
          body,
        }),
      ),
    ({ body: { secret, url, ...webhook }, etag }) => {
      const ours = draft.isSecretOurs && provider?.secret === 'chosen' ? draft.secret : undefined;
      onCreated({ seen: { body: webhook, etag }, provider, shown: { secret: secret ?? ours, url } });
      announce(`The webhook ${webhook.name} was created`);
      void webhooksChanged(queries, factory.uid);
    },
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, create.error);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    create.start(bodyOf(draft, provider));
  };
  const isManaged = factory.definitions_managed;
  return (
    <>
      <PageTitle above={[{ label: 'Webhooks', to: `/factories/${factory.uid}/webhooks` }]}>Create webhook</PageTitle>
      <Paper
        component="form"
        ref={form}
        onSubmit={submit}
        noValidate
        withBorder
        p="md"
        maw={720}
        aria-label="New webhook"
      >
        <Stack>
          {isManaged && (
            <Alert color="blue" title="Managed in files">
              Nothing is created here: you get the file to add to{' '}
              {sourceKindOf(factory.source).hasCommits ? 'the repository' : 'the folder'}. The secret is set beside it,
              never in it.
            </Alert>
          )}
          <CreateFields
            factory={factory}
            draft={draft}
            provider={provider}
            error={create.error}
            onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
          />
          {create.error !== null && <ProblemAlert error={create.error} shown={FIELDS} />}
          <Group justify="flex-end">
            <Button variant="default" component={Link} to="..">
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              {isManaged ? 'Show the file' : buttonOf(draft, provider?.secret)}
            </Button>
          </Group>
        </Stack>
      </Paper>
    </>
  );
}

/** Without its secret a provider's webhook is only an address yet. */
function buttonOf({ mode, secret }: Draft, origin: string | undefined): string {
  return mode === 'signature' && secret === '' && origin !== undefined && origin !== 'generated'
    ? 'Create and get URL'
    : 'Create webhook';
}
