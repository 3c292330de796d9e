/**
 * What figures, traces and the log tell of one execution: how long it waited and lasted, what it used, which run it
 * was. contract §1.6 to §1.9.
 */
import type { RunUsage } from '#agents';
import { uuidv7TimeMs, type RunEnd } from '#runs';
import type { Log, LogMembers } from '../../process/log.ts';
import type { Metrics } from '../../process/metrics.ts';
import type { Traces } from '../../process/traces.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';
import { RunTrace } from './run-trace.ts';

const MICROS = 1_000_000;
/** A cost without a currency that we know as one. */
const NO_CURRENCY = 'none';

export interface RunFiguresDeps {
  metrics: Metrics;
  run: ClaimedRun;
  traces: Traces;
  log: Log;
  nowMs(): number;
  /** Writes a line of the run's own log. */
  say(text: string): void;
}

export class RunFigures {
  private readonly deps: RunFiguresDeps;
  /** Who follows what its agent does. */
  readonly trace: RunTrace;
  private begunAtMs: number | undefined;

  constructor(deps: RunFiguresDeps) {
    this.deps = deps;
    this.trace = new RunTrace(deps.traces, deps.run);
  }

  /** Its work begins. How long it waited is known of its first execution: its ID names when it was made. */
  begun(): void {
    const { metrics, run, nowMs, log, say } = this.deps;
    const { traceId } = this.trace;
    this.begunAtMs = performance.now();
    this.trace.begun();
    if (traceId !== undefined) say(`trace ${traceId}`);
    log.info('run started', this.logMembers());
    metrics.count('millwright_runs_started_total');
    if (run.epoch !== 1) return;
    const waitedMs = Math.max(0, nowMs() - uuidv7TimeMs(run.runId));
    metrics.observe('millwright_run_start_delay_seconds', waitedMs / 1_000, {}, traceId);
  }

  /** Its end is written. */
  ended({ state, errorCode }: RunEnd): void {
    const { metrics, log } = this.deps;
    const { traceId } = this.trace;
    log.info('run ended', { ...this.logMembers(), state, error_code: errorCode });
    this.trace.over({ state, error_code: errorCode }, state === 'FAILED' || state === 'ERROR');
    metrics.count('millwright_runs_ended_total', { state, reason: errorCode ?? 'none' });
    if (this.begunAtMs === undefined) return;
    const seconds = (performance.now() - this.begunAtMs) / 1_000;
    metrics.observe('millwright_run_duration_seconds', seconds, { state }, traceId);
  }

  /** The execution is over, however it ended. */
  used(usage: RunUsage | undefined): void {
    const { metrics } = this.deps;
    const { tokens = 0, costMicros = 0, currency = NO_CURRENCY } = usage?.usedHere() ?? {};
    if (tokens > 0) metrics.count('millwright_run_tokens_total', {}, tokens);
    if (costMicros > 0) metrics.count('millwright_run_cost_total', { currency }, costMicros / MICROS);
  }

  /** Nothing of the execution goes on, whatever became of its end. */
  over(): void {
    this.trace.over({}, true);
  }

  leaseLost(): void {
    this.trace.over({ state: 'LOST' }, true);
    this.deps.metrics.count('millwright_leases_lost_total', { kind: 'run' });
  }

  /** Which run, and what it came from. */
  private logMembers(): LogMembers {
    const { runId, epoch, factoryUid, automationUid, entryId } = this.deps.run;
    const from = { factory_uid: factoryUid, automation_uid: automationUid, entry_id: entryId };
    return { run_id: runId, epoch, ...from, trace_id: this.trace.traceId };
  }
}
