/** What an answer to an agent's request for permission does in each state of its run. contract §3.8 (Follow-up). */
import type { PermissionOption } from '#agents';
import { isEnded } from './states.ts';
import type { RunState } from './types.ts';

/** What is known of a question when somebody answers it. */
export interface AnswerSituation {
  options: readonly PermissionOption[];
  /** It was answered, or nobody is waited for any more. */
  isClosed: boolean;
  /** What it was answered with. */
  optionId?: string;
  run: { state: RunState; cancelRequested: boolean };
}

export type AnswerDecision =
  | { ok: true; option: PermissionOption; isNew: boolean }
  | { ok: false; reason: 'unknown-option' | 'answered-otherwise' | 'closed' | 'cancel-under-way' | 'not-blocked' };

/**
 * What an answer does: repeating one is fine, another one or one that comes too late is refused (409), an option that
 * was not offered too (400).
 */
export function answerDecision(wanted: string, { options, isClosed, optionId, run }: AnswerSituation): AnswerDecision {
  const option = options.find((offered) => offered.optionId === wanted);
  if (option === undefined) return { ok: false, reason: 'unknown-option' };
  if (isClosed && optionId === wanted) return { ok: true, option, isNew: false };
  if (isClosed) return { ok: false, reason: optionId === undefined ? 'closed' : 'answered-otherwise' };
  if (run.cancelRequested && !isEnded(run.state)) return { ok: false, reason: 'cancel-under-way' };
  return run.state === 'BLOCKED' ? { ok: true, option, isNew: true } : { ok: false, reason: 'not-blocked' };
}
