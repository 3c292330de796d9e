/** Impact of a change: usage of the last days, and stored deliveries with a different outcome. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { Time } from '../../../components/text/time.tsx';
import { useWebhookOf, type Change } from '../queries.ts';
import { countOf } from '../../../components/text/count.ts';

export function Traffic({
  traffic: {
    days,
    deliveries,
    accepted,
    runs,
    failed_runs: failed,
    last_delivery_at: lastDelivery,
    last_run_at: lastRun,
  },
}: {
  traffic: NonNullable<Change['traffic']>;
}) {
  const isQuiet = (deliveries ?? 0) === 0 && runs === 0;
  if (isQuiet)
    return (
      <Text size="sm" c="dimmed">
        No {deliveries === null ? 'run' : 'delivery and no run'} in the last {days} days.
      </Text>
    );
  return (
    <Text size="sm" component="div">
      Last {days} days:{' '}
      {deliveries !== null && (
        <>
          {countOf(deliveries, 'delivery', 'deliveries')} ({accepted} accepted
          {lastDelivery !== null && (
            <>
              , the last <Time at={lastDelivery} as="ago" />
            </>
          )}
          ),{' '}
        </>
      )}
      {countOf(runs, 'run')}
      {failed > 0 && ` (${failed} failed)`}
      {lastRun !== null && (
        <>
          , the last <Time at={lastRun} as="ago" />
        </>
      )}
      .
    </Text>
  );
}

/** Whose runs will fail without an environment. */
export function UsedBy({ users }: { users: NonNullable<Change['used_by']> }) {
  return (
    <Text size="sm">
      Named by {users.map(({ kind, name }) => `${kind.replace('_', ' ')} ${name}`).join(', ')}: runs of{' '}
      {users.length === 1 ? 'it' : 'these'} will fail.
    </Text>
  );
}

interface ReplayProps {
  factoryUid: string;
  replay: NonNullable<Change['replay']>;
  /** The webhook of all of them, where it is known. */
  webhookUid?: string;
}

export function Replay({ factoryUid, replay, webhookUid }: ReplayProps) {
  const { deliveries, before, after, starts, stops, unreadable, filters_unreadable: unusable, cut } = replay;
  const [isOpen, setOpen] = useState(false);
  const entries = [...starts, ...stops];
  if (deliveries === 0 && unusable === 0)
    return cut ? (
      <Text size="sm" c="dimmed">
        Asking stored deliveries would be more work than a plan may take.
      </Text>
    ) : null;
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text size="sm">
          Of the newest {countOf(deliveries, 'stored delivery', 'stored deliveries')}{' '}
          {before === after && entries.length === 0
            ? `${before} start something, as now`
            : `${before} start something now, ${after} would`}
          .
        </Text>
        {entries.length > 0 && (
          <Button size="compact-xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide them' : 'Which ones'}
          </Button>
        )}
      </Group>
      {isOpen && (
        <Entries factoryUid={factoryUid} webhookUid={webhookUid} title="Would start, and do not now" entries={starts} />
      )}
      {isOpen && (
        <Entries factoryUid={factoryUid} webhookUid={webhookUid} title="Would not start any more" entries={stops} />
      )}
      {unreadable > 0 && (
        <Text size="xs" c="dimmed">
          {countOf(unreadable, 'payload')} cannot be read and count as starting nothing.
        </Text>
      )}
      {unusable > 0 && (
        <Text size="xs" c="dimmed">
          {countOf(unusable, 'filter')} cannot be used and match nothing.
        </Text>
      )}
      {cut && (
        <Text size="xs" c="dimmed">
          Older ones were left out: asking them would be more work than a plan may take.
        </Text>
      )}
    </Stack>
  );
}

function Entries({
  factoryUid,
  webhookUid,
  title,
  entries,
}: {
  factoryUid: string;
  webhookUid?: string;
  title: string;
  entries: readonly string[];
}) {
  if (entries.length === 0) return null;
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
        {entries.length === 5 && ' (the newest 5)'}
      </Text>
      <ul style={{ margin: 0, paddingInlineStart: 18 }}>
        {entries.map((entry) => (
          <li key={entry}>
            {webhookUid === undefined ? (
              <FoundDelivery factoryUid={factoryUid} entry={entry} />
            ) : (
              <DeliveryLink factoryUid={factoryUid} webhookUid={webhookUid} entry={entry} />
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** An automation may select several webhooks: which one it was, the log knows. */
function FoundDelivery({ factoryUid, entry }: { factoryUid: string; entry: string }) {
  const { data: webhookUid } = useWebhookOf(entry);
  return webhookUid === undefined || webhookUid === null ? (
    <span className="mono">{entry}</span>
  ) : (
    <DeliveryLink factoryUid={factoryUid} webhookUid={webhookUid} entry={entry} />
  );
}

function DeliveryLink({ factoryUid, webhookUid, entry }: { factoryUid: string; webhookUid: string; entry: string }) {
  return (
    <Anchor
      component={Link}
      to={`/factories/${factoryUid}/webhooks/${webhookUid}/deliveries/${entry}`}
      className="mono"
    >
      {entry}
    </Anchor>
  );
}
