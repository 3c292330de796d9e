/** Which waiting runs a process takes on: fair between factories and automations, within bounds, one of a group at a time. contract 3 (States), 8 (concurrency). */
import { LiveRuns, nextInFairOrder, type Lane, type LiveBounds, type Served, type WaitingRuns } from '#runs';
import type { ClaimedRun } from './runs.ts';
import { change, databaseNow, insert, lock, row, rows, type Outcome, type Statement, type Work } from './statements.ts';
import type { RunRow } from './tables.ts';

/** A process that has places for runs. */
export interface Claimant {
  owner: string;
  leaseMs: number;
  /** One for each place. */
  executionIds: readonly string[];
  /** Over all processes. */
  bounds: LiveBounds;
}

/** Factories looked up with one statement. */
const NAMES_AT_ONCE = 16;
/** Waiting runs of a factory among which its automations take turns: all, as long as its queue has its usual bound (WAITING_RUNS_PER_FACTORY_MAX). */
const OLDEST_LOOKED_AT_MAX = 10_000;
const LIVE = "('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";
/** Live runs have a lease: this finds them by its index. */
const IS_LIVE = `state IN ${LIVE} AND lease_until > 0`;
const FACTORY = "COALESCE(factory_uid, '')";
const AUTOMATION = "COALESCE(automation_uid, '')";

/** Claims waiting runs one after the other: QUEUED → CLAIMED with a higher epoch and a lease. `served`: whose turn it was last. */
export function* claiming({ owner, leaseMs, executionIds, bounds }: Claimant, served: Served): Work<{ claimed: ClaimedRun[]; served: Served }> {
  // One process after the other: what is live is counted exactly, and of a group only one starts.
  yield* lock('run claims');
  const live = new LiveRuns(yield* liveRuns());
  const claimed: ClaimedRun[] = [];
  const waiting = waitingRuns(() => ({ executionId: executionIds[claimed.length] as string, owner, leaseMs }));
  let turn = served;
  while (claimed.length < executionIds.length) {
    const { chosen, served: next } = yield* nextInFairOrder<Statement, Outcome, ClaimedRun>(waiting, live, bounds, turn);
    turn = next;
    if (chosen === undefined) break;
    live.add(chosen.lane);
    claimed.push(chosen.run);
  }
  return { claimed, served: turn };
}

function* liveRuns(): Work<(Lane & { runs: number })[]> {
  return yield* rows<Lane & { runs: number }>(`SELECT ${FACTORY} AS factory, ${AUTOMATION} AS automation, count(*) AS runs FROM run WHERE ${IS_LIVE} GROUP BY ${FACTORY}, ${AUTOMATION}`);
}

interface Place {
  executionId: string;
  owner: string;
  leaseMs: number;
}

/** The queue as its index has it. Names are looked up once in a claim: who has nothing left is tried in vain. */
function waitingRuns(place: () => Place): WaitingRuns<Statement, Outcome, ClaimedRun> {
  const automations = new Map<string, readonly string[]>();
  return {
    factories: remembered(factoryNames),
    *automations(factory, after) {
      const names = automations.get(factory) ?? (yield* automationNames(factory));
      automations.set(factory, names);
      const start = after === undefined ? 0 : names.findIndex((name) => name > after);
      return start === -1 ? [] : names.slice(start, start + NAMES_AT_ONCE);
    },
    take: (lane) => take(lane, place()),
  };
}

/** Answers one name after the other out of pages that are read once. */
function remembered(read: (after: string | undefined) => Work<string[]>): (after: string | undefined) => Work<readonly string[]> {
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
function* factoryNames(after: string | undefined): Work<string[]> {
  const seek = (comparison: string) => `(SELECT ${FACTORY} FROM run WHERE state = 'QUEUED' AND ${FACTORY} ${comparison} ORDER BY ${FACTORY} LIMIT 1)`;
  const found = yield* rows<{ name: string }>(
    `WITH RECURSIVE found (name, position) AS (SELECT ${seek(after === undefined ? '>= ?' : '> ?')}, 1 UNION ALL SELECT ${seek('> found.name')}, position + 1 FROM found WHERE found.name IS NOT NULL AND position < ${NAMES_AT_ONCE})
     SELECT name FROM found WHERE name IS NOT NULL ORDER BY position`,
    after ?? '',
  );
  return found.map(({ name }) => name);
}

/** The automations of a factory's oldest waiting runs, sorted; '' where runs of none are among them. */
function* automationNames(factory: string): Work<string[]> {
  const found = yield* rows<{ automation_uid: string | null }>(
    `SELECT DISTINCT automation_uid FROM (SELECT automation_uid FROM run WHERE state = 'QUEUED' AND ${FACTORY} = ? ORDER BY run_id LIMIT ${OLDEST_LOOKED_AT_MAX}) AS oldest`,
    factory,
  );
  return found.map(({ automation_uid: uid }) => uid ?? '').sort();
}

const CLAIMED_COLUMNS = 'run_id, epoch, factory_uid, automation_uid, entry_id, agent_config, interactive, conversation_id, parent_run_id, limits, network';

/** The oldest run of a lane whose group has no live one. Those before it are passed over in the index alone. */
function* take({ factory, automation }: Lane, { executionId, owner, leaseMs }: Place): Work<ClaimedRun | undefined> {
  const run = yield* row<RunRow>(
    `SELECT ${CLAIMED_COLUMNS} FROM run WHERE state = 'QUEUED' AND ${FACTORY} = ? AND automation_uid ${automation === '' ? 'IS NULL' : '= ?'}
     AND (concurrency_group IS NULL OR concurrency_group NOT IN (SELECT concurrency_group FROM run WHERE ${IS_LIVE} AND concurrency_group IS NOT NULL))
     ORDER BY run_id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    ...(automation === '' ? [factory] : [factory, automation]),
  );
  if (run === undefined) return undefined;
  // Not before it was found: who left it to the queue may have done so a moment ago, and the next execution begins after that.
  const nowMs = yield* databaseNow();
  yield* change(
    "UPDATE run SET state = 'CLAIMED', epoch = epoch + 1, lease_owner = ?, lease_until = ?, execution_id = ?, session_id = COALESCE(session_id, ?), updated_at = ? WHERE run_id = ? AND state = 'QUEUED'",
    owner, nowMs + leaseMs, executionId, run.run_id, nowMs, run.run_id,
  );
  yield* insert('execution', ['execution_id', 'run_id', 'epoch', 'owner', 'claimed_at'], [[executionId, run.run_id, run.epoch + 1, owner, nowMs]]);
  return {
    runId: run.run_id, executionId, epoch: run.epoch + 1, factoryUid: run.factory_uid ?? undefined, automationUid: run.automation_uid ?? undefined,
    entryId: run.entry_id ?? undefined, agentConfig: run.agent_config, interactive: run.interactive === 1, conversationId: run.conversation_id ?? run.run_id,
    parentRunId: run.parent_run_id ?? undefined, limits: run.limits ?? undefined, network: run.network ?? undefined,
  };
}
