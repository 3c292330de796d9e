/** Where a factory stands, in one word made of its conditions. */
import { Badge } from '@mantine/core';
import type { Api } from '../../api/client.ts';

export type Status = Api<'FactoryStatus'>;
type ConditionType = Api<'Condition'>['type'];

interface State {
  word: string;
  color: string;
  /** Sentence of the condition that decided it. */
  why: string;
}

export function conditionOf(status: Status, type: ConditionType): Api<'Condition'> | undefined {
  return status.conditions.find((condition) => condition.type === type);
}

/** What needs people comes before what goes on by itself. */
function stateOf(status: Status): State {
  const is = (type: ConditionType): boolean => conditionOf(status, type)?.status === 'True';
  const why = (type: ConditionType): string => conditionOf(status, type)?.message ?? '';
  if (is('Stalled')) return { word: is('PruneHeld') ? 'Deletions held' : 'Stalled', color: 'red', why: why('Stalled') };
  if (is('Ready') && is('SecretsDegraded'))
    return { word: 'Ready, secrets degraded', color: 'orange', why: why('SecretsDegraded') };
  if (is('Ready')) return { word: 'Ready', color: 'teal', why: why('Ready') };
  if (is('FetchFailed')) return { word: 'Cannot be read', color: 'orange', why: why('FetchFailed') };
  if (is('Reconciling')) return { word: 'Reconciling', color: 'blue', why: why('Reconciling') };
  return { word: 'Not ready', color: 'orange', why: why('Ready') };
}

export function FactoryStateBadge({ status }: { status: Status }) {
  const { word, color, why } = stateOf(status);
  return (
    <Badge color={color} title={why} miw="max-content">
      {word}
    </Badge>
  );
}

/** Problems in the files as the last pass found them: those of a pass that ended in another way are past. */
export function problemsOf({ last_sync: last, condition }: Status): readonly Api<'Diagnostic'>[] {
  return last !== null && last.ending === condition.ending && last.reason === condition.reason ? last.problems : [];
}
