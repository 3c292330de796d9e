/**
 * Lists of what is applied: the inventory of one factory; skills, environments and models of several. contract §3.1
 * (agent, environments, models), §4.1 (status).
 */
import type { AutomationDefinition, EnvironmentDefinition, FactoryDefinition, SkillDefinition } from '#definitions';
import type { AppliedObject, SourceSettings } from '#reconcile';
import type { Database } from '../database/database.ts';
import type { AutomationRow, ScheduleRow } from './definition.entities.ts';
import type { Schedule } from './schedules.ts';
import type { VisibleFactories } from '../runs/run-history.ts';
import { placeholders, row, rows, type Transaction } from '../database/transactions.ts';

/** Skills, and environments, of one answer: more than people choose from. */
export const CATALOGUE_MAX = 1_000;

/** Ended runs that are scanned for the latest use of a name: it may be another factory's. */
const RUNS_SCANNED_MAX = 1_000;

/** An applied resource and the factory that has it. */
export interface AppliedResource<Definition> {
  uid: string;
  /** Its name in the factory. */
  slug: string;
  path: string;
  definition: Definition;
  updatedAtMs: number;
  factory: { uid: string; slug: string; source: SourceSettings };
}

/** The run of a factory that used something last. */
export interface LatestUse {
  createdAtMs: number;
  errorCode?: string;
}

/** An automation with schedules. */
export interface ScheduledAutomationRow {
  uid: string;
  factoryUid: string;
  name: string;
  /** Its file; '' where none says it. */
  path: string;
  isEnabled: boolean;
  definition: AutomationDefinition;
  createdAtMs: number;
  updatedAtMs: number;
  /** How far schedules got, by their IDs; also those of others. */
  progress: ReadonlyMap<string, Pick<Schedule, 'lastFiredMs' | 'missed' | 'lastMissedMs'>>;
}

export class CatalogueStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Skills by name; at most CATALOGUE_MAX. */
  skills(visible: VisibleFactories): Promise<AppliedResource<SkillDefinition>[]> {
    return this.applied<SkillDefinition>('skill', visible);
  }

  /** Environments by name; at most CATALOGUE_MAX. */
  environments(visible: VisibleFactories): Promise<AppliedResource<EnvironmentDefinition>[]> {
    return this.applied<EnvironmentDefinition>('environment', visible);
  }

  /** Automations with schedules, by factory and name; at most CATALOGUE_MAX. */
  scheduled(visible: VisibleFactories): Promise<ScheduledAutomationRow[]> {
    return this.database.read(() => scheduledOf(visible));
  }

  /** Models that automations and factories name, each once. */
  models(visible: VisibleFactories): Promise<string[]> {
    const model =
      this.database.dialect === 'sqlite'
        ? "a.definition -> 'agent' ->> 'model'"
        : "a.definition::json -> 'agent' ->> 'model'";
    const { condition, params } = factoryCondition('f.uid', visible);
    return this.database.read(function* () {
      const named = yield* rows<{ model: string | null }>(
        `SELECT DISTINCT ${model} AS model FROM automation a JOIN factory f ON f.uid = a.factory_uid ` +
          `WHERE a.deleted_at IS NULL AND f.deleted_at IS NULL${condition}`,
        ...params,
      );
      const factories = yield* rows<{ definition: string }>(
        `SELECT f.definition FROM factory f WHERE f.deleted_at IS NULL${condition}`,
        ...params,
      );
      const defaults = factories.map(
        ({ definition }) => (JSON.parse(definition) as FactoryDefinition).agentDefaults?.model,
      );
      return [...new Set([...named.map((found) => found.model ?? undefined), ...defaults])].filter(
        (found) => found !== undefined,
      );
    });
  }

  /**
   * When runs of a factory that have ended last used a skill, or an environment, under any of these names; among the
   * latest runs of each name.
   */
  latestUse(
    column: 'skill_spec' | 'environment_id',
    factoryUid: string,
    names: readonly string[],
  ): Promise<LatestUse | undefined> {
    return this.database.read(function* () {
      const found: LatestUse[] = [];
      for (const name of new Set(names)) {
        const latest = yield* row<{ created_at: number; error_code: string | null }>(
          `SELECT created_at, error_code FROM (SELECT created_at, error_code, factory_uid, settled_at FROM run
            WHERE ${column} = ? AND settled_at IS NOT NULL ORDER BY settled_at DESC LIMIT ?) AS latest
           WHERE factory_uid = ? ORDER BY settled_at DESC LIMIT 1`,
          name,
          RUNS_SCANNED_MAX,
          factoryUid,
        );
        if (latest !== undefined)
          found.push({ createdAtMs: latest.created_at, errorCode: latest.error_code ?? undefined });
      }
      return found.toSorted((a, b) => b.createdAtMs - a.createdAtMs)[0];
    });
  }

  private applied<Definition>(
    kind: 'skill' | 'environment',
    visible: VisibleFactories,
  ): Promise<AppliedResource<Definition>[]> {
    return this.database.read(() => appliedOf<Definition>(kind, visible));
  }
}

function* scheduledOf(visible: VisibleFactories): Transaction<ScheduledAutomationRow[]> {
  const { condition, params } = factoryCondition('f.uid', visible);
  const found = yield* rows<AutomationRow>(
    `SELECT a.uid, a.factory_uid, a.name, a.path, a.enabled, a.definition, a.created_at, a.updated_at
     FROM automation a JOIN factory f ON f.uid = a.factory_uid
     WHERE a.scheduled = 1 AND a.deleted_at IS NULL AND f.deleted_at IS NULL${condition}
     ORDER BY f.slug, a.slug LIMIT ?`,
    ...params,
    CATALOGUE_MAX,
  );
  const schedules = yield* rows<ScheduleRow>(
    `SELECT s.schedule_id, s.last_fired_at, s.missed, s.last_missed_at FROM schedule s
     JOIN factory f ON f.uid = s.factory_uid WHERE f.deleted_at IS NULL${condition}`,
    ...params,
  );
  const progress = new Map(
    schedules.map((found) => [
      found.schedule_id,
      {
        lastFiredMs: found.last_fired_at ?? undefined,
        missed: found.missed,
        lastMissedMs: found.last_missed_at ?? undefined,
      },
    ]),
  );
  return found.map((automation) => ({
    uid: automation.uid,
    factoryUid: automation.factory_uid,
    name: automation.name,
    path: automation.path ?? '',
    isEnabled: automation.enabled === 1,
    definition: JSON.parse(automation.definition) as AutomationDefinition,
    createdAtMs: automation.created_at,
    updatedAtMs: automation.updated_at,
    progress,
  }));
}

function* appliedOf<Definition>(kind: string, visible: VisibleFactories): Transaction<AppliedResource<Definition>[]> {
  const { condition, params } = factoryCondition('f.uid', visible);
  const found = yield* rows<{
    uid: string;
    slug: string;
    path: string;
    definition: string;
    updated_at: number;
    factory_uid: string;
    factory_slug: string;
    source: string;
  }>(
    `SELECT r.uid, r.slug, r.path, r.definition, r.updated_at, f.uid AS factory_uid, f.slug AS factory_slug, f.source
     FROM resource r JOIN factory f ON f.uid = r.factory_uid
     WHERE r.kind = ? AND r.deleted_at IS NULL AND f.deleted_at IS NULL${condition} ORDER BY r.slug, f.slug LIMIT ?`,
    kind,
    ...params,
    CATALOGUE_MAX,
  );
  return found.map(
    ({
      uid,
      slug,
      path,
      definition,
      updated_at: updatedAtMs,
      factory_uid: factoryUid,
      factory_slug: factorySlug,
      source,
    }) => ({
      uid,
      slug,
      path,
      updatedAtMs,
      definition: JSON.parse(definition) as Definition,
      factory: { uid: factoryUid, slug: factorySlug, source: JSON.parse(source) as SourceSettings },
    }),
  );
}

function factoryCondition(column: string, visible: VisibleFactories): { condition: string; params: readonly string[] } {
  if (visible === undefined) return { condition: '', params: [] };
  // A list of nothing is no SQL, and matches nothing.
  return visible.length === 0
    ? { condition: ' AND 1 = 0', params: [] }
    : { condition: ` AND ${column} IN (${placeholders(visible.length)})`, params: visible };
}

export interface InventoryEntry {
  kind: AppliedObject['kind'];
  uid: string;
  slug: string;
  /** File that decides it, relative to the factory's root. */
  path: string;
  /** Object ID that git gives the file; absent for what was made over the API. */
  blob?: string;
  revision: string;
  enabled: boolean;
  /** Of a webhook: whether it has a secret to authenticate with; true for everything else. */
  hasSecret: boolean;
}

/** Order in which people look for things. */
const KIND_ORDER: readonly string[] = ['webhook', 'automation', 'environment', 'skill'];
const INVENTORY = `SELECT 'webhook' AS kind, uid, slug, path, blob, revision, enabled, CASE WHEN secret_version IS NULL
  THEN 0 ELSE 1 END AS has_secret FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL
  UNION ALL SELECT 'automation', uid, slug, path, blob, revision, enabled, 1 FROM automation WHERE factory_uid = ?
  AND deleted_at IS NULL
  UNION ALL SELECT kind, uid, slug, path, blob, revision, 1, 1 FROM resource WHERE factory_uid = ?
  AND deleted_at IS NULL`;

export class InventoryStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Every live object, by kind and name. */
  async list(factoryUid: string): Promise<InventoryEntry[]> {
    const found = await this.database.read(() =>
      rows<{
        kind: AppliedObject['kind'];
        uid: string;
        slug: string;
        path: string;
        blob: string | null;
        revision: string;
        enabled: number;
        has_secret: number;
      }>(INVENTORY, factoryUid, factoryUid, factoryUid),
    );
    const entries = found.map(({ enabled, blob, has_secret: hasSecret, ...entry }) => ({
      ...entry,
      blob: blob ?? undefined,
      enabled: enabled === 1,
      hasSecret: hasSecret === 1,
    }));
    return entries.sort(
      (a, b) => KIND_ORDER.indexOf(a.kind) - KIND_ORDER.indexOf(b.kind) || (a.slug < b.slug ? -1 : 1),
    );
  }
}
