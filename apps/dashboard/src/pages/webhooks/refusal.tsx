/** The refusal of a change of a webhook, whatever it is. */
import { isStale } from '../../api/problems.ts';
import type { SeenWebhook } from '../../api/webhooks.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { EditConflict } from '../../components/forms/edit-conflict.tsx';
import { MEMBERS } from './labels.ts';

interface RefusalProps {
  error: unknown;
  /** As it was when the change was begun. */
  before: SeenWebhook;
  /** As it is now. */
  now: SeenWebhook;
  /** Goes on from what is there now. */
  onGoOn: () => void;
  /** Members whose faults stand at their fields. */
  shown?: readonly string[];
}

export function Refusal({ error, before, now, onGoOn, shown }: RefusalProps) {
  if (error === null || error === undefined) return null;
  return (
    <div ref={bringIntoView}>
      {isStale(error) ? (
        <EditConflict
          what="webhook"
          differences={differencesOf(before, now)}
          onAction={onGoOn}
          isWaiting={now.etag === before.etag}
        />
      ) : (
        <ProblemAlert error={error} shown={shown} />
      )}
    </div>
  );
}

/** Dialogs are long: what was refused is seen without looking for it. */
function bringIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}

function differencesOf(before: SeenWebhook, now: SeenWebhook) {
  return MEMBERS.map(({ label, of }) => ({ label, before: of(before.body), now: of(now.body) })).filter(
    (one) => one.before !== one.now,
  );
}
