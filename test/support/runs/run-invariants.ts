/**
 * What must hold of runs whatever was killed meanwhile: judged from the database, what clients were answered, and the
 * processes of the machine. contract §3.6 (States).
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import { canMove, type RunState } from '#runs';

/** What clients were answered with 200, or may have been: a broken connection says nothing. */
export interface Promised {
  /** Every create that was sent: its title, which no other has, and the run that it was answered with. */
  creates: readonly { title: string; runId?: string }[];
  followups: readonly { runId: string; followupId: string; message: string }[];
  /** `isLast`: no follow-up was sent to the run afterwards. */
  cancels: readonly { runId: string; isLast: boolean }[];
}

export interface RecordedRun {
  run_id: string;
  title: string;
  state: string;
  submitted_prompt: string | null;
  takeovers: number;
  epoch: number;
  lease_owner: string | null;
}

export interface RecordedExecution {
  execution_id: string;
  run_id: string;
  epoch: number;
  claimed_at: number;
  finished_at: number | null;
  cancel_requested_at: number | null;
  outcome: string | null;
}

export interface RecordedEvent {
  run_id: string;
  seq: number;
  execution_id: string | null;
  kind: string;
  body: string;
}

export interface RecordedFollowup {
  followup_id: string;
  run_id: string;
  outcome: string;
  execution_id: string | null;
}

/** Everything that is stored of runs. */
export interface Records {
  runs: RecordedRun[];
  executions: RecordedExecution[];
  events: RecordedEvent[];
  followups: RecordedFollowup[];
}

const QUERIES: Readonly<Record<keyof Records, string>> = {
  runs: 'SELECT run_id, title, state, submitted_prompt, takeovers, epoch, lease_owner FROM every_run ORDER BY run_id',
  executions:
    'SELECT execution_id, run_id, epoch, claimed_at, finished_at, cancel_requested_at, outcome ' +
    'FROM execution ORDER BY run_id, epoch',
  events: 'SELECT run_id, seq, execution_id, kind, body FROM run_event ORDER BY run_id, seq',
  followups: 'SELECT followup_id, run_id, outcome, execution_id FROM followup ORDER BY followup_id',
};
const ENDED = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];
/** Ends of an execution that another one follows. */
const LEFT = ['LOST', 'HANDED_OVER'];
const TAKEOVERS_MAX = 2;

/** A database: a data folder's, or a server's. */
export type Place = { dataDir: string } | { url: string };

/** Opens a database past the service. */
export async function askDatabase(place: Place): Promise<Asked> {
  return 'url' in place ? askedServer(place.url) : askedFile(place.dataDir);
}

/** Reads everything that a database holds of runs. */
export async function recordsOf(place: Place): Promise<Records> {
  const ask = await askDatabase(place);
  try {
    const found: Partial<Record<keyof Records, unknown[]>> = {};
    for (const [name, query] of Object.entries(QUERIES)) found[name as keyof Records] = await ask.all(query);
    return found as unknown as Records;
  } finally {
    await ask.close();
  }
}

/** States of all runs, without what is stored of them. */
export function runStates(dataDir: string): { run_id: string; title: string; state: string }[] {
  const { all, close } = askedFile(dataDir);
  try {
    return all('SELECT run_id, title, state FROM every_run') as { run_id: string; title: string; state: string }[];
  } finally {
    close();
  }
}

/** A database that is read; numbers are numbers whatever their size. */
export interface Asked {
  all(query: string): unknown[] | Promise<unknown[]>;
  close(): unknown;
}

function askedFile(dataDir: string): { all(query: string): unknown[]; close(): unknown } {
  const database = new Sqlite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  return { all: (query) => database.prepare(query).all(), close: () => database.close() };
}

async function askedServer(url: string): Promise<Asked> {
  const client = new Client(url);
  await client.connect();
  // Numbers of 64 bits come as text.
  const number = (value: unknown): unknown =>
    typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  const plain = (row: Record<string, unknown>): unknown =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, number(value)]));
  return {
    all: async (query) => (await client.query<Record<string, unknown>>(query)).rows.map(plain),
    close: () => client.end(),
  };
}

/** Every promise that is broken, in words; empty when nothing was lost, doubled or left. For a service at rest. */
export function brokenPromises(records: Records, promised: Promised): string[] {
  return [
    ...brokenCreates(records, promised),
    ...brokenFollowups(records, promised),
    ...brokenCancels(records, promised),
    ...brokenRuns(records),
  ];
}

/**
 * The same of what was promised to nobody in particular: each run has one end, written once, and no execution wrote
 * after the next had begun.
 */
export function brokenRuns({ runs, executions, events }: Records): string[] {
  return runs.flatMap((run) => {
    const own = <T extends { run_id: string }>(of: readonly T[]): T[] =>
      of.filter(({ run_id: runId }) => runId === run.run_id);
    const ofRun = own(executions);
    return [...brokenRun(run, ofRun), ...brokenLog(run, ofRun, own(events))].map(
      (words) => `run ${run.run_id} (${run.title}): ${words}`,
    );
  });
}

function brokenCreates({ runs }: Records, { creates }: Promised): string[] {
  const titles = new Set(creates.map(({ title }) => title));
  return [
    ...runs.filter(({ title }) => !titles.has(title)).map(({ title }) => `nobody asked for the run ${title}`),
    ...creates.flatMap(({ title, runId }) => {
      const made = runs.filter((run) => run.title === title);
      if (made.length > 1) return [`the create ${title} made ${made.length} runs`];
      if (runId !== undefined && made[0]?.run_id !== runId)
        return [`the run ${runId} that the create ${title} was answered with is not there`];
      return [];
    }),
  ];
}

function brokenFollowups({ runs, executions, followups }: Records, { followups: answered }: Promised): string[] {
  return answered.flatMap(({ runId, followupId, message }) => {
    const stored = followups.find(({ followup_id: id }) => id === followupId);
    const run = runs.find(({ run_id: id }) => id === runId);
    if (stored === undefined || run === undefined || stored.run_id !== runId)
      return [`the follow-up ${followupId} of ${runId} is not there`];
    if (stored.outcome === 'queued_prompt')
      return run.submitted_prompt?.includes(message) === true
        ? []
        : [`the follow-up ${followupId} is not in the prompt that it was joined to`];
    if (stored.execution_id === null)
      return run.state === 'CANCELLED'
        ? []
        : [`the follow-up ${followupId} was given to nobody, and its run is ${run.state}`];
    const taker = executions.find(({ execution_id: id }) => id === stored.execution_id);
    if (taker?.run_id !== runId) return [`the follow-up ${followupId} was taken by an execution of another run`];
    return LEFT.includes(taker.outcome ?? '')
      ? [`the follow-up ${followupId} was left with an execution that is ${taker.outcome}`]
      : [];
  });
}

function brokenCancels({ runs, executions, events }: Records, { cancels }: Promised): string[] {
  const asked = executions.filter(
    (execution) => execution.cancel_requested_at !== null && execution.outcome !== 'CANCELLED',
  );
  return [
    ...asked.map(({ execution_id: id, outcome }) => `the execution ${id} was to be cancelled and is ${outcome}`),
    ...cancels.flatMap(({ runId, isLast }) => {
      const run = runs.find(({ run_id: id }) => id === runId);
      if (isLast && run?.state !== 'CANCELLED') return [`the run ${runId} was cancelled and is ${run?.state}`];
      return events.some((event) => event.run_id === runId && stateIn(event) === 'CANCELLED')
        ? []
        : [`the log of ${runId} does not tell that it was cancelled`];
    }),
  ];
}

function brokenRun(run: RecordedRun, executions: readonly RecordedExecution[]): string[] {
  const broken: string[] = [];
  if (!ENDED.includes(run.state)) broken.push(`is ${run.state} and not over`);
  if (run.lease_owner !== null) broken.push(`is still leased to ${run.lease_owner}`);
  let lostInARow = 0;
  for (const [index, execution] of executions.entries()) {
    const next = executions[index + 1];
    if (execution.outcome === null || execution.finished_at === null)
      broken.push(`its execution ${execution.epoch} has no end`);
    if (next !== undefined && next.epoch <= execution.epoch)
      broken.push(`two executions have the epochs ${execution.epoch} and ${next.epoch}`);
    if (next !== undefined && execution.finished_at !== null && next.claimed_at < execution.finished_at)
      broken.push(`its execution ${next.epoch} began before ${execution.epoch} had ended`);
    if (next === undefined && LEFT.includes(execution.outcome ?? '') && run.state !== 'CANCELLED')
      broken.push(`nothing followed its execution ${execution.epoch}, which is ${execution.outcome}`);
    if (!LEFT.includes(execution.outcome ?? '')) lostInARow = 0;
    if (execution.outcome === 'LOST') lostInARow += 1;
    if (lostInARow > TAKEOVERS_MAX) broken.push(`was taken over ${lostInARow} times`);
  }
  const last = executions.at(-1);
  if (last !== undefined && last.epoch > run.epoch)
    broken.push(`its epoch ${run.epoch} is older than its execution ${last.epoch}`);
  return broken;
}

/**
 * A log counts from 1 without gaps, goes from one execution to the next and never back, and tells each execution's end
 * once.
 */
function brokenLog(
  run: RecordedRun,
  executions: readonly RecordedExecution[],
  events: readonly RecordedEvent[],
): string[] {
  const broken: string[] = [];
  const epochs = new Map(executions.map(({ execution_id: id, epoch }) => [id, epoch]));
  const ends = new Map<string, number>();
  let epoch = 0;
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) broken.push(`entry ${index + 1} of its log is numbered ${event.seq}`);
    if (event.execution_id === null) continue;
    const of = epochs.get(event.execution_id);
    if (of === undefined) broken.push(`entry ${event.seq} is of an execution that does not exist`);
    else if (of < epoch) broken.push(`entry ${event.seq} is of execution ${of}, after one of ${epoch}`);
    else epoch = of;
    if (stateIn(event) !== undefined) ends.set(event.execution_id, (ends.get(event.execution_id) ?? 0) + 1);
  }
  for (const [id, times] of ends)
    if (times > 1) broken.push(`its log tells ${times} ends of execution ${epochs.get(id)}`);
  const told = events.map(stateIn).findLast((state) => state !== undefined);
  if (told !== run.state) broken.push(`its log ends with ${told} and it is ${run.state}`);
  return broken;
}

/** The end that an entry tells of, if any. */
function stateIn({ kind, body }: RecordedEvent): string | undefined {
  const { state } = kind === 'status' ? (JSON.parse(body) as { state?: string }) : {};
  return state !== undefined && ENDED.includes(state) ? state : undefined;
}

/** A process that carries a run's mark. */
export interface MarkedProcess {
  pid: number;
  runId: string;
  command: string;
}

/** Living processes of these runs, found by what their environment says. */
export function processesOf(runIds: ReadonlySet<string>): MarkedProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, runId = ''] =
          /(?:^|\0)MILLWRIGHT_RUN_ID=([^\0]*)\0/.exec(readFileSync(`/proc/${name}/environ`, 'latin1')) ?? [];
        const isAlive = !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${name}/status`, 'latin1'));
        return isAlive && runIds.has(runId)
          ? [
              {
                pid: Number(name),
                runId,
                command: readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').slice(0, 200),
              },
            ]
          : [];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}

/**
 * Notes every change of a run's state from now on, in a SQLite file that its service has open; see `forbiddenMoves`.
 */
export function watchMoves(dataDir: string): void {
  const file = new Sqlite(join(dataDir, 'millwright.sqlite'));
  file.pragma('busy_timeout = 10000');
  file.exec(`CREATE TABLE IF NOT EXISTS watched_move (before TEXT NOT NULL, after TEXT NOT NULL, PRIMARY KEY (before,
    after));
    CREATE TRIGGER IF NOT EXISTS watch_moves AFTER UPDATE OF state ON run WHEN OLD.state <> NEW.state BEGIN INSERT
    OR IGNORE INTO watched_move VALUES (OLD.state, NEW.state); END;`);
  file.close();
}

/** Moves that were seen and that no state allows. contract §3.6 (States). */
export function forbiddenMoves(dataDir: string): string[] {
  const file = new Sqlite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  const moves = file.prepare('SELECT before, after FROM watched_move').all() as { before: RunState; after: RunState }[];
  file.close();
  if (moves.length < 5) return ['hardly any change of state was seen'];
  return moves
    .filter(({ before, after }) => !canMove(before, after))
    .map(({ before, after }) => `${before} became ${after}`);
}
