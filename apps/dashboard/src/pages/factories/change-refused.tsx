/** Why a change of a factory was not made. */
import type { Api } from '../../api/client.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { EditConflict } from '../../components/forms/edit-conflict.tsx';
import { EditConflictError } from './queries.ts';

interface ChangeRefusedProps {
  error: unknown;
  shown?: readonly string[];
  /** As it was when the change was begun. */
  seen: Api<'Factory'>;
  onGoOn: (now: Api<'Factory'>) => void;
}

const MEMBERS: readonly { label: string; of: (factory: Api<'Factory'>) => string }[] = [
  { label: 'Name', of: ({ name }) => name },
  { label: 'Source', of: ({ source }) => JSON.stringify(source, null, 2) },
  { label: 'Sync policy', of: ({ sync_policy: policy }) => JSON.stringify(policy, null, 2) },
];

export function ChangeRefused({ error, shown, seen, onGoOn }: ChangeRefusedProps) {
  if (error === null || error === undefined) return null;
  if (!(error instanceof EditConflictError)) return <ProblemAlert error={error} shown={shown} />;
  const differences = MEMBERS.map(({ label, of }) => ({ label, before: of(seen), now: of(error.now) })).filter(
    ({ before, now }) => before !== now,
  );
  return <EditConflict what="factory" differences={differences} onAction={() => onGoOn(error.now)} />;
}
