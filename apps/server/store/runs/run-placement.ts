/**
 * Where a run may be worked on: on the machine that it asks for, and where its environment is served; and which runs no
 * process may take. explanation: Engine.
 */
import {
  lock,
  databaseNow,
  change,
  placeholders,
  row,
  rows,
  type SqlValue,
  type Transaction,
} from '../database/transactions.ts';

import { catchUpQueue, materializeOlder } from './waiting-runs.ts';

/** What a process that has places says of itself. */
export interface Placement {
  /** What its machine is called; undefined: it takes no run that asks for a machine. */
  host?: string;
  /** Environments whose runs it takes, by name or UID; none: all, and runs without one. */
  environments: readonly string[];
}

export const ANYWHERE: Placement = { environments: [] };

/** A condition of a WHERE clause, with its values. */
export interface PlacementCondition {
  text: string;
  params: readonly SqlValue[];
}

const EVERYTHING: PlacementCondition = { text: '', params: [] };

/** As the index of waiting runs has it. */
export const HOST = "COALESCE(worker_host, '')";

/**
 * The parts of the queue that a process may take from: '' for runs that ask for no machine, and its own where any asks
 * for it.
 */
export function* hostsServed({ host }: Placement): Transaction<string[]> {
  if (host === undefined) return [''];
  return (yield* isAnyQueued((column) => `${column} = ?`, host)) ? ['', host] : [''];
}

/** Whether any run waits that asks for such a machine ('' for none). */
function* isAnyQueued(condition: (host: string) => string, ...params: SqlValue[]): Transaction<boolean> {
  yield* catchUpQueue();
  const found = yield* row(
    `SELECT 1 AS waits WHERE EXISTS (SELECT 1 FROM run WHERE state = 'QUEUED' AND ${condition(HOST)}) ` +
      `OR EXISTS (SELECT 1 FROM waiting_queue WHERE ${condition('worker_host')})`,
    ...params,
    ...params,
  );
  return found !== undefined;
}

/**
 * Which runs of a factory have an environment that is served: a run names its environment as its author wrote it, by
 * name or UID, and so does the operator. What of a lane is of other environments is passed over in the index alone.
 */
export function* environmentsServed({ environments }: Placement): Transaction<(factory: string) => PlacementCondition> {
  if (environments.length === 0) return () => EVERYTHING;
  const marks = placeholders(environments.length);
  const known = yield* rows<{ uid: string; slug: string; factory_uid: string }>(
    `SELECT uid, slug, factory_uid FROM resource WHERE kind = 'environment' AND deleted_at IS NULL ` +
      `AND (uid IN (${marks}) OR slug IN (${marks}))`,
    ...environments,
    ...environments,
  );
  return (factory) => {
    const names = new Set([
      ...environments,
      ...known.filter(({ factory_uid: uid }) => uid === factory).flatMap(({ uid, slug }) => [uid, slug]),
    ]);
    return { text: ` AND environment_id IN (${placeholders(names.size)})`, params: [...names] };
  };
}

/** Whether anything waits that a process of this placement may not take, and another one may. */
export function* waitsForOthers({ host, environments }: Placement): Transaction<boolean> {
  if (environments.length > 0 && (yield* isAnyQueued((column) => `${column} = ''`))) return true;
  if (host === undefined) return yield* isAnyQueued((column) => `${column} > ''`);
  return (
    (yield* isAnyQueued((column) => `${column} > '' AND ${column} < ?`, host)) ||
    (yield* isAnyQueued((column) => `${column} > ?`, host))
  );
}

/** A machine that was not heard of for this long works on nothing. */
const WORKER_LIVE_MS = 15_000;

/** A machine may be starting again: nothing is said of a run that waits less. */
const MARKED_AFTER_MS = 30_000;

/** Machines and runs of each that are handled at once; the next ones the next time. */
const HOSTS_MAX = 100;
const RUNS_MARKED_MAX = 500;
const NO_WORKER = 'waits for a worker: no process that works on runs is running now (MILLWRIGHT_ROLES)';

/** What `markUnplacedRuns` goes on with. */
export interface Unplaced {
  /** Whether any run may say that there is no worker at all. */
  mayLack: boolean;
  /** The machine behind which the next ones are looked for that have no worker. */
  after: string;
}

/**
 * Says it of runs that have nothing else to say; answers how far. Without `mayLack` a long queue would be looked
 * through each time, to find nothing.
 */
export function* markUnplacedRuns({ mayLack, after }: Unplaced): Transaction<Unplaced> {
  yield* lock('unplaced-runs'); // every process does it
  const nowMs = yield* databaseNow();
  const served = yield* livingHosts(nowMs);
  const own = yield* rows<Host>(
    `SELECT DISTINCT ${HOST} AS host FROM run WHERE state = 'QUEUED' AND ${HOST} > '' LIMIT ${HOSTS_MAX}`,
  );
  const unserved = yield* unservedHosts(served, after);
  for (const host of served.length === 0 ? ['', ...unserved] : unserved)
    yield* materializeOlder(nowMs - MARKED_AFTER_MS, { host, limit: RUNS_MARKED_MAX });
  for (const host of new Set([...hostsOf(own), ...unserved]))
    yield* setStatusMessage(
      host,
      served.includes(host),
      `waits for the machine ${host}, on which no worker is running now (MILLWRIGHT_WORKER_HOST)`,
      nowMs,
    );
  const next = { mayLack: served.length === 0, after: unserved.length < HOSTS_MAX ? '' : (unserved.at(-1) ?? '') };
  if (served.length === 0) yield* setStatusMessage('', false, NO_WORKER, nowMs);
  else if (mayLack) next.mayLack = (yield* setStatusMessage('', true, NO_WORKER, nowMs)) === RUNS_MARKED_MAX;
  return next;
}

/** Whether `markUnplacedRuns` looks at runs that wait as references: it reads the queue then, and not otherwise. */
export function* mayMarkReferring({ after }: Unplaced): Transaction<boolean> {
  const served = yield* livingHosts(yield* databaseNow());
  return served.length === 0 || (yield* unservedHosts(served, after)).length > 0;
}

interface Host {
  host: string;
}

const hostsOf = (found: readonly Host[]): string[] => found.map(({ host }) => host);

/** Machines on which a worker lives; '' for those without a name. */
function* livingHosts(nowMs: number): Transaction<string[]> {
  return hostsOf(
    yield* rows<Host>(
      "SELECT DISTINCT host FROM replica WHERE seen_at > ? AND ',' || roles || ',' LIKE '%,worker,%'",
      nowMs - WORKER_LIVE_MS,
    ),
  );
}

/** The next machines without a worker that references may ask for, as their snapshots say. */
function* unservedHosts(served: readonly string[], after: string): Transaction<string[]> {
  const found = yield* rows<Host>(
    `SELECT DISTINCT worker_host AS host FROM run_snapshot WHERE worker_host > ? ` +
      `AND worker_host NOT IN (${placeholders(served.length + 1)}) ORDER BY worker_host LIMIT ${HOSTS_MAX}`,
    after,
    '', // a list must not be empty
    ...served,
  );
  return hostsOf(found);
}

/** Says it of rows of runs that ask for this machine ('': for none), or takes it back; answers of how many. */
function* setStatusMessage(host: string, isServed: boolean, message: string, nowMs: number): Transaction<number> {
  const [from, to] = isServed ? [message, null] : [null, message];
  const before = from === null ? 'status_message IS NULL' : 'status_message = ?';
  return yield* change(
    `UPDATE run SET status_message = ? WHERE run_id IN (SELECT run_id FROM run WHERE state = 'QUEUED' ` +
      `AND ${HOST} = ? AND updated_at < ? AND ${before} LIMIT ${RUNS_MARKED_MAX}) AND state = 'QUEUED'`,
    to,
    host,
    nowMs - MARKED_AFTER_MS,
    ...(from === null ? [] : [from]),
  );
}
