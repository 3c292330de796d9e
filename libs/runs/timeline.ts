/** What happened to a run, told from what is stored of it. contract §3.1 (timeline). */
import { derivedUuid } from './identifiers.ts';
import { isEnded, type EndedState } from './states.ts';
import type { RunState } from './types.ts';

/** The names of the hosted service where it has one, so that its clients know them; five are ours alone. */
export type TimelineEventType =
  | 'oz_run_created'
  | 'oz_run_claimed'
  | 'worker_container_ready'
  | 'agent_started'
  | 'run_followup'
  | 'run_interrupt_requested'
  | 'run_cancel_requested'
  | 'run_taken_over'
  | 'run_handed_over'
  | 'oz_run_done'
  | 'oz_run_failed'
  | 'oz_run_errored'
  | 'oz_run_cancelled';

export interface TimelineEvent {
  /** The same whenever it is told. */
  uuid: string;
  type: TimelineEventType;
  atMs: number;
  payload?: Readonly<Record<string, string | number>>;
}

/** What is stored of a run; times in milliseconds since the epoch. */
export interface RunHistory {
  runId: string;
  source: string;
  createdAtMs: number;
  state: RunState;
  /** The last end, if any. */
  finishedAtMs?: number;
  executions: readonly ExecutionHistory[];
  followups: readonly { followupId: string; atMs: number; outcome: string }[];
  /** Absent: none. */
  interrupts?: readonly { interruptId: string; atMs: number }[];
  /** Ends that came without an execution, as the log tells of them. */
  ends: readonly { atMs: number; state: EndedState }[];
}

export interface ExecutionHistory {
  executionId: string;
  epoch: number;
  claimedAtMs: number;
  preparedAtMs?: number;
  startedAtMs?: number;
  cancelRequestedAtMs?: number;
  finishedAtMs?: number;
  /**
   * State it ended in; LOST: another execution took it over; HANDED_OVER: the service stopped and gave the run back.
   */
  outcome?: string;
}

/** Events that the hosted service has no name for, and its strict clients refuse. */
const OWN_TYPES: ReadonlySet<TimelineEventType> = new Set([
  'run_followup',
  'run_interrupt_requested',
  'run_cancel_requested',
  'run_taken_over',
  'run_handed_over',
]);

/** Whether published clients know an event of this type. contract §3.11 (timeline). */
export function isPublishedEvent({ type }: Pick<TimelineEvent, 'type'>): boolean {
  return !OWN_TYPES.has(type);
}

const ENDINGS: Readonly<Record<EndedState, TimelineEventType>> = {
  SUCCEEDED: 'oz_run_done',
  FAILED: 'oz_run_failed',
  ERROR: 'oz_run_errored',
  CANCELLED: 'oz_run_cancelled',
};
/** Outcomes of executions that another one follows. */
const LEAVINGS: Readonly<Record<string, TimelineEventType>> = {
  LOST: 'run_taken_over',
  HANDED_OVER: 'run_handed_over',
};

/**
 * Everything that happened, oldest first; what happened in the same millisecond in the order in which it must have.
 * contract §3.1 (timeline).
 */
export function timelineOf(history: RunHistory): TimelineEvent[] {
  const { runId, source, createdAtMs, executions, followups, interrupts = [], ends } = history;
  const later: UnidentifiedEvent[] = [
    ...followups.map(({ followupId, atMs, outcome }): UnidentifiedEvent => ({
      type: 'run_followup',
      of: followupId,
      atMs,
      payload: { followup_id: followupId, outcome },
    })),
    ...interrupts.map(({ interruptId, atMs }): UnidentifiedEvent => ({
      type: 'run_interrupt_requested',
      of: interruptId,
      atMs,
    })),
    ...executions.flatMap(executionEvents),
    ...ends.flatMap(endWithoutExecution),
  ];
  const events = [
    { type: 'oz_run_created', of: runId, atMs: createdAtMs, payload: { source } } satisfies UnidentifiedEvent,
    ...later.toSorted((a, b) => a.atMs - b.atMs),
    ...lastEnd(history, later),
  ];
  return events.map(({ type, of, atMs, payload }: UnidentifiedEvent) => ({
    uuid: derivedUuid('timeline', runId, type, of),
    type,
    atMs,
    payload,
  }));
}

/** `of` tells events of one type apart. */
type UnidentifiedEvent = Omit<TimelineEvent, 'uuid'> & { of: string };

function executionEvents({
  executionId,
  epoch,
  claimedAtMs,
  preparedAtMs,
  startedAtMs,
  cancelRequestedAtMs,
  finishedAtMs,
  outcome,
}: ExecutionHistory): UnidentifiedEvent[] {
  const steps: [TimelineEventType, number | undefined][] = [
    ['oz_run_claimed', claimedAtMs],
    ['worker_container_ready', preparedAtMs],
    ['agent_started', startedAtMs],
    ['run_cancel_requested', cancelRequestedAtMs],
    ...(outcome === undefined
      ? []
      : [
          [LEAVINGS[outcome] ?? ENDINGS[outcome as EndedState], finishedAtMs] satisfies [
            TimelineEventType,
            number | undefined,
          ],
        ]),
  ];
  return steps.flatMap(([type, atMs]): UnidentifiedEvent[] =>
    atMs === undefined
      ? []
      : [
          {
            type,
            of: executionId,
            atMs,
            payload: { execution_id: executionId, ...(type === 'oz_run_claimed' ? { epoch } : {}) },
          },
        ],
  );
}

/** Only a cancel ends a run that nobody works on. */
function endWithoutExecution({ atMs, state }: RunHistory['ends'][number]): UnidentifiedEvent[] {
  const asked: UnidentifiedEvent[] =
    state === 'CANCELLED' ? [{ type: 'run_cancel_requested', of: String(atMs), atMs }] : [];
  return [...asked, { type: ENDINGS[state], of: String(atMs), atMs }];
}

/** An end that nothing else tells of: the run's factory was deleted while it waited. */
function lastEnd({ state, finishedAtMs }: RunHistory, events: readonly UnidentifiedEvent[]): UnidentifiedEvent[] {
  if (
    !isEnded(state) ||
    finishedAtMs === undefined ||
    events.some(({ type, atMs }) => type === ENDINGS[state] && atMs === finishedAtMs)
  )
    return [];
  return [{ type: ENDINGS[state], of: String(finishedAtMs), atMs: finishedAtMs }];
}
