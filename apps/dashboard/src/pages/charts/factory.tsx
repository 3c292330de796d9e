/** Charts of one factory, of one of its webhooks, or of one of its automations. */
import { Group, Stack, Text } from '@mantine/core';
import { useAutomations } from '../../api/automations.ts';
import { useWebhooks } from '../../api/webhooks.ts';
import { DeliveriesChart, RunsChart, StartLatencyChart } from '../../charts/index.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { useFactory } from '../factories/frame.tsx';
import { Picker } from './picker.tsx';
import { RangePicker, useChoices, useSpan } from './range.tsx';

export function FactoryChartsPage() {
  const factory = useFactory();
  const [chosen] = useChoices();
  const [webhookUid, automationId] = [chosen('webhook_uid') ?? undefined, chosen('automation_id') ?? undefined];
  const scope = { factoryUid: factory.uid, webhookUid, hours: useSpan().hours };
  return (
    <>
      <PageTitle>Charts</PageTitle>
      <Stack>
        <Group align="flex-end" justify="space-between">
          <Group style={{ flex: '1 1 24rem' }}>
            <Pickers factoryUid={factory.uid} />
          </Group>
          <RangePicker />
        </Group>
        {automationId !== undefined && (
          <Text size="sm" c="dimmed">
            Deliveries come to webhooks, whichever automations wait for them: the first chart does not look at the
            automation.
          </Text>
        )}
        <DeliveriesChart {...scope} />
        <RunsChart {...scope} automationId={automationId} />
        <StartLatencyChart {...scope} automationId={automationId} />
      </Stack>
    </>
  );
}

function Pickers({ factoryUid }: { factoryUid: string }) {
  const webhooks = useWebhooks(factoryUid);
  const automations = useAutomations(factoryUid);
  return (
    <>
      <Picker name="webhook_uid" label="Webhook" all="All webhooks" things={webhooks.data ?? []} />
      <Picker name="automation_id" label="Automation" all="All automations" things={automations.data ?? []} />
    </>
  );
}
