/**
 * What a follow-up, an interrupt or a cancel request means in each state of a run. spec: Agent run interface
 * (followups), Agent run interface (cancel); contract §3.
 */
import { RUN_ATTACHMENT_BYTES_MAX, RUN_ATTACHMENTS_MAX } from './workspace/attachments.ts';
import { isEnded } from './states.ts';
import type { RunState } from './types.ts';

/**
 * Where a stored follow-up goes: into the waiting prompt, after set-up or turn, into the live session, or into a new
 * execution.
 */
export type FollowupOutcome = 'queued_prompt' | 'queue_pending' | 'live_session' | 'handoff_execution';

/** UTF-8 bytes that one execution is handed at once: eight prompts of the largest size. contract §3.2 (Create). */
export const TASK_BYTES_MAX = 8_388_608;

export interface FollowupSituation {
  /** The execution has read the prompt: nothing can be joined to it any more. */
  promptClaimed: boolean;
  /** The agent takes a second prompt in mid-turn. */
  agentConcurrent: boolean;
  /** A cancel request is stored for the current execution. */
  cancelRequested: boolean;
  /** The run belongs to a factory that was deleted. */
  factoryDeleted: boolean;
  /** UTF-8 bytes that the next execution would be handed: what waits already, and this message. */
  taskBytes: number;
  /** Files of the run with those of this message, and their bytes. */
  attachments: { count: number; bytes: number };
}

export type FollowupDecision =
  | { ok: true; outcome: FollowupOutcome }
  | { ok: false; reason: 'cancel-under-way' | 'factory-deleted' | 'task-too-large' | 'attachments-too-many' };

/**
 * Where a follow-up to a run in this state goes; refused while a cancel is under way or without its factory (409), and
 * when too much waits or was attached (400). contract §3.8 (Follow-up).
 */
export function followupOutcome(state: RunState, situation: FollowupSituation): FollowupDecision {
  if (situation.factoryDeleted) return { ok: false, reason: 'factory-deleted' };
  if (situation.taskBytes > TASK_BYTES_MAX) return { ok: false, reason: 'task-too-large' };
  const { count, bytes } = situation.attachments;
  if (count > RUN_ATTACHMENTS_MAX || bytes > RUN_ATTACHMENT_BYTES_MAX)
    return { ok: false, reason: 'attachments-too-many' };
  if (isEnded(state)) return { ok: true, outcome: 'handoff_execution' };
  if (situation.cancelRequested) return { ok: false, reason: 'cancel-under-way' };
  return { ok: true, outcome: liveOutcome(state, situation) };
}

function liveOutcome(
  state: 'QUEUED' | 'CLAIMED' | 'PENDING' | 'INPROGRESS' | 'BLOCKED',
  situation: FollowupSituation,
): FollowupOutcome {
  switch (state) {
    case 'QUEUED':
    case 'CLAIMED':
      return situation.promptClaimed ? 'queue_pending' : 'queued_prompt';
    case 'PENDING':
      return 'queue_pending';
    case 'INPROGRESS':
      return situation.agentConcurrent ? 'live_session' : 'queue_pending';
    case 'BLOCKED':
      return 'live_session';
  }
}

/**
 * What a cancel request has to do: end the run now, store the request for its supervisor, or nothing because that was
 * done before.
 */
export type CancelAction = 'cancel-now' | 'ask' | 'none';

export type CancelDecision = { ok: true; action: CancelAction } | { ok: false; reason: 'already-ended' };

/**
 * What a cancel request means now: repeating is fine, an end that committed first refuses (400). contract §3.9.
 */
export function cancelDecision(state: RunState, situation: { cancelRequested: boolean }): CancelDecision {
  if (state === 'CANCELLED') return { ok: true, action: 'none' };
  if (isEnded(state)) return { ok: false, reason: 'already-ended' };
  if (state === 'QUEUED') return { ok: true, action: 'cancel-now' };
  return { ok: true, action: situation.cancelRequested ? 'none' : 'ask' };
}

/** Milliseconds that a cancelled agent has to end its turn by itself. contract §3.9 (Cancel). */
export const CANCEL_ASK_MS = 10_000;

/** Milliseconds between TERM and the kill of the whole tree. contract §3.9 (Cancel). */
export const CANCEL_TERM_MS = 5_000;

export interface InterruptSituation {
  /** A cancel request is stored for the current execution. */
  cancelRequested: boolean;
  /** An agent works on it that can be asked to end a turn: not a command. */
  takesInterrupts: boolean;
  /** An interrupt of the current execution is stored, and nothing new was said to its agent since. */
  isInterrupted: boolean;
}

export type InterruptDecision =
  | { ok: true; action: 'ask' | 'none' }
  | { ok: false; reason: 'already-ended' | 'cancel-under-way' | 'not-begun' | 'no-agent' };

/** What an interrupt means now: repeating is fine; without a turn there is nothing to end. contract §3.13. */
export function interruptDecision(state: RunState, situation: InterruptSituation): InterruptDecision {
  if (isEnded(state)) return { ok: false, reason: 'already-ended' };
  if (situation.cancelRequested) return { ok: false, reason: 'cancel-under-way' };
  if (!situation.takesInterrupts) return { ok: false, reason: 'no-agent' };
  if (state !== 'INPROGRESS' && state !== 'BLOCKED') return { ok: false, reason: 'not-begun' };
  return { ok: true, action: situation.isInterrupted ? 'none' : 'ask' };
}
