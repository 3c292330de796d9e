/** Whether a schedule fires, in a word. */
import { Badge } from '@mantine/core';
import type { Schedule } from './queries.ts';

export function FiringBadge({ schedule: { enabled, read_only: isReadOnly, history } }: { schedule: Schedule }) {
  if (!enabled) return <Badge color="gray">{isReadOnly ? 'Disabled' : 'Paused'}</Badge>;
  return history.next_run === undefined ? (
    <Badge color="orange">Never fires</Badge>
  ) : (
    <Badge color="teal">Active</Badge>
  );
}
