/** The refusal of a change of an automation that was begun outside its editor. */
import { useWebhookNames, type SeenAutomation } from '../../api/automations.ts';
import { isStale } from '../../api/problems.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { EditConflict } from '../../components/forms/edit-conflict.tsx';
import { changedMembers } from './form/draft.ts';
import { LABELS, readMembers, textOf } from './form/members.ts';

interface RefusalProps {
  factoryUid: string;
  error: unknown;
  /** As it was when the change was begun. */
  before: SeenAutomation;
  /** As it is now. */
  now: SeenAutomation;
  /** Goes on from what is there now. */
  onGoOn: () => void;
}

export function Refusal({ factoryUid, error, before, now, onGoOn }: RefusalProps) {
  const nameOf = useWebhookNames(factoryUid);
  if (!isStale(error)) return <ProblemAlert error={error} />;
  const [then, there] = [readMembers(before), readMembers(now)];
  const differences = changedMembers(then, there).map((name) => ({
    label: LABELS[name],
    before: textOf(then[name], nameOf),
    now: textOf(there[name], nameOf),
  }));
  return (
    <EditConflict what="automation" differences={differences} onAction={onGoOn} isWaiting={now.etag === before.etag} />
  );
}
