/** Words with a colour: the colour alone never says anything. */
import { Badge } from '@mantine/core';
import type { Api } from '../../api/client.ts';

const RUN: Readonly<Record<string, string>> = {
  QUEUED: 'gray',
  PENDING: 'gray',
  CLAIMED: 'cyan',
  INPROGRESS: 'blue',
  SUCCEEDED: 'teal',
  FAILED: 'red',
  ERROR: 'red',
  BLOCKED: 'orange',
  CANCELLED: 'gray',
};
const OUTCOME: Readonly<Record<string, string>> = {
  Accepted: 'teal',
  Duplicate: 'gray',
  'Rejected (auth)': 'red',
  'Rejected (invalid JSON)': 'orange',
  'Rejected (too large)': 'orange',
  Throttled: 'yellow',
};

export function RunStateBadge({ state }: { state: Api<'RunState'> }) {
  return <Badge color={RUN[state] ?? 'gray'}>{state}</Badge>;
}

export function OutcomeBadge({ outcome }: { outcome: Api<'Delivery'>['outcome'] }) {
  return <Badge color={OUTCOME[outcome] ?? 'gray'}>{outcome}</Badge>;
}

export function EnabledBadge({ enabled }: { enabled: boolean }) {
  return <Badge color={enabled ? 'teal' : 'gray'}>{enabled ? 'Enabled' : 'Disabled'}</Badge>;
}
