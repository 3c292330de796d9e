/** A filter against the newest accepted deliveries at once. */
import { Anchor, Badge, Button, Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, ask, type Api } from '../../../api/client.ts';
import { countOf } from '../../../components/text/count.ts';
import { Empty } from '../../../components/lists/empty.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { Time } from '../../../components/text/time.tsx';
import { replay, REPLAYED_MAX, useWebhookNames, type Replayed } from '../../../api/automations.ts';
import { FailingKey } from './test-one.tsx';

const COLOURS: Readonly<Record<Replayed['result'], string>> = {
  'Would trigger': 'teal',
  'Would not trigger': 'gray',
  Undecided: 'orange',
};

export function TestAll({
  factoryUid,
  webhookUids,
  filter,
}: {
  factoryUid: string;
  webhookUids: readonly string[];
  filter: unknown;
}) {
  const test = useMutation({
    mutationFn: () =>
      ask(
        api.POST('/factory/{factory_uid}/filters/replay', {
          params: { path: { factory_uid: factoryUid } },
          body: replay(filter, webhookUids),
        }),
      ),
  });
  return (
    <Stack gap="sm">
      <Button w="max-content" loading={test.isPending} onClick={() => test.mutate()}>
        Test against the last {REPLAYED_MAX}
      </Button>
      <Text size="sm" role="status">
        {test.data !== undefined && countsText(test.data)}
      </Text>
      {test.error !== null && <ProblemAlert error={test.error} />}
      {test.data?.deliveries.length === 0 && <Empty title="No accepted deliveries yet" />}
      {test.data !== undefined && test.data.deliveries.length > 0 && (
        <Outcomes factoryUid={factoryUid} deliveries={test.data.deliveries} />
      )}
    </Stack>
  );
}

function countsText({
  would_trigger: yes,
  would_not_trigger: no,
  undecided,
  deliveries,
}: Api<'FilterReplayResult'>): string {
  const parts = [
    `${yes} would trigger`,
    `${no} would not trigger`,
    ...(undecided === 0 ? [] : [`${undecided} undecided`]),
  ];
  return `Of ${countOf(deliveries.length, 'delivery', 'deliveries')}: ${parts.join(', ')}.`;
}

function Outcomes({ factoryUid, deliveries }: { factoryUid: string; deliveries: readonly Replayed[] }) {
  const nameOf = useWebhookNames(factoryUid);
  return (
    <div
      className="scroll-x"
      tabIndex={0}
      role="region"
      aria-label="Outcome of each delivery"
      style={{ maxHeight: 420, overflowY: 'auto' }}
    >
      <Table miw={640} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            {['Delivery', 'Received', 'Webhook', 'Outcome', 'Fails at'].map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map(
            ({
              entry_id: entryId,
              webhook_uid: webhookUid,
              delivery_id: deliveryId,
              received_at: at,
              result,
              payload_check: check,
            }) => (
              <Table.Tr key={entryId}>
                <Table.Th scope="row" fw={400}>
                  <Anchor
                    component={Link}
                    to={`/factories/${factoryUid}/webhooks/${webhookUid}/deliveries/${entryId}`}
                    className="mono"
                    target="_blank"
                  >
                    <UntrustedText>{deliveryId}</UntrustedText>
                  </Anchor>
                </Table.Th>
                <Table.Td>
                  <Time at={at} />
                </Table.Td>
                <Table.Td>
                  <UntrustedText>{nameOf(webhookUid) ?? webhookUid}</UntrustedText>
                </Table.Td>
                <Table.Td>
                  <Badge color={COLOURS[result]}>{result}</Badge>
                </Table.Td>
                <Table.Td>
                  {check?.passed === false && <FailingKey pointer={check.failed_pointer} operator={check.operator} />}
                  {result === 'Undecided' && 'its payload cannot be read'}
                </Table.Td>
              </Table.Tr>
            ),
          )}
        </Table.Tbody>
      </Table>
    </div>
  );
}
