/**
 * Creates the service of a process: opens its data folder, keys and database, then builds the application; and says
 * what went wrong. contract §1, §11.
 */
import type { LaunchProfile } from '#agents';
import type { SourceSettings } from '#reconcile';
import { uuidv7Sequence } from '#runs';
import type { InjectionToken } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { AppModule } from './app.module.ts';
import { ConfigError, QUEUE_NEEDS_DIRECT_URL, type Config } from './config/config.ts';
import { BUILT_IN_AGENT, type BuiltInAgent } from './execution/agent/agents.ts';
import { readProfiles } from './execution/agent/profile-file.ts';
import { RunAgents } from './execution/preparation/run-agents.ts';
import { createHttp, TlsError } from './http/server.ts';
import { Installation, WrongKeyError } from './keys/installation.ts';
import { ServiceComponents, startService, stopService } from './lifecycle.ts';
import { DataFolderError, lockDataFolder, type DataFolderLock } from './process/data-folder.ts';
import {
  Clock,
  CONFIG,
  IdSource,
  PageFolder,
  PollIntervals,
  ProcessIdentity,
  TrustedFactories,
} from './process/injection-tokens.ts';
import { keyLocations, KeyFileError, readKeyFiles, type KeyLocation } from './process/key-files.ts';
import { Log } from './process/log.ts';
import { Metrics } from './process/metrics.ts';
import { ProcessModule } from './process/process.module.ts';
import { Vault } from './secrets/vault.ts';
import { AccessStore } from './store/access/access.ts';
import { KeyStore } from './store/access/keys.ts';
import { logOutages } from './store/database/outages.ts';
import { openNotices } from './store/database/postgres/notices-postgres.ts';
import { DatabaseClock } from './store/database/database-clock.ts';
import type { Database } from './store/database/database.ts';
import { programVersion, SchemaTooNewError } from './store/database/migrations.ts';
import { PostgresUnusableError } from './store/database/postgres/postgres-refusals.ts';
import { VersionMismatchError } from './store/database/replicas.ts';
import { StoreError } from './store/database/store-errors.ts';
import { openDatabase } from './store/open-database.ts';
import { StoreModule } from './store/store.module.ts';
import { FactoryArgumentError } from './sync/sources/parse-source.ts';
import { SOURCES } from './sync/sources/registry.ts';

/** Everything that runs, for `start`, tests and benchmarks. A part that this process has no role for is absent. */
export interface Service extends Pick<
  ServiceComponents,
  | 'config'
  | 'database'
  | 'installation'
  | 'factories'
  | 'keyUses'
  | 'definitions'
  | 'webhooks'
  | 'secrets'
  | 'runs'
  | 'loops'
  | 'serving'
  | 'engine'
  | 'scheduler'
> {
  app: NestFastifyApplication;
  /** Listens, reconciles, works on runs. */
  start(): Promise<void>;
  /** Stops taking work, ends what is under way in order, closes the database. */
  stop(): Promise<void>;
}

/** What tests and benchmarks give instead of the usual; each becomes the provider of its token. */
export interface ServiceOptions {
  /** Factories named on the command line: their sources may be local. */
  isTrusted?(slug: string): boolean;
  log?: Log;
  /** How the agent that comes with the service is started; as it was built, if not said. */
  builtInAgent?: BuiltInAgent;
  /** Agents that runs may name; those of the operator's file and the built-in ones, if not said. */
  profiles?: readonly LaunchProfile[];
  /** Folder of the built web page; where the build puts it, if not said. */
  pageFolder?: string;
  /** Poll intervals when notifications are missing; the usual times, if not said. */
  pollIntervals?: PollIntervals;
  nowMs?: () => number;
}

/** A configuration, and what tests may have given, with the usual for the rest. */
interface Given extends ServiceOptions {
  config: Config;
  log: Log;
  nowMs(): number;
  profiles: readonly LaunchProfile[];
}

/**
 * Builds the whole service from a configuration: keys, database, application. Nothing runs until `start`. Throws
 * ConfigError, KeyFileError,
 * DataFolderError, SchemaTooNewError, WrongKeyError, VersionMismatchError or StoreError, each with a message for the
 * operator.
 */
export async function createService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const nowMs = options.nowMs ?? Date.now;
  const log = options.log ?? new Log((line) => void process.stderr.write(line), nowMs, config.logLevel);
  const profiles = options.profiles ?? (await readProfiles(config.agentProfilesFile));
  const lock = await lockDataFolder(config.dataDir);
  try {
    return await openService({ ...options, config, log, nowMs, profiles }, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openService(given: Given, lock: DataFolderLock): Promise<Service> {
  const { config, log, nowMs } = given;
  const keys = readKeys(config);
  const opened = await openDatabase({
    url: config.databaseUrl,
    directUrl: config.databaseDirectUrl,
    version: programVersion(),
    dataDir: config.dataDir,
    nowMs,
  });
  const database = config.databaseUrl === undefined ? opened : logOutages(opened, log, monotonicMs);
  try {
    refuseQueueThroughPooler(config, database);
    const values = await processValues(given, database, keys);
    const module = AppModule.forRoles(config.roles, [
      ProcessModule.with(values),
      StoreModule.over(database, openNotices(config, database.isPooled, log), hasCommits),
    ]);
    const app = await createHttp({ config, log, module });
    const parts = app.get(ServiceComponents);
    const deps = { parts, app, lock };
    return { ...parts, app, start: () => startService(deps), stop: () => stopService(deps) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Keys {
  masterKey: Uint8Array;
  uidKey: Uint8Array;
}

/** With a database of its own the process makes the keys that it does not find. */
function readKeys(config: Config): Keys {
  const { master, uid } = keyLocations(config);
  const options = ({ path, variable, isNamed }: KeyLocation) => ({
    path,
    variable,
    create: !isNamed && config.databaseUrl === undefined,
  });
  const [masterKey, uidKey] = readKeyFiles([options(master), options(uid)]);
  return { masterKey, uidKey };
}

/** The queue's notifications and locks belong to sessions, which a pooler does not keep. Throws ConfigError. */
function refuseQueueThroughPooler({ engine, redisUrl }: Config, { isPooled }: Database): void {
  if (engine === 'embedded' || redisUrl !== undefined || !isPooled) return;
  throw new ConfigError([{ variable: 'MILLWRIGHT_DATABASE_DIRECT_URL', rule: QUEUE_NEEDS_DIRECT_URL }]);
}

/** What is made before there is any module, by its token. Throws WrongKeyError. */
async function processValues(given: Given, database: Database, keys: Keys): Promise<Map<InjectionToken, unknown>> {
  const { config, log, nowMs } = given;
  const ids = await idSource(config, database, nowMs);
  const accounts = new AccessStore(database);
  const installation = new Installation(accounts, new KeyStore(database), config, keys.uidKey, ids.newId);
  const vault = new Vault(keys.masterKey);
  await installation.verifyKeys(vault);
  return new Map<InjectionToken, unknown>([
    [CONFIG, config],
    [Log, log],
    [Metrics, new Metrics()],
    [Clock, { nowMs, monotonicMs } satisfies Clock],
    [IdSource, ids],
    [ProcessIdentity, { owner: `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}` }],
    [Installation, installation],
    [Vault, vault],
    [TrustedFactories, { isTrusted: (slug: string) => given.isTrusted?.(slug) ?? false }],
    [PollIntervals, given.pollIntervals ?? {}],
    [PageFolder, { path: given.pageFolder }],
    [RunAgents, new RunAgents(config, given.builtInAgent ?? BUILT_IN_AGENT, given.profiles)],
  ]);
}

/** In the order of the time of the database, where several processes share one. */
async function idSource({ databaseUrl }: Config, database: Database, nowMs: () => number): Promise<IdSource> {
  const nextId = uuidv7Sequence(pooledRandom());
  const clock = databaseUrl === undefined ? undefined : await DatabaseClock.of(database, monotonicMs);
  return { newId: () => nextId(clock?.nowMs() ?? nowMs()) };
}

const monotonicMs = (): number => performance.now();

const EXIT = { internal: 3, usage: 64 } as const;

/** A usage error of the command line. */
export class UsageError extends Error {}

/** The lines for the operator, and the exit code. */
export function explainFailure(error: unknown): { lines: string[]; code: number } {
  if (error instanceof ConfigError)
    return { lines: error.faults.map(({ variable, rule }) => `${variable}: ${rule}`), code: EXIT.usage };
  if (error instanceof KeyFileError) return { lines: error.message.split('\n'), code: EXIT.usage };
  if (error instanceof UsageError || error instanceof FactoryArgumentError)
    return { lines: [error.message], code: EXIT.usage };
  if (
    error instanceof DataFolderError ||
    error instanceof WrongKeyError ||
    error instanceof SchemaTooNewError ||
    error instanceof VersionMismatchError ||
    error instanceof TlsError
  ) {
    return { lines: [error.message], code: EXIT.usage };
  }
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return { lines: ['the port is taken; stop the other program or set MILLWRIGHT_PORT'], code: EXIT.internal };
  if (code === 'EACCES' && syscall === 'listen')
    return {
      lines: ['the port may not be opened by this user; set MILLWRIGHT_PORT to one above 1023'],
      code: EXIT.internal,
    };
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined)
    return { lines: [`${path} may not be read or written by this user (${code})`], code: EXIT.usage };
  if (error instanceof PostgresUnusableError) return { lines: [error.message], code: EXIT.internal };
  if (error instanceof StoreError) return { lines: [databaseLine(error)], code: EXIT.internal };
  return {
    lines: [`a fault inside the service: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`],
    code: EXIT.internal,
  };
}

function databaseLine({ code }: StoreError): string {
  if (code === 'SQLITE_FULL')
    return 'the disk of the data folder is full; free some space (workspaces of runs lie in its folder runs/)';
  if (!code.startsWith('SQLITE_'))
    return `the database cannot be used (${code}); check MILLWRIGHT_DATABASE_URL and that the server runs`;
  return (
    `the database file in the data folder cannot be used (${code}); restore it from a backup, or move it away to ` +
    'begin anew'
  );
}

/** The store knows no kind of source: what it has to know of one, the kinds say. */
function hasCommits(source: SourceSettings): boolean {
  return SOURCES.kindOf(source).hasCommits;
}

/** Drawn from the operating system at once: one call for each run or delivery would cost more than its row. */
const POOL_BYTES = 8_192;

/** Fresh random bytes for identifiers; none is ever handed out twice. */
function pooledRandom(): (bytes: number) => Uint8Array {
  let pool = randomBytes(POOL_BYTES);
  let used = 0;
  return (bytes) => {
    if (used + bytes > pool.length) {
      pool = randomBytes(Math.max(POOL_BYTES, bytes));
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}
