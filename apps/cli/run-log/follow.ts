/** A run's log as it grows: pages of events, printed in order, until the run has ended. contract §3.1 (events). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEvent } from '#client';
import type { Api, Calling } from '../connection/api.ts';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { LogPrinter } from './log-printer.ts';

const PAGE_SIZE = 500;
const POLL_MS_MIN = 200;
const POLL_MS_MAX = 2_000;
/** A restart of the service or a short loss of the network does not end the watching. */
const OUTAGE_MS_MAX = 60_000;

/** Exit code for each state in which a run has ended. */
const EXITS: Readonly<Record<string, number>> = {
  SUCCEEDED: EXIT.ok,
  FAILED: EXIT.problems,
  CANCELLED: EXIT.problems,
  ERROR: EXIT.internal,
};

/** Prints all events of a run up to now. */
export async function printEvents({ api, output, io }: Calling, runId: string): Promise<number> {
  const printer = new LogPrinter(io.stdout, io.stdout, io, runId);
  const waiting = output.isStructured ? [] : await changesOf(api, runId);
  const all: RunEvent[] = [];
  for (
    let after = 0, page: RunEvent[] = [];
    (page = await eventsAfter(api, runId, after)).length > 0;
    after = page.at(-1)?.seq ?? after
  ) {
    if (output.isStructured) all.push(...page);
    else printMerged(printer, page, waiting);
  }
  if (!output.isStructured) printMerged(printer, [], waiting);
  printer.end();
  if (output.isStructured) output.result({ events: all }, () => undefined);
  return EXIT.ok;
}

/**
 * Prints events until the run has ended; answers the exit code of its end. In text the run's output goes to stdout and
 * its changes to stderr; in JSON all of it goes to stderr and the ended run to stdout.
 */
export async function follow({ api, output, io }: Calling, runId: string): Promise<number> {
  const printer = new LogPrinter(output.isStructured ? io.stderr : io.stdout, io.stderr, io, runId);
  if (!output.isStructured) output.note(`run ${runId}`);
  let after = 0;
  let shown: string | undefined;
  for (let pauseMs = POLL_MS_MIN; ; pauseMs = Math.min(POLL_MS_MAX, pauseMs * 1.5)) {
    // The state first: what is written before the end is then read before we stop.
    const run = await retryDuringOutage(() => api.agent.runs.retrieve(runId), runId);
    const exit = EXITS[run.state];
    if (exit === undefined && run.state !== shown) printer.printState(run.state);
    shown = run.state;
    for (
      let page: RunEvent[] = [];
      (page = await retryDuringOutage(() => eventsAfter(api, runId, after), runId)).length > 0;
      after = page.at(-1)?.seq ?? after
    ) {
      printer.print(page);
      pauseMs = POLL_MS_MIN;
    }
    if (exit === undefined) {
      await sleep(pauseMs);
      continue;
    }
    printer.end();
    // of one that waited there may be no event
    if (printer.state !== run.state) printer.printState(run.state, run.status_message?.message);
    output.result(run, () => undefined);
    return exit;
  }
}

/** A state change that is not in the log, as a line. */
interface Change {
  at: string;
  print(printer: LogPrinter): void;
}

/** States that the log reports are left out, but not the last one: a run that never started has no log. */
async function changesOf(api: Api, runId: string): Promise<Change[]> {
  const { events } = await api.agent.runs.timeline(runId, { detail: 'all' });
  return events.flatMap(({ event_type: type, occurred_at: at, payload }, index): Change[] => {
    const [state, end, words] = [STATES[type], ENDS[type], WORDS[type]];
    if (state !== undefined) return [{ at, print: (printer) => printer.printState(state) }];
    if (end !== undefined && index === events.length - 1)
      return [{ at: LAST, print: (printer) => (printer.state === end ? undefined : printer.printState(end)) }];
    return words === undefined ? [] : [{ at, print: (printer) => printer.note(words(payload ?? {})) }];
  });
}

/** After every point of time. */
const LAST = '~';

const STATES: Readonly<Record<string, string>> = {
  oz_run_created: 'QUEUED',
  oz_run_claimed: 'CLAIMED',
  worker_container_ready: 'PENDING',
  agent_started: 'INPROGRESS',
};
const ENDS: Readonly<Record<string, string>> = {
  oz_run_done: 'SUCCEEDED',
  oz_run_failed: 'FAILED',
  oz_run_errored: 'ERROR',
  oz_run_cancelled: 'CANCELLED',
};
const WORDS: Readonly<Record<string, (payload: { outcome?: unknown }) => string>> = {
  run_followup: ({ outcome }) => `follow-up${typeof outcome === 'string' ? ` (${outcome})` : ''}`,
  run_cancel_requested: () => 'somebody asks to cancel it',
};

/** Events, and before each of them the changes that came until then; with no events, all that are left. */
function printMerged(printer: LogPrinter, page: readonly RunEvent[], waiting: Change[]): void {
  const until = (time: string): void => {
    while (waiting[0] !== undefined && waiting[0].at <= time) waiting.shift()?.print(printer);
  };
  for (const event of page) {
    until(event.occurred_at);
    printer.print([event]);
  }
  if (page.length === 0) until(LAST);
}

async function eventsAfter(api: Api, runId: string, after: number): Promise<RunEvent[]> {
  const { events } = await api.agent.runs.listEvents(runId, { after, limit: PAGE_SIZE });
  return events;
}

/** Retries while the server is unreachable; fails with the command that continues. */
async function retryDuringOutage<T>(ask: () => Promise<T>, runId: string): Promise<T> {
  const deadline = performance.now() + OUTAGE_MS_MAX;
  for (;;) {
    try {
      return await ask();
    } catch (cause) {
      if (!(cause instanceof CommandError) || cause.code !== EXIT.internal) throw cause;
      if (performance.now() > deadline)
        throw new CommandError(cause.message, cause.code, [
          ...cause.details,
          `the run goes on; see it with: millwright runs events ${runId} --follow`,
        ]);
      await sleep(POLL_MS_MAX);
    }
  }
}
