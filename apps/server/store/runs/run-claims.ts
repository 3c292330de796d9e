/**
 * Which waiting runs a process takes on: fair between factories and automations, within bounds, one of a group at a
 * time, where they may be worked on. contract §3.6 (States), §8.3 (concurrency).
 */
import { LiveRuns, nextInFairOrder, type Lane, type LiveBounds, type Served, type WaitingRunQueue } from '#runs';
import {
  ANYWHERE,
  environmentsServed,
  HOST,
  hostsServed,
  type PlacementCondition,
  type Placement,
} from './run-placement.ts';
import { insertInto } from '../database/table.ts';
import type { ClaimedRun } from './runs.ts';
import {
  change,
  databaseNow,
  lock,
  row,
  rows,
  type Outcome,
  type Statement,
  type Transaction,
} from '../database/transactions.ts';
import { EXECUTION, type RunRow, LIVE_STATES } from './run.entities.ts';
import { catchUpQueue, materializeRuns, oldestWaiting, queueOrder } from './waiting-runs.ts';

/** A process that has places for runs. */
export interface Claimant {
  owner: string;
  leaseMs: number;
  /** One for each place. */
  executionIds: readonly string[];
  /** Over all processes. */
  bounds: LiveBounds;
  /** Any runs that ask for no machine, unless said. */
  placement?: Placement;
}

/** Whoever holds it keeps others from claiming: a claim passes over a run that somebody just writes to. */
export const CLAIMS_LOCK = 'run claims';

/** Factories looked up with one statement. */
const NAMES_AT_ONCE = 16;

/**
 * Waiting runs of a factory among which its automations take turns: all, as long as its queue has its usual bound
 * (WAITING_RUNS_PER_FACTORY_MAX).
 */
const OLDEST_SCANNED_MAX = 10_000;

/** Live runs have a lease: this finds them by its index. */
const IS_LIVE = `state IN ${LIVE_STATES} AND lease_until > 0`;
const FACTORY = "COALESCE(factory_uid, '')";
const AUTOMATION = "COALESCE(automation_uid, '')";

/**
 * Claims waiting runs one after the other: QUEUED → CLAIMED with a higher epoch and a lease. `last`: whose turn it was.
 */
export function* claimRuns(
  { owner, leaseMs, executionIds, bounds, placement = ANYWHERE }: Claimant,
  last: Served,
): Transaction<{ claimed: ClaimedRun[]; served: Served }> {
  // One process after the other: what is live is counted exactly, and of a group only one starts.
  yield* lock(CLAIMS_LOCK);
  yield* catchUpQueue();
  const live = new LiveRuns(yield* workingRuns(owner));
  const claimed: ClaimedRun[] = [];
  const served = { hosts: yield* hostsServed(placement), environments: yield* environmentsServed(placement) };
  const waiting = waitingRuns(served, () => ({ executionId: executionIds[claimed.length] as string, owner, leaseMs }));
  let turn = last;
  while (claimed.length < executionIds.length) {
    const { chosen, served: next } = yield* nextInFairOrder<Statement, Outcome, ClaimedRun>(
      waiting,
      live,
      bounds,
      turn,
    );
    turn = next;
    if (chosen === undefined) break;
    live.add(chosen.lane);
    claimed.push(chosen.run);
  }
  return { claimed, served: turn };
}

/** Live runs that have a place; one that waits for people has given it back. `here`: of this owner. */
function* workingRuns(owner: string): Transaction<(Lane & { runs: number; here: number })[]> {
  return yield* rows<Lane & { runs: number; here: number }>(
    `SELECT ${FACTORY} AS factory, ${AUTOMATION} AS automation, count(*) AS runs, ` +
      'count(CASE WHEN lease_owner = ? THEN 1 END) AS here FROM run ' +
      `WHERE ${IS_LIVE} AND state <> 'BLOCKED' GROUP BY ${FACTORY}, ${AUTOMATION}`,
    owner,
  );
}

interface ClaimSlot {
  executionId: string;
  owner: string;
  leaseMs: number;
}

/** Which runs may be taken, as far as they alone decide it. */
interface Eligible {
  hosts: readonly string[];
  environments(factory: string): PlacementCondition;
}

/** The queue as its index has it. Names are looked up once in a claim: who has nothing left is tried in vain. */
function waitingRuns(
  { hosts, environments }: Eligible,
  place: () => ClaimSlot,
): WaitingRunQueue<Statement, Outcome, ClaimedRun> {
  const automations = new Map<string, readonly string[]>();
  return {
    factories: paged((after) => merged(hosts, (host) => factoryNames(host, after), NAMES_AT_ONCE)),
    *automations(factory, after) {
      const names = automations.get(factory) ?? (yield* merged(hosts, (host) => automationNames(host, factory)));
      automations.set(factory, names);
      const start = after === undefined ? 0 : names.findIndex((name) => name > after);
      return start === -1 ? [] : names.slice(start, start + NAMES_AT_ONCE);
    },
    take: (lane) => claimOldest(lane, hosts, environments(lane.factory), place()),
  };
}

/** Names of all parts of the queue, in order, each once; no more than `max`. */
function* merged(
  hosts: readonly string[],
  read: (host: string) => Transaction<string[]>,
  max = Infinity,
): Transaction<string[]> {
  const [first, ...more] = hosts;
  const names = yield* read(first as string);
  if (more.length === 0) return names;
  const all = new Set(names);
  for (const host of more) for (const name of yield* read(host)) all.add(name);
  return [...all].sort().slice(0, max);
}

/** Answers one name after the other out of pages that are read once. */
function paged(
  read: (after: string | undefined) => Transaction<string[]>,
): (after: string | undefined) => Transaction<readonly string[]> {
  const following = new Map<string | undefined, string | undefined>();
  return function* (after) {
    if (!following.has(after)) {
      let before = after;
      const page = yield* read(after);
      for (const name of page) {
        following.set(before, name);
        before = name;
      }
      if (page.length < NAMES_AT_ONCE) following.set(before, undefined);
    }
    const next = following.get(after);
    return next === undefined ? [] : [next];
  };
}

/** The next factories behind one, each found from the one before by one seek, whatever waits in it. */
function* factoryNames(host: string, after: string | undefined): Transaction<string[]> {
  const [own, referring] = [
    yield* seekNames(FACTORY, `run WHERE state = 'QUEUED' AND ${HOST} = ?`, host, after),
    yield* seekNames('factory_uid', 'waiting_queue WHERE worker_host = ?', host, after),
  ];
  return [...new Set([...own, ...referring])].sort().slice(0, NAMES_AT_ONCE);
}

function* seekNames(name: string, queue: string, host: string, after: string | undefined): Transaction<string[]> {
  const seek = (comparison: string) =>
    `(SELECT ${name} FROM ${queue} AND ${name} ${comparison} ORDER BY ${name} LIMIT 1)`;
  const found = yield* rows<{ name: string }>(
    `WITH RECURSIVE found (name, position) AS (SELECT ${seek(after === undefined ? '>= ?' : '> ?')}, 1 UNION ALL
      SELECT ${seek('> found.name')}, position + 1 FROM found WHERE found.name IS NOT NULL
      AND position < ${NAMES_AT_ONCE})
     SELECT name FROM found WHERE name IS NOT NULL ORDER BY position`,
    host,
    after ?? '',
    host,
  );
  return found.map(({ name }) => name);
}

/** The automations of a factory's oldest waiting runs, sorted; '' where runs of none are among them. */
function* automationNames(host: string, factory: string): Transaction<string[]> {
  const oldestOf = (queue: string, order: string) =>
    `SELECT automation_uid FROM (SELECT automation_uid FROM ${queue} ORDER BY ${order} LIMIT ${OLDEST_SCANNED_MAX}) o`;
  const found = yield* rows<{ automation_uid: string | null }>(
    `${oldestOf(`run WHERE state = 'QUEUED' AND ${HOST} = ? AND ${FACTORY} = ?`, 'run_id')} UNION ` +
      oldestOf('waiting_queue WHERE worker_host = ? AND factory_uid = ?', yield* queueOrder()),
    host,
    factory,
    host,
    factory,
  );
  return found.map(({ automation_uid: uid }) => uid ?? '').sort();
}

const CLAIMED_COLUMNS =
  'run_id, epoch, factory_uid, automation_uid, entry_id, agent_config, interactive, conversation_id, ' +
  'parent_run_id, limits, network';

/** The oldest run of a lane whose group has no live one. Those before it are passed over in the index alone. */
function* claimOldest(
  lane: Lane,
  hosts: readonly string[],
  environments: PlacementCondition,
  { executionId, owner, leaseMs }: ClaimSlot,
): Transaction<ClaimedRun | undefined> {
  let run: RunRow | undefined;
  for (const host of hosts) {
    run = older(run, yield* oldest(lane, host, environments));
    run = older(run, yield* oldestReferring(lane, host, environments, run?.run_id));
  }
  if (run === undefined) return undefined;
  // Not before it was found: who left it to the queue may have done so a moment ago, and the next execution begins
  // after that.
  const nowMs = yield* databaseNow();
  yield* change(
    "UPDATE run SET state = 'CLAIMED', epoch = epoch + 1, lease_owner = ?, lease_until = ?, execution_id = ?, " +
      'session_id = COALESCE(session_id, ?), status_message = NULL, updated_at = ? WHERE run_id = ? ' +
      "AND state = 'QUEUED'",
    owner,
    nowMs + leaseMs,
    executionId,
    run.run_id,
    nowMs,
    run.run_id,
  );
  const execution = { execution_id: executionId, run_id: run.run_id, epoch: run.epoch + 1, owner, claimed_at: nowMs };
  yield* insertInto(EXECUTION, [execution]);
  return toClaimed(run, executionId);
}

function older(one: RunRow | undefined, other: RunRow | undefined): RunRow | undefined {
  return one === undefined || (other !== undefined && other.run_id < one.run_id) ? other : one;
}

/** The oldest run of a lane that waits as a reference, made a row, if it is older than `than`. */
function* oldestReferring(
  lane: Lane,
  host: string,
  environments: PlacementCondition,
  than: string | undefined,
): Transaction<RunRow | undefined> {
  const runId = yield* oldestWaiting(lane, host, environments);
  if (runId === undefined || (than !== undefined && than < runId)) return undefined;
  const [made] = yield* materializeRuns([runId], { skipLocked: true });
  if (made === undefined) return undefined;
  return yield* row<RunRow>(`SELECT ${CLAIMED_COLUMNS} FROM run WHERE run_id = ?`, made);
}

function* oldest(
  { factory, automation }: Lane,
  host: string,
  environments: PlacementCondition,
): Transaction<RunRow | undefined> {
  return yield* row<RunRow>(
    `SELECT ${CLAIMED_COLUMNS} FROM run WHERE state = 'QUEUED' AND ${HOST} = ? AND ${FACTORY} = ?
      AND automation_uid ${automation === '' ? 'IS NULL' : '= ?'}${environments.text}
     AND (concurrency_group IS NULL OR concurrency_group NOT IN (SELECT concurrency_group FROM run WHERE ${IS_LIVE}
     AND concurrency_group IS NOT NULL))
     ORDER BY run_id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    host,
    ...(automation === '' ? [factory] : [factory, automation]),
    ...environments.params,
  );
}

function toClaimed(run: RunRow, executionId: string): ClaimedRun {
  return {
    runId: run.run_id,
    executionId,
    epoch: run.epoch + 1,
    factoryUid: run.factory_uid ?? undefined,
    automationUid: run.automation_uid ?? undefined,
    entryId: run.entry_id ?? undefined,
    agentConfig: run.agent_config,
    interactive: run.interactive === 1,
    conversationId: run.conversation_id ?? run.run_id,
    parentRunId: run.parent_run_id ?? undefined,
    limits: run.limits ?? undefined,
    network: run.network ?? undefined,
  };
}
