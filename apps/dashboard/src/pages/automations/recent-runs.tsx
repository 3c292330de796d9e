/** How many runs an automation started within seven days, and what became of them. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { countOf } from '../../components/text/count.ts';

/** As far as the service counts. */
const COUNTED_MAX = 10_000;

export function RecentRuns({ factoryUid, automation }: { factoryUid: string; automation: Api<'Automation'> }) {
  const { total, states } = automation.recent_runs;
  if (total === 0)
    return (
      <Text size="sm" c="dimmed">
        none
      </Text>
    );
  const parts = Object.entries(states).map(([state, count]) => `${count} ${state}`);
  return (
    <>
      <Anchor component={Link} to={`/factories/${factoryUid}/runs?automation_id=${automation.uid}`} size="sm">
        {total >= COUNTED_MAX ? `${total.toLocaleString()} or more runs` : countOf(total, 'run')}
      </Anchor>
      <Text size="xs" c="dimmed">
        {parts.join(', ')}
      </Text>
    </>
  );
}
