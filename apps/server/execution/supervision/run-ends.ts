/** What the end of an execution means for its run, and how it is said. spec: States and transitions. */
import { overTime, runBounds } from '#agents';
import {
  afterHandOver,
  afterLeaseExpiry,
  BUDGET_EXCEEDED,
  type CommandEnd,
  type LeasedState,
  type SupervisionState,
  type RunEnd,
  commandOutcome,
} from '#runs';
import type { Config } from '../../config/config.ts';
import type { RunRow } from '../../store/runs/run.entities.ts';
import type { ReclaimDecision } from '../../store/runs/run-executions.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';
import type { TurnEnd } from '../agent/agent-conversation.ts';
import { toRunOutcome } from '../agent/agents.ts';
import { harnessOf, type ExecutionSpec } from '../preparation/execution-spec.ts';
import { withModelRemark } from './startup-warnings.ts';

/** The service failed, and not the run. */
export const SERVICE_FAULT: RunEnd = {
  state: 'ERROR',
  message: 'the service failed while it ran this; its log has the details',
  errorCode: 'internal_error',
  retryable: true,
};

/** What becomes of a command that a stopping service ended and that must not be started twice. */
const STOPPED_COMMAND: RunEnd = {
  state: 'ERROR',
  message:
    'the service was stopped, and a command that had begun is not started twice ' +
    '(MILLWRIGHT_RUN_RESTARTABLE=true allows it)',
  errorCode: 'internal_error',
  retryable: true,
};

/** What a run's log says of a service that stops. */
export const STOPPING = 'the service stops: this execution is ended and the run handed over';

/** Why an execution is stopped, for the run's log; undefined: nobody but who asked for it. */
export function stopText({ draining, stop }: SupervisionState, config: Config, run: ClaimedRun): string | undefined {
  if (draining !== undefined) return STOPPING;
  return stop === 'deadline' ? `the deadline of ${Math.round(deadlineMsOf(config, run) / 1_000)} s is over` : undefined;
}

/** What becomes of a run that its service gives back in this state. */
export function releaseDecision(
  { hasWorked }: SupervisionState,
  state: LeasedState,
  { runRestartable: restartable }: Config,
  { agentConfig }: ClaimedRun,
): ReclaimDecision {
  if (!hasWorked) return 'requeue';
  const decision = afterHandOver({ state, harness: harnessOf(agentConfig), restartable, cancelRequested: false });
  return decision.next === 'requeue' ? 'requeue' : STOPPED_COMMAND;
}

/** The run cannot be started as it is asked for. */
export function setupFailed(message: string): RunEnd {
  return { state: 'FAILED', message, errorCode: 'environment_setup_failed', retryable: false };
}

/** The run has used what it may use. */
export function budgetExceeded(message: string): RunEnd {
  return { state: 'FAILED', message, errorCode: BUDGET_EXCEEDED, retryable: false };
}

/** Milliseconds of wall-clock time of one execution; may be infinite. */
function deadlineMsOf(config: Config, run: ClaimedRun): number {
  return (runBounds(config, run).minutes?.value ?? Number.POSITIVE_INFINITY) * 60_000;
}

/** Milliseconds that a timer can count. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The same for a timer, which can count to 24 days only. */
export function deadlineTimerMs(config: Config, run: ClaimedRun): number {
  return Math.min(deadlineMsOf(config, run), TIMER_MS_MAX);
}

/** The end of an execution that was stopped before its work had begun. */
export function endBeforeWork({ failure, stop }: SupervisionState, config: Config, run: ClaimedRun): RunEnd {
  if (failure !== undefined) return { state: 'FAILED', ...failure, retryable: false };
  if (stop === 'deadline') return outOfTime(config, run);
  return { state: 'CANCELLED', message: 'cancelled before it started' };
}

/** What the agent said of its turn, unless its process ended for a reason of ours or could not begin. */
export function endAfterWork({
  state: { failure, stop },
  end,
  turn,
  spec,
  config,
  run,
}: {
  state: SupervisionState;
  end: CommandEnd;
  turn: TurnEnd | undefined;
  spec: ExecutionSpec;
  config: Config;
  run: ClaimedRun;
}): RunEnd {
  if (failure !== undefined) return { state: 'FAILED', ...failure, retryable: false };
  if (stop === 'deadline' && end.kind === 'cancelled') return outOfTime(config, run);
  return turn === undefined || (end.kind !== 'exited' && end.kind !== 'signalled')
    ? commandOutcome(end, deadlineMsOf(config, run))
    : withModelRemark(toRunOutcome(turn), spec, config);
}

function outOfTime(config: Config, run: ClaimedRun): RunEnd {
  const message = overTime(runBounds(config, run));
  return message === undefined
    ? commandOutcome({ kind: 'deadline' }, deadlineMsOf(config, run))
    : budgetExceeded(message);
}

/** What becomes of a run whose execution nobody supervises any more. `next`: in one word, for the log. */
export function reclaimDecision(
  run: RunRow,
  { runRestartable: restartable }: Config,
): { next: string; decision: ReclaimDecision } {
  const decision = afterLeaseExpiry({
    state: run.state as LeasedState,
    takeovers: run.takeovers,
    harness: harnessOf(run.agent_config),
    restartable,
    cancelRequested: run.cancel_requested_at !== null,
  });
  return { next: decision.next, decision: decision.next === 'requeue' ? 'requeue' : endOfLost(decision) };
}

function endOfLost(
  decision: { next: 'cancel' } | { next: 'error'; reason: 'takeovers-exhausted' | 'not-restartable' },
): RunEnd {
  if (decision.next === 'cancel') return { state: 'CANCELLED', message: 'cancelled on request' };
  const why =
    decision.reason === 'not-restartable'
      ? 'a command that had begun is not started twice (MILLWRIGHT_RUN_RESTARTABLE=true allows it)'
      : 'it was lost too often';
  return {
    state: 'ERROR',
    message: `the service lost this execution, and ${why}`,
    errorCode: 'internal_error',
    retryable: true,
  };
}
