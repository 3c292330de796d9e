/**
 * Schedules as rows: how far their ticks were handled, and the transaction that handles one, once over all processes.
 * contract §12.3 (schedule trigger).
 */
import type { AgentDefaults, AutomationDefinition, FactoryDefinition, Missed } from '#definitions';
import type { Database } from '../database/database.ts';
import { decideAdmission, type NewRun, storeAdmission } from '../runs/new-run.ts';
import { insertInto } from '../database/table.ts';
import { SCHEDULE, type ScheduleRow } from './definition.entities.ts';
import { change, placeholders, row, rows, type Transaction } from '../database/transactions.ts';

/** A schedule and how far it got; times in milliseconds. */
export interface Schedule {
  scheduleId: string;
  automationUid: string;
  factoryUid: string;
  name?: string;
  cron: string;
  /** Ticks up to here have started something, or never will. */
  handledUntilMs: number;
  lastFiredMs?: number;
  missed: number;
  lastMissedMs?: number;
}

/** An enabled automation that has schedules, by what changes when it does. */
export interface ScheduledAutomation {
  uid: string;
  factoryUid: string;
  version: number;
}

/** Everything that a run of an automation is made of, as of one version of the factory's serving state. */
export interface ScheduleFacts {
  factory: { uid: string; slug: string; revision: string; serviceAccountUid: string; agentDefaults?: AgentDefaults };
  servingVersion: number;
  automation: { uid: string; slug: string; name: string; definition: AutomationDefinition };
}

/** A tick and the ones before it, decided on one state of the schedule. */
export interface Tick extends Missed {
  schedule: Schedule;
  /** All ticks up to here are handled with it. */
  atMs: number;
  /** The run that it starts, decided on a version of the factory's serving state; undefined: it comes too late. */
  start?: { run: NewRun; servingVersion: number };
}

/**
 * `lost`: another process handled it, or the automation has changed: look again. `busy`: the run's group was. `missed`:
 * as decided.
 */
export type TickOutcome =
  | { kind: 'started'; replaced: readonly string[] }
  | { kind: 'busy' }
  | { kind: 'missed' }
  | { kind: 'lost' };

/** UIDs or IDs in one statement. */
const NAMED_AT_ONCE = 500;

/** By their names: a newer program may have added some beside this one. */
const COLUMNS = SCHEDULE.columns.join(', ');

export class ScheduleStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Automations whose schedules fire: applied and enabled, of live factories, suspended ones included. */
  async scheduled(): Promise<ScheduledAutomation[]> {
    const found = await this.database.longRead(() =>
      rows<{ uid: string; factory_uid: string; version: number }>(
        'SELECT a.uid, a.factory_uid, a.version FROM automation a JOIN factory f ON f.uid = a.factory_uid ' +
          'WHERE a.scheduled = 1 AND a.deleted_at IS NULL AND a.enabled = 1 AND f.deleted_at IS NULL',
      ),
    );
    return found.map(({ uid, factory_uid: factoryUid, version }) => ({ uid, factoryUid, version }));
  }

  /** What automations say, with the version that says it; deleted ones are absent. */
  async definitions(
    uids: readonly string[],
  ): Promise<{ uid: string; version: number; definition: AutomationDefinition }[]> {
    const found: { uid: string; version: number; definition: string }[] = [];
    for (const some of slices(uids)) {
      found.push(
        ...(await this.database.longRead(() =>
          rows<{ uid: string; version: number; definition: string }>(
            `SELECT uid, version, definition FROM automation WHERE uid IN (${placeholders(some.length)}) ` +
              'AND deleted_at IS NULL',
            ...some,
          ),
        )),
      );
    }
    return found.map(({ uid, version, definition }) => ({
      uid,
      version,
      definition: JSON.parse(definition) as AutomationDefinition,
    }));
  }

  /** Every schedule there is. */
  async all(): Promise<Schedule[]> {
    return (await this.database.longRead(() => rows<ScheduleRow>(`SELECT ${COLUMNS} FROM schedule`))).map(toSchedule);
  }

  /** The schedules of some automations. */
  async of(automationUids: readonly string[]): Promise<Schedule[]> {
    const found: ScheduleRow[] = [];
    for (const some of slices(automationUids))
      found.push(
        ...(await this.database.read(() =>
          rows<ScheduleRow>(
            `SELECT ${COLUMNS} FROM schedule WHERE automation_uid IN (${placeholders(some.length)})`,
            ...some,
          ),
        )),
      );
    return found.map(toSchedule);
  }

  /** Adds new schedules, which count from where they say on, and forgets those that are none any more. */
  async update(added: readonly Schedule[], removedIds: readonly string[]): Promise<void> {
    if (added.length + removedIds.length === 0) return;
    const rows = added.map(toRow).toSorted((a, b) => (a.schedule_id < b.schedule_id ? -1 : 1));
    await this.database.run(function* () {
      yield* insertInto(SCHEDULE, rows, { ignoreConflicts: true });
      for (const some of slices([...removedIds].sort()))
        yield* change(`DELETE FROM schedule WHERE schedule_id IN (${placeholders(some.length)})`, ...some);
    });
  }

  /** What a run of an automation is made of now; undefined when the automation is gone or disabled. */
  loadFacts(automationUid: string): Promise<ScheduleFacts | undefined> {
    return this.database.run(function* () {
      const found = yield* row<{
        slug: string;
        name: string;
        definition: string;
        factory_uid: string;
        factory_slug: string;
        factory_definition: string;
        revision_applied: string | null;
        service_account_uid: string;
        serving_version: number;
      }>(
        `SELECT a.slug, a.name, a.definition, f.uid AS factory_uid, f.slug AS factory_slug, f.definition AS
          factory_definition, f.revision_applied, f.service_account_uid, f.serving_version
         FROM factory f JOIN automation a ON a.factory_uid = f.uid WHERE a.uid = ? AND a.enabled = 1
         AND a.deleted_at IS NULL AND f.deleted_at IS NULL FOR SHARE OF f`,
        automationUid,
      );
      return (
        found && {
          factory: {
            uid: found.factory_uid,
            slug: found.factory_slug,
            revision: found.revision_applied ?? '',
            serviceAccountUid: found.service_account_uid,
            agentDefaults: (JSON.parse(found.factory_definition) as FactoryDefinition).agentDefaults,
          },
          servingVersion: found.serving_version,
          automation: {
            uid: automationUid,
            slug: found.slug,
            name: found.name,
            definition: JSON.parse(found.definition) as AutomationDefinition,
          },
        }
      );
    });
  }

  /**
   * Handles a tick: what it starts, what was missed and how far the schedule got commit together. Of several processes
   * one does.
   */
  handle(tick: Tick, nowMs: number): Promise<TickOutcome> {
    return this.database.run(() => handleTick(tick, nowMs));
  }
}

function* handleTick({ schedule, atMs, start, missed, lastMissedMs }: Tick, nowMs: number): Transaction<TickOutcome> {
  if (start !== undefined && !(yield* isServed(schedule.factoryUid, start.servingVersion))) return { kind: 'lost' };
  const won = yield* change(
    'UPDATE schedule SET handled_until = ?, missed = missed + ?, last_missed_at = COALESCE(?, last_missed_at) ' +
      'WHERE schedule_id = ? AND handled_until = ?',
    atMs,
    missed,
    lastMissedMs ?? null,
    schedule.scheduleId,
    schedule.handledUntilMs,
  );
  if (won !== 1) return { kind: 'lost' };
  if (start === undefined) return { kind: 'missed' };
  // A schedule that was forgotten and came back begins anew: what its ticks have started before, they do not start
  // again.
  const before = yield* row(
    'SELECT 1 AS found FROM run WHERE schedule_id = ? AND scheduled_at = ?',
    schedule.scheduleId,
    atMs,
  );
  if (before !== undefined) return { kind: 'lost' };
  const admission = yield* decideAdmission([start.run]);
  const { replaced } = yield* storeAdmission(admission, nowMs);
  if (admission.made.length === 0) return { kind: 'busy' };
  yield* change('UPDATE schedule SET last_fired_at = ? WHERE schedule_id = ?', atMs, schedule.scheduleId);
  return { kind: 'started', replaced };
}

/** Shared: a change that commits before us is seen, one that comes later waits for us. */
export function* isServed(factoryUid: string, servingVersion: number): Transaction<boolean> {
  const factory = yield* row<{ serving_version: number }>(
    'SELECT serving_version FROM factory WHERE uid = ? AND deleted_at IS NULL FOR SHARE',
    factoryUid,
  );
  return factory?.serving_version === servingVersion;
}

function toRow({ scheduleId, automationUid, factoryUid, name, cron, handledUntilMs }: Schedule): ScheduleRow {
  return {
    schedule_id: scheduleId,
    automation_uid: automationUid,
    factory_uid: factoryUid,
    name: name ?? null,
    cron,
    handled_until: handledUntilMs,
    last_fired_at: null,
    missed: 0,
    last_missed_at: null,
  };
}

function toSchedule(found: ScheduleRow): Schedule {
  return {
    scheduleId: found.schedule_id,
    automationUid: found.automation_uid,
    factoryUid: found.factory_uid,
    name: found.name ?? undefined,
    cron: found.cron,
    handledUntilMs: found.handled_until,
    lastFiredMs: found.last_fired_at ?? undefined,
    missed: found.missed,
    lastMissedMs: found.last_missed_at ?? undefined,
  };
}

function* slices<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < values.length; start += NAMED_AT_ONCE) yield values.slice(start, start + NAMED_AT_ONCE);
}
