/**
 * How the supervision of one execution advances: its phase, why it is stopped, and what that means for its run.
 * contract §3.6 (States).
 */

/**
 * `preparing`: nothing of its task has begun; `working`: it may run; `collecting`: nothing of it runs any more;
 * `ending`: its end is written.
 */
export type SupervisionPhase = 'preparing' | 'working' | 'collecting' | 'ending';

/**
 * Why the service ends an execution. `lost`: the run is somebody else's, or will be; `draining`: the service stops and
 * the run goes back to the queue; `budget`: it has used what it may use of tokens, money or disk.
 */
export type StopReason = 'cancelled' | 'lost' | 'deadline' | 'draining' | 'budget';

/** The failure that a run ends with because its service decided so. */
export interface BudgetFailure {
  message: string;
  errorCode: string;
}

/** A supervision at one moment. */
export interface SupervisionState {
  phase: SupervisionPhase;
  /** The first reason that came; `lost` displaces every other. Undefined: it goes on. */
  stop?: StopReason;
  /** The first failure of the reason `budget`, whichever reason came first. */
  failure?: BudgetFailure;
  /** The service stops, whichever reason came first. `sinceMs`: monotonic; `urgent`: nobody waits for a polite end. */
  draining?: { sinceMs: number; urgent: boolean };
  /** What the run is for was begun. */
  hasWorked: boolean;
  /** The store may have carried out what it did not answer: only giving the run back fits both. */
  isUncertain: boolean;
}

/** What happens to a supervision. */
export type SupervisionEvent =
  | { kind: 'work-began' }
  | { kind: 'work-ended' }
  | { kind: 'over' }
  | { kind: 'unanswered' }
  | { kind: 'stop'; reason: 'cancelled' | 'lost' | 'deadline' }
  | { kind: 'stop'; reason: 'draining'; atMs: number; urgent: boolean }
  | { kind: 'stop'; reason: 'budget'; failure: BudgetFailure };

/** How one command of an execution ended. */
export type CommandEnd =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  | { kind: 'deadline' }
  | { kind: 'cancelled' }
  /** It took more than it may; the message says of what. */
  | { kind: 'exceeded'; message: string }
  | { kind: 'spawn-failed'; message: string };

/** Before anything has happened. */
export const SUPERVISION_START: SupervisionState = { phase: 'preparing', hasWorked: false, isUncertain: false };

/** The error code of a run that has spent its tokens or money. */
export const BUDGET_EXCEEDED = 'budget_exceeded';

const ORDER: readonly SupervisionPhase[] = ['preparing', 'working', 'collecting', 'ending'];

/** The state after an event. Phases only go forward, and a deadline ends nothing that is being ended already. */
export function advanceSupervision(state: SupervisionState, event: SupervisionEvent): SupervisionState {
  switch (event.kind) {
    case 'work-began':
      return { ...inPhase(state, 'working'), hasWorked: true };
    case 'work-ended':
      return inPhase(state, 'collecting');
    case 'over':
      return inPhase(state, 'ending');
    case 'unanswered':
      return { ...state, isUncertain: true };
    case 'stop':
      return stopped(state, event);
  }
}

/**
 * What becomes of the run when nothing of its execution runs any more; `endState`: how the execution itself would end
 * it.
 */
export function supervisionOutcome(state: SupervisionState, endState: string): 'discard' | 'release' | 'finish' {
  if (state.stop === 'lost') return 'discard';
  // What had ended by itself has ended, and is written as it did.
  return (state.draining !== undefined || state.isUncertain) && endState === 'CANCELLED' ? 'release' : 'finish';
}

/**
 * Whether what runs is killed without a grace. An agent that is handed over is not asked to stop: it would keep in its
 * session that somebody cancelled what nobody did, and the next execution goes on with that session. What is over its
 * budget gets no time to spend more.
 */
export function endsAtOnce(state: SupervisionState, hasAgent: boolean): boolean {
  return (
    state.stop === 'lost' ||
    state.draining?.urgent === true ||
    state.failure?.errorCode === BUDGET_EXCEEDED ||
    (state.draining !== undefined && hasAgent)
  );
}

/** Whether processes of the execution may still run: only then its lease has to be enforced. */
export function mayHaveProcesses({ phase }: SupervisionState): boolean {
  return phase === 'preparing' || phase === 'working';
}

function inPhase(state: SupervisionState, phase: SupervisionPhase): SupervisionState {
  return ORDER.indexOf(phase) > ORDER.indexOf(state.phase) ? { ...state, phase } : state;
}

function stopped(state: SupervisionState, event: Extract<SupervisionEvent, { kind: 'stop' }>): SupervisionState {
  switch (event.reason) {
    case 'lost':
      return { ...state, stop: 'lost' };
    case 'cancelled':
    case 'deadline':
      return { ...state, stop: state.stop ?? event.reason };
    case 'budget':
      return { ...state, stop: state.stop ?? 'budget', failure: state.failure ?? event.failure };
    case 'draining': {
      const { sinceMs = event.atMs, urgent = false } = state.draining ?? {};
      return { ...state, stop: state.stop ?? 'draining', draining: { sinceMs, urgent: urgent || event.urgent } };
    }
  }
}
