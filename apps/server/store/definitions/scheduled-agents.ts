/**
 * Schedules that are made over the API, as rows: changed one at a time, and each tick handled once over all processes.
 * contract §12.8 (Schedules).
 */
import type { AgentIdentitySettings } from '#agents';
import type { AgentDefaults, FactoryDefinition, Missed } from '#definitions';
import { ignoredSaid } from '#runs';
import { audit, type ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { change, lock, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import { decideAdmission, type NewRun, storeAdmission, toMetadataRows } from '../runs/new-run.ts';
import { appendToLog } from '../runs/run-log.ts';
import { RUN_METADATA } from '../runs/run.entities.ts';
import type { VisibleFactories } from '../runs/run-history.ts';
import { SCHEDULED_AGENT, type ScheduledAgentRow } from './definition.entities.ts';
import {
  SELECT_AGENTS,
  toAgent,
  toAgentRow,
  toClock,
  type NamedAgentRow,
  type NewScheduledAgent,
  type ScheduledAgent,
  type ScheduledAgentClock,
} from './scheduled-agent-rows.ts';
import { isServed, type TickOutcome } from './schedules.ts';

/** More than people look after by hand, and few enough to be answered at once and read every few seconds. */
export const SCHEDULED_AGENTS_MAX = 1_000;

/** What a run of a schedule is made of, as of one version of the factory's serving state. */
export interface ScheduledAgentFacts {
  agent: ScheduledAgent;
  /** Undefined: it belongs to none. */
  factory?: {
    slug: string;
    serviceAccountUid: string;
    servingVersion: number;
    agentDefaults?: AgentDefaults;
  };
  /** Undefined: it names none. */
  identity?: { uid: string; name: string; settings: AgentIdentitySettings };
}

/** A tick and the ones before it, decided on one state of the schedule. */
export interface ScheduledAgentTick extends Missed {
  schedule: ScheduledAgentClock;
  /** All ticks up to here are handled with it. */
  atMs: number;
  /** Undefined: it comes too late. `servingVersion`: of its factory. */
  start?: { run: NewRun; servingVersion?: number; ignored?: readonly string[] };
}

/** What happens with a change, in its transaction. */
export interface ScheduledAgentHook {
  by: ChangedBy;
  action: string;
  also?: (agent: ScheduledAgent) => Transaction<void>;
}

export class ScheduledAgentStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Those that fire. */
  async enabled(): Promise<ScheduledAgentClock[]> {
    const found = await this.database.longRead(() =>
      rows<ScheduledAgentRow>(
        'SELECT schedule_id, factory_uid, name, cron, version, handled_until FROM scheduled_agent WHERE enabled = 1 ' +
          'ORDER BY schedule_id',
      ),
    );
    return found.map(toClock);
  }

  /** By name; at most SCHEDULED_AGENTS_MAX. */
  async list(visible: VisibleFactories): Promise<ScheduledAgent[]> {
    if (visible?.length === 0) return [];
    const where = visible === undefined ? '' : ` WHERE s.factory_uid IN (${placeholders(visible.length)})`;
    const found = await this.database.read(() =>
      rows<NamedAgentRow>(
        `${SELECT_AGENTS}${where} ORDER BY s.name, s.schedule_id LIMIT ?`,
        ...(visible ?? []),
        SCHEDULED_AGENTS_MAX,
      ),
    );
    return found.map(toAgent);
  }

  find(scheduleId: string): Promise<ScheduledAgent | undefined> {
    return this.database.read(() => agentOf(scheduleId));
  }

  /** Makes one, unless its factory is gone or there are too many. */
  create(
    wanted: NewScheduledAgent,
    { by, action, also }: ScheduledAgentHook,
  ): Promise<ScheduledAgent | 'gone' | 'full' | 'no-identity'> {
    return this.database.run(function* () {
      // Counted by one at a time: on PostgreSQL two would not see each other.
      yield* lock('scheduled agents');
      const counted = yield* row<{ n: number }>('SELECT count(*) AS n FROM scheduled_agent');
      if (Number(counted?.n) >= SCHEDULED_AGENTS_MAX) return 'full';
      // Shared: a deletion that comes later waits for us and deletes it.
      if (wanted.factoryUid !== undefined && !(yield* isLive(wanted.factoryUid))) return 'gone';
      if (!(yield* hasIdentity(wanted.agentIdentityUid))) return 'no-identity';
      yield* insertInto(SCHEDULED_AGENT, [toAgentRow(wanted, by.principalUid)]);
      yield* audit(by, { action, subject: wanted.scheduleId, ...detailsOf(wanted) });
      const made = (yield* agentOf(wanted.scheduleId)) ?? unreachable();
      if (also !== undefined) yield* also(made);
      return made;
    });
  }

  /**
   * Changes one as `decide` says, seen alone; undefined: as it is. Answers it as it is then; idle: it would have
   * nothing to do, and stays.
   */
  change(
    scheduleId: string,
    decide: (before: ScheduledAgent) => NewScheduledAgent | 'idle' | undefined,
    { by, action, also }: ScheduledAgentHook,
  ): Promise<ScheduledAgent | 'idle' | 'gone' | 'no-identity'> {
    return this.database.run(function* () {
      const before = yield* lockedAgent(scheduleId);
      if (before === undefined) return 'gone';
      const wanted = decide(before);
      if (typeof wanted === 'string') return wanted;
      if (wanted !== undefined) {
        if (!(yield* hasIdentity(wanted.agentIdentityUid))) return 'no-identity';
        const {
          schedule_id: id,
          creator_uid: _creator,
          ...columns
        } = toAgentRow({ ...before, ...wanted }, by.principalUid);
        yield* change(
          `UPDATE scheduled_agent SET ${Object.keys(columns)
            .map((name) => `${name} = ?`)
            .join(', ')} WHERE schedule_id = ?`,
          ...Object.values(columns),
          id,
        );
        yield* audit(by, { action, subject: scheduleId, ...detailsOf(wanted) });
      }
      const now = (yield* agentOf(scheduleId)) ?? unreachable();
      if (also !== undefined) yield* also(now);
      return now;
    });
  }

  /** False where there is none. */
  remove(scheduleId: string, { by, action }: ScheduledAgentHook): Promise<boolean> {
    return this.database.run(function* () {
      const before = yield* lockedAgent(scheduleId);
      if (before === undefined) return false;
      yield* change('DELETE FROM scheduled_agent WHERE schedule_id = ?', scheduleId);
      yield* audit(by, { action, subject: scheduleId, ...detailsOf(before) });
      return true;
    });
  }

  /** What a run of one is made of now; undefined when it, or its factory, is gone. */
  loadFacts(scheduleId: string): Promise<ScheduledAgentFacts | undefined> {
    return this.database.read(function* () {
      const agent = yield* agentOf(scheduleId);
      if (agent === undefined) return undefined;
      const identity = yield* identityOf(agent.agentIdentityUid);
      if (agent.factoryUid === undefined) return { agent, identity };
      const found = yield* row<{
        slug: string;
        service_account_uid: string;
        serving_version: number;
        definition: string;
      }>(
        'SELECT slug, service_account_uid, serving_version, definition FROM factory WHERE uid = ? ' +
          'AND deleted_at IS NULL',
        agent.factoryUid,
      );
      if (found === undefined) return undefined;
      return {
        agent,
        identity,
        factory: {
          slug: found.slug,
          serviceAccountUid: found.service_account_uid,
          servingVersion: found.serving_version,
          agentDefaults: (JSON.parse(found.definition) as FactoryDefinition).agentDefaults,
        },
      };
    });
  }

  /**
   * Handles a tick: what it starts, what was missed and how far the schedule got commit together. Of several processes
   * one does, and none once the schedule was changed, paused or deleted.
   */
  handle(tick: ScheduledAgentTick, nowMs: number): Promise<TickOutcome> {
    return this.database.run(() => handleTick(tick, nowMs));
  }
}

function* handleTick(
  { schedule, atMs, start, missed, lastMissedMs }: ScheduledAgentTick,
  nowMs: number,
): Transaction<TickOutcome> {
  const { scheduleId, factoryUid, version, handledUntilMs } = schedule;
  if (start?.servingVersion !== undefined && !(yield* isServed(factoryUid ?? '', start.servingVersion)))
    return { kind: 'lost' };
  const won = yield* change(
    'UPDATE scheduled_agent SET handled_until = ?, missed = missed + ?, ' +
      'last_missed_at = COALESCE(?, last_missed_at) ' +
      'WHERE schedule_id = ? AND version = ? AND enabled = 1 AND handled_until = ?',
    atMs,
    missed,
    lastMissedMs ?? null,
    scheduleId,
    version,
    handledUntilMs,
  );
  if (won !== 1) return { kind: 'lost' };
  if (start === undefined) return { kind: 'missed' };
  // One that counts anew while the clock is set back: what its ticks have started before, they do not start again.
  const before = yield* row('SELECT 1 AS found FROM run WHERE schedule_id = ? AND scheduled_at = ?', scheduleId, atMs);
  if (before !== undefined) return { kind: 'lost' };
  const { replaced } = yield* storeAdmission(yield* decideAdmission([start.run]), nowMs);
  yield* insertInto(RUN_METADATA, toMetadataRows(start.run));
  yield* tellIgnored(start.run, start.ignored ?? []);
  yield* change('UPDATE scheduled_agent SET last_fired_at = ? WHERE schedule_id = ?', atMs, scheduleId);
  return { kind: 'started', replaced };
}

/** What nothing here serves of the schedule is the first thing that the log of its run has. */
function* tellIgnored({ runId, createdAtMs }: NewRun, ignored: readonly string[]): Transaction<void> {
  if (ignored.length === 0) return;
  const body = JSON.stringify({ text: ignoredSaid('schedule', ignored) });
  yield* appendToLog(runId, undefined, [{ kind: 'status', atMs: createdAtMs, body }]);
}

/** Shared: a deletion of the identity that comes later waits for us, and finds it in use. */
function* hasIdentity(uid: string | null): Transaction<boolean> {
  if (uid === null) return true;
  return (yield* row('SELECT 1 AS found FROM agent_identity WHERE uid = ? FOR SHARE', uid)) !== undefined;
}

function* identityOf(uid: string | null): Transaction<ScheduledAgentFacts['identity']> {
  if (uid === null) return undefined;
  const found = yield* row<{ name: string; settings: string }>(
    'SELECT name, settings FROM agent_identity WHERE uid = ?',
    uid,
  );
  return found && { uid, name: found.name, settings: JSON.parse(found.settings) as AgentIdentitySettings };
}

/** Forgets the schedules of a factory that is deleted. */
export function* deleteScheduledAgents(factoryUid: string): Transaction<void> {
  yield* change('DELETE FROM scheduled_agent WHERE factory_uid = ?', factoryUid);
}

function* isLive(factoryUid: string): Transaction<boolean> {
  const found = yield* row<{ deleted_at: number | null }>(
    'SELECT deleted_at FROM factory WHERE uid = ? FOR SHARE',
    factoryUid,
  );
  return found?.deleted_at === null;
}

function* agentOf(scheduleId: string, locks = ''): Transaction<ScheduledAgent | undefined> {
  const found = yield* row<NamedAgentRow>(`${SELECT_AGENTS} WHERE s.schedule_id = ?${locks}`, scheduleId);
  return found && toAgent(found);
}

function lockedAgent(scheduleId: string): Transaction<ScheduledAgent | undefined> {
  return agentOf(scheduleId, ' FOR UPDATE OF s');
}

function detailsOf({
  factoryUid,
  name,
  cron,
  isEnabled,
}: Pick<ScheduledAgent, 'factoryUid' | 'name' | 'cron' | 'isEnabled'>) {
  return { factoryUid, details: { name, cron_schedule: cron, enabled: isEnabled } };
}

function unreachable(): never {
  throw new Error('a row of this transaction is gone');
}
