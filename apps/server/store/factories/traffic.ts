/**
 * How much use was made of parts of a factory lately: deliveries and runs, counted along indexes, all parts in a few
 * statements; and who names its environments. contract §12.1 (Plan), §12.8 (Schedules).
 */
import type { AgentIdentitySettings, AmbientAgentConfig } from '#agents';
import { firstUuidv7 } from '#runs';
import type { Database } from '../database/database.ts';
import { caughtUpRelation } from '../database/deferred-index.ts';
import { joinSql, oneOf, phrase, sql, type Sql } from '../database/sql.ts';
import { rows, type Transaction } from '../database/transactions.ts';
import { FACTORY_OF_WAITING } from '../runs/waiting-runs.ts';

/** Whose traffic is asked for: UIDs of webhooks and automations, what runs call environments and skills. */
export interface TrafficQuery {
  webhookUids: readonly string[];
  automationUids: readonly string[];
  /** Names and UIDs: a run keeps the one by which it named its environment. */
  environmentIds: readonly string[];
  /** Names of the factory's own skills. */
  skills: readonly string[];
  /** Everything that the factory ran. */
  whole: boolean;
}

export interface DeliveryTraffic {
  deliveries: number;
  accepted: number;
  lastMs: number;
}

export interface RunTraffic {
  runs: number;
  /** Those that ended as FAILED or ERROR. */
  failed: number;
  lastMs: number;
}

/** Counts by what they were asked for; what had no traffic is absent. */
export interface Traffic {
  deliveriesOfWebhook: ReadonlyMap<string, DeliveryTraffic>;
  runsOfWebhook: ReadonlyMap<string, RunTraffic>;
  runsOfAutomation: ReadonlyMap<string, RunTraffic>;
  runsOfEnvironment: ReadonlyMap<string, RunTraffic>;
  runsOfSkill: ReadonlyMap<string, RunTraffic>;
  runsOfFactory: RunTraffic | undefined;
}

/** Somebody outside of the files whose runs have an environment. */
export interface EnvironmentUser {
  kind: 'schedule' | 'agent_identity';
  uid: string;
  name: string;
  /** Name or UID of the environment, as it stands there. */
  environmentId: string;
}

/** Text that a person wrote cannot have it in JSON: its quotes are escaped. */
const NAMES_ENVIRONMENT = `LIKE '%"environment_id":"%'`;

/** Column of a run, and the index of ended runs that holds all that is counted: nothing is read but the index. */
const INDEXES = {
  webhook_uid: 'run_settled_webhook_uid',
  automation_uid: 'run_settled_automation_uid',
  environment_id: 'run_settled_environment_id',
  skill_spec: 'run_settled_skill_spec',
} as const;

type RunColumn = keyof typeof INDEXES;

/** Runs in one state that were counted together. */
interface RunCount extends Record<RunColumn, string | null> {
  /** What they were counted for: all of them while they are open, then one column or the whole factory. */
  part: 'open' | 'factory' | RunColumn;
  state: string;
  n: number;
  last: string;
}

export class TrafficStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Deliveries received and runs created since then. A log entry is one delivery, also where it stands for a flood of
   * refused ones.
   * Times are those that the IDs name. Open runs are few, and are looked at once for everything. All runs are counted
   * in one statement, so that one that moves meanwhile is counted once.
   */
  since(factoryUid: string, sinceMs: number, wanted: TrafficQuery): Promise<Traffic> {
    const { dialect } = this.database;
    return this.database.longRead(function* () {
      const first = firstUuidv7(sinceMs);
      const counts = yield* query<RunCount>(countedRuns({ factoryUid, sinceMs, first }, wanted, dialect));
      const runsOf = (column: RunColumn, values: readonly string[]): Map<string, RunTraffic> => {
        const names = new Set(values);
        const ofColumn = counts.filter(({ part }) => part === 'open' || part === column);
        return sumByName(ofColumn, (run) => run[column] ?? '', names);
      };
      const ofFactory = counts.filter(({ part }) => part === 'open' || part === 'factory');
      return {
        deliveriesOfWebhook: yield* deliveriesOf(wanted.webhookUids, first),
        runsOfWebhook: runsOf('webhook_uid', wanted.webhookUids),
        runsOfAutomation: runsOf('automation_uid', wanted.automationUids),
        runsOfEnvironment: runsOf('environment_id', wanted.environmentIds),
        runsOfSkill: runsOf('skill_spec', wanted.skills),
        runsOfFactory: wanted.whole ? sumByName(ofFactory, () => '', new Set([''])).get('') : undefined,
      };
    });
  }

  /** Who names environments of the factory, and is no file of it. */
  environmentUsers(factoryUid: string): Promise<EnvironmentUser[]> {
    return this.database.longRead(() => environmentUsersOf(factoryUid));
  }
}

/** What is counted: of one factory, since a time; `first`: the first ID of that time. */
interface Span {
  factoryUid: string;
  sinceMs: number;
  first: string;
}

function countedRuns(span: Span, wanted: TrafficQuery, dialect: Database['dialect']): Sql {
  const ended = (column: RunColumn, values: readonly string[]): Sql[] =>
    values.length === 0 ? [] : [endedRuns(column, values, span, dialect)];
  const parts = [
    openRuns(span, dialect),
    ...ended('webhook_uid', wanted.webhookUids),
    ...ended('automation_uid', wanted.automationUids),
    ...ended('environment_id', wanted.environmentIds),
    ...ended('skill_spec', wanted.skills),
    ...(wanted.whole ? [endedOfFactory(span, dialect)] : []),
  ];
  return joinSql(parts, ' UNION ALL ');
}

function openRuns({ factoryUid, first }: Span, dialect: Database['dialect']): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ' INDEXED BY run_open');
  const counted = (runs: Sql) => sql`SELECT 'open' AS part, webhook_uid, automation_uid, environment_id, skill_spec,
    state, count(*) AS n, max(run_id) AS last FROM ${runs} = ${factoryUid} AND run_id >= ${first}
    GROUP BY webhook_uid, automation_uid, environment_id, skill_spec, state`;
  const [own, waiting] = [
    counted(sql`run${hint} WHERE settled_at IS NULL AND factory_uid`),
    counted(phrase(`waiting_run_row WHERE ${FACTORY_OF_WAITING}`)),
  ];
  return sql`${own} UNION ALL ${waiting}`;
}

/** What was created since then ended since then, too: the index is in order of the ends. */
function endedRuns(
  column: RunColumn,
  values: readonly string[],
  { factoryUid, sinceMs, first }: Span,
  dialect: Database['dialect'],
): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ` INDEXED BY ${INDEXES[column]}`);
  // A webhook's or automation's runs are all of its factory.
  const own =
    column === 'environment_id' || column === 'skill_spec' ? sql` AND factory_uid = ${factoryUid}` : phrase('');
  return sql`SELECT ${phrase(`'${column}' AS part, ${namesOf(column)}`)}, state, count(*) AS n, max(run_id) AS last
    FROM run${hint}
    WHERE ${oneOf(column, values)} AND settled_at IS NOT NULL AND settled_at >= ${sinceMs} AND run_id >= ${first}${own}
    GROUP BY ${phrase(column)}, state`;
}

function endedOfFactory({ factoryUid, sinceMs, first }: Span, dialect: Database['dialect']): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ' INDEXED BY run_settled_factory_state');
  return sql`SELECT 'factory' AS part, ${phrase(namesOf())}, state, count(*) AS n, max(run_id) AS last FROM run${hint}
    WHERE factory_uid = ${factoryUid} AND state IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')
    AND settled_at IS NOT NULL AND settled_at >= ${sinceMs} AND run_id >= ${first} GROUP BY state`;
}

/** The columns that runs are counted by, all empty but this one. */
function namesOf(counted?: RunColumn): string {
  return Object.keys(INDEXES)
    .map((column) => (column === counted ? column : `NULL AS ${column}`))
    .join(', ');
}

function* deliveriesOf(webhookUids: readonly string[], first: string): Transaction<Map<string, DeliveryTraffic>> {
  if (webhookUids.length === 0) return new Map();
  const log = phrase(yield* caughtUpRelation('delivery_log', webhookUids));
  const found = yield* query<{ uid: string; outcome: string; n: number; last: string }>(
    sql`SELECT webhook_uid AS uid, outcome, count(*) AS n, max(CAST(entry_id AS TEXT)) AS last
      FROM ${log} AS delivery_log WHERE ${oneOf('webhook_uid', webhookUids)} AND entry_id >= ${first}
      GROUP BY webhook_uid, outcome`,
  );
  const traffic = new Map<string, DeliveryTraffic>();
  for (const { uid, outcome, n, last } of found) {
    const before = traffic.get(uid) ?? { deliveries: 0, accepted: 0, lastMs: 0 };
    const accepted = before.accepted + (outcome === 'accepted' ? n : 0);
    traffic.set(uid, { deliveries: before.deliveries + n, accepted, lastMs: Math.max(before.lastMs, timeOf(last)) });
  }
  return traffic;
}

/** Of these names alone. */
function sumByName(
  counts: readonly RunCount[],
  nameOf: (count: RunCount) => string,
  names: ReadonlySet<string>,
): Map<string, RunTraffic> {
  const traffic = new Map<string, RunTraffic>();
  for (const count of counts) {
    const [named, { state, n, last }] = [nameOf(count), count];
    if (!names.has(named)) continue;
    const before = traffic.get(named) ?? { runs: 0, failed: 0, lastMs: 0 };
    const failed = before.failed + (state === 'FAILED' || state === 'ERROR' ? n : 0);
    traffic.set(named, { runs: before.runs + n, failed, lastMs: Math.max(before.lastMs, timeOf(last)) });
  }
  return traffic;
}

function query<R>({ text, params }: Sql): Transaction<R[]> {
  return rows<R>(text, ...params);
}

/** The time that an ID names, in milliseconds. */
function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** By kind and name. A schedule that names none itself has that of its agent identity. */
function* environmentUsersOf(factoryUid: string): Transaction<EnvironmentUser[]> {
  return [...(yield* schedulesOf(factoryUid)), ...(yield* identitiesOf(factoryUid))];
}

interface ScheduleUserRow {
  schedule_id: string;
  name: string;
  agent_config: string;
  settings: string | null;
}

function* schedulesOf(factoryUid: string): Transaction<EnvironmentUser[]> {
  const found = yield* rows<ScheduleUserRow>(
    'SELECT s.schedule_id, s.name, s.agent_config, a.settings FROM scheduled_agent s ' +
      'LEFT JOIN agent_identity a ON a.uid = s.agent_identity_uid WHERE s.factory_uid = ? ' +
      `AND (s.agent_config ${NAMES_ENVIRONMENT} OR a.settings ${NAMES_ENVIRONMENT}) ORDER BY s.name, s.schedule_id`,
    factoryUid,
  );
  return found.flatMap(({ schedule_id: uid, name, agent_config: config, settings }) => {
    const own = (JSON.parse(config) as AmbientAgentConfig).environment_id;
    return userOf({ kind: 'schedule', uid, name }, own ?? environmentOfIdentity(settings));
  });
}

function* identitiesOf(factoryUid: string): Transaction<EnvironmentUser[]> {
  const found = yield* rows<{ uid: string; name: string; settings: string }>(
    `SELECT uid, name, settings FROM agent_identity WHERE factory_uid = ? AND settings ${NAMES_ENVIRONMENT} ` +
      'ORDER BY name, uid',
    factoryUid,
  );
  return found.flatMap(({ uid, name, settings }) =>
    userOf({ kind: 'agent_identity', uid, name }, environmentOfIdentity(settings)),
  );
}

function environmentOfIdentity(settings: string | null): string | undefined {
  return settings === null ? undefined : (JSON.parse(settings) as AgentIdentitySettings).environment_id;
}

function userOf(user: Omit<EnvironmentUser, 'environmentId'>, environmentId: string | undefined): EnvironmentUser[] {
  return environmentId === undefined ? [] : [{ ...user, environmentId }];
}
