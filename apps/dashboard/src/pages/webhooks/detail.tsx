/** One webhook: what it is, what can be done with it, and what arrived. */
import { Alert, Anchor, Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import type { Api } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { useMay } from '../../api/session.tsx';
import { DeliveriesChart, RunsChart, StartLatencyChart } from '../../charts/index.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { EnabledBadge } from '../../components/feedback/states.tsx';
import { DeliveryList } from '../deliveries/list.tsx';
import { useFactory } from '../factories/frame.tsx';
import { WebhookActions } from './actions.tsx';
import { FinishSetUp } from './create/finish.tsx';
import { HowToSend } from './sending/how-to-send.tsx';
import { OnceShown, type Shown } from './secret-shown-once.tsx';
import { useSeenWebhook, type SeenWebhook, type Webhook } from '../../api/webhooks.ts';
import { SecretUnsetBadge } from './unset-badge.tsx';
import { WebhookFacts } from './webhook-facts.tsx';

export function WebhookPage() {
  const factory = useFactory();
  const { webhookUid = '' } = useParams();
  const query = useSeenWebhook(factory.uid, webhookUid);
  return (
    <>
      {query.data !== undefined && query.error !== null && <Outdated error={query.error} />}
      <QueryView query={query}>
        {(seen) => <WebhookDetail key={seen.body.uid} factory={factory} seen={seen} />}
      </QueryView>
    </>
  );
}

/** What is shown is no longer so, or nobody knows. */
function Outdated({ error }: { error: unknown }) {
  if (problemOf(error)?.status !== 404) return <ProblemAlert error={error} mb="md" />;
  return (
    <Alert color="orange" mb="md" role="alert" title="This webhook was deleted">
      Senders get 404. What you see is what it was.{' '}
      <Anchor component={Link} to="../webhooks" size="sm" underline="always">
        All webhooks
      </Anchor>
    </Alert>
  );
}

function WebhookDetail({ factory, seen }: { factory: Api<'Factory'>; seen: SeenWebhook }) {
  const webhook = seen.body;
  const mayManage = useMay('manager');
  const [shown, setShown] = useState<Shown>();
  const scope = { factoryUid: factory.uid, webhookUid: webhook.uid };
  const finish = (once: Shown): void =>
    setShown(once.secret === undefined && once.url === undefined ? undefined : once);
  return (
    <Stack gap="lg">
      <div>
        <PageTitle
          above={[{ label: 'Webhooks', to: `/factories/${factory.uid}/webhooks` }]}
          aside={
            <Group gap={4}>
              <EnabledBadge enabled={webhook.enabled} />
              {!webhook.secret_set && <SecretUnsetBadge />}
            </Group>
          }
          actions={mayManage && <WebhookActions factory={factory} seen={seen} />}
        >
          {webhook.name}
        </PageTitle>
        {webhook.description !== null && (
          <Text size="sm" component="div" mb="md">
            <UntrustedText>{webhook.description}</UntrustedText>
          </Text>
        )}
        <WebhookFacts factory={factory} webhook={webhook} mayManage={mayManage} />
      </div>
      {!webhook.secret_set && <Unset factory={factory} seen={seen} mayManage={mayManage} onFinished={finish} />}
      {webhook.secret_set && mayManage && <HowToSend webhook={webhook} />}
      <DeliveryList factoryUid={factory.uid} webhook={webhook} />
      <section aria-labelledby="over-time">
        <Title order={2} size="h4" mb="sm" id="over-time">
          Over time
        </Title>
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          <DeliveriesChart {...scope} />
          <RunsChart {...scope} />
          <StartLatencyChart {...scope} />
        </SimpleGrid>
      </section>
      {shown !== undefined && <NewSecret webhook={webhook} shown={shown} onClose={() => setShown(undefined)} />}
    </Stack>
  );
}

function NewSecret({ webhook, shown, onClose }: { webhook: Webhook; shown: Shown; onClose: () => void }) {
  return (
    <Dialog isOnce onClose={onClose} title={`New secret of ${webhook.name}`} size="lg">
      <Stack>
        <OnceShown webhook={webhook} shown={shown} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Unset({
  factory,
  seen,
  mayManage,
  onFinished,
}: {
  factory: Api<'Factory'>;
  seen: SeenWebhook;
  mayManage: boolean;
  onFinished: (shown: Shown) => void;
}) {
  if (factory.definitions_managed)
    return (
      <Alert color="orange" title="Its secret is not set">
        Nobody can authenticate until the secret{' '}
        <span className="mono">
          <UntrustedText>{seen.body.secret_name}</UntrustedText>
        </span>{' '}
        has a value that fits.
      </Alert>
    );
  if (!mayManage)
    return (
      <Alert color="orange" title="Its set-up is not finished">
        Nobody can authenticate yet. A manager of the factory can give its secret.
      </Alert>
    );
  return (
    <Paper component="section" withBorder p="md" maw={820} aria-labelledby="finish">
      <Title order={2} size="h4" mb="sm" id="finish">
        Finish webhook set-up
      </Title>
      <FinishSetUp factoryUid={factory.uid} seen={seen} onFinished={onFinished} />
    </Paper>
  );
}
