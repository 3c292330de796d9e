/** Creates the service of a process: data folder, keys, database and application. contract §1, §11. */
import type { LaunchProfile } from '#agents';
import { prepareDefinitionValidators } from '#contracts';
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
import { createHttp } from './http/server.ts';
import { Installation } from './keys/installation.ts';
import { masterKeys, readKeys, type InstallationKeys } from './keys/key-reading.ts';
import type { PassedConnection } from './http/sockets/open-connections.ts';
import {
  type LifecycleDeps,
  prepareService,
  ServiceComponents,
  startService,
  stepAside,
  type SteppedAside,
  stopService,
} from './lifecycle.ts';
import { lockDataFolder, type DataFolderLock } from './process/data-folder.ts';
import {
  Clock,
  CONFIG,
  IdSource,
  PageFolder,
  PollIntervals,
  pooledRandom,
  ProcessIdentity,
  TrustedFactories,
} from './process/injection-tokens.ts';
import { Log } from './process/log.ts';
import { Metrics } from './process/metrics.ts';
import { NO_TRACES, Traces } from './process/traces.ts';
import { ProcessModule } from './process/process.module.ts';
import { Vault } from './secrets/vault.ts';
import { AccessStore } from './store/access/access.ts';
import { KeyStore } from './store/access/keys.ts';
import { measureDatabase } from './store/database/measured.ts';
import { logOutages } from './store/database/outages.ts';
import { openNotices } from './store/database/postgres/notices-postgres.ts';
import { DatabaseClock } from './store/database/database-clock.ts';
import type { Database, DatabaseOptions } from './store/database/database.ts';
import { programVersion } from './store/database/migrations.ts';
import { openDatabase, openStandby } from './store/open-database.ts';
import { StoreModule } from './store/store.module.ts';
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
  /** Resolves when a newer version has taken away what this one uses, while this process slept: it has to end. */
  readonly leftBehind: Promise<Error>;
  /** The same for another version that takes over the socket: connections are taken until everything else has ended. */
  stepAside(): Promise<SteppedAside>;
  /** Takes over a connection of a process that has stepped aside. */
  adopt(connection: PassedConnection): void;
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
  /** The socket to listen on, where another process has opened it. */
  listenFd?: number;
  /** Whether others answer where this service has listened; as it seems, if not said. */
  othersAnswer?: boolean;
}

/** A configuration, and what tests may have given, with the usual for the rest. */
interface Given extends ServiceOptions {
  config: Config;
  log: Log;
  nowMs(): number;
  profiles: readonly LaunchProfile[];
  keys: InstallationKeys;
}

/**
 * Builds the whole service from a configuration: keys, database, application. Nothing runs until `start`. Throws
 * ConfigError, KeyFileError, DataFolderError, SchemaTooNewError, WrongKeyError, VersionMismatchError or StoreError,
 * each with a message for the operator.
 */
export async function createService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const wanted = await givenOf(config, options);
  const lock = await lockDataFolder(config.dataDir);
  try {
    const given = { ...wanted, keys: readKeys(config) };
    const database = await openDatabase(databaseOptions(given));
    const { service } = await composeService(given, database, lock);
    return service;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** A service beside the one that works on the data folder. */
export interface StandbyService {
  /** Is the one from now on: the other one has left the folder. Throws what `createService` throws. */
  takeOver(listenFd: number | undefined, connectionsCame?: () => Promise<void>): Promise<Service>;
  /** Ends what was put together: nobody wants it. */
  discard(): Promise<void>;
}

/**
 * Builds a service as far as nothing is written, with what serves in memory, so that little is left to do when it is
 * the one. Undefined where others may write to the database anyway. Throws like `createService`.
 */
export async function createStandby(config: Config, options: ServiceOptions): Promise<StandbyService | undefined> {
  if (config.databaseUrl !== undefined) return undefined;
  const given = { ...(await givenOf(config, { ...options, othersAnswer: true })), keys: readKeys(config) };
  const standby = await openStandby(databaseOptions(given));
  const { service, deps, verifyKeys } = await composeService(given, standby.database, undefined);
  const discard = async (): Promise<void> => {
    deps.parts.disk.stop();
    await deps.app.close();
    await standby.database.close();
  };
  try {
    await prepareService(deps);
    await standby.prepare().catch(() => undefined);
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    discard,
    async takeOver(listenFd, connectionsCame) {
      const lock = await lockDataFolder(config.dataDir);
      try {
        await standby.takeOver();
        await verifyKeys();
      } catch (error) {
        lock.release();
        throw error;
      }
      Object.assign(deps, { lock, listenFd, connectionsCame } satisfies Partial<LifecycleDeps>);
      return service;
    },
  };
}

/** All but the keys, which are made where there are none: only the one that holds the data folder may do that. */
async function givenOf(config: Config, options: ServiceOptions): Promise<Omit<Given, 'keys'>> {
  const nowMs = options.nowMs ?? Date.now;
  const log = options.log ?? new Log((line) => void process.stderr.write(line), nowMs, config.logLevel);
  const profiles = options.profiles ?? (await readProfiles(config.agentProfilesFile));
  return { ...options, config, log, nowMs, profiles };
}

function databaseOptions({ config, nowMs }: Given): DatabaseOptions {
  const { databaseUrl: url, databaseDirectUrl: directUrl, dataDir } = config;
  return { url, directUrl, version: programVersion(), dataDir, nowMs };
}

interface Composed {
  service: Service;
  deps: LifecycleDeps;
  /** Throws WrongKeyError. */
  verifyKeys(): Promise<void>;
}

/** `lock`: undefined for one that is not the one yet, whose keys are verified later. */
async function composeService(given: Given, opened: Database, lock: DataFolderLock | undefined): Promise<Composed> {
  const { config, log } = given;
  const metrics = new Metrics();
  const countOutage = (): void => metrics.count('millwright_database_outages_total');
  const database = measureDatabase(
    config.databaseUrl === undefined ? opened : logOutages(opened, log, monotonicMs, countOutage),
    metrics,
  );
  try {
    prepareDefinitionValidators(); // behind listening, deliveries would wait for it
    refuseQueueThroughPooler(config, database);
    const { values, verifyKeys } = await processValues(given, database, metrics);
    if (lock !== undefined) await verifyKeys();
    const module = AppModule.forRoles(config.roles, [
      ProcessModule.with(values),
      StoreModule.over(database, openNotices(config, database.isPooled, log), hasCommits),
    ]);
    const { app, connections } = await createHttp({ config, log, module, othersAnswer: doOthersAnswer(given) });
    const parts = app.get(ServiceComponents);
    const deps: LifecycleDeps = { parts, app, connections, lock, listenFd: given.listenFd };
    const service: Service = {
      ...parts,
      app,
      start: () => startService(deps),
      stop: () => stopService(deps),
      leftBehind: parts.heartbeat.leftBehind,
      stepAside: () => stepAside(deps),
      adopt: (connection) => connections.adopt(connection),
    };
    return { service, deps, verifyKeys };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Replicas, or whoever has the listening socket next. */
function doOthersAnswer({ othersAnswer, config, listenFd }: Given): boolean {
  return othersAnswer ?? (config.databaseUrl !== undefined || listenFd !== undefined);
}

/** The queue's notifications and locks belong to sessions, which a pooler does not keep. Throws ConfigError. */
function refuseQueueThroughPooler({ engine, redisUrl }: Config, { isPooled }: Database): void {
  if (engine === 'embedded' || redisUrl !== undefined || !isPooled) return;
  throw new ConfigError([{ variable: 'MILLWRIGHT_DATABASE_DIRECT_URL', rule: QUEUE_NEEDS_DIRECT_URL }]);
}

/** What is made before there is any module, by its token. */
async function processValues(
  given: Given,
  database: Database,
  metrics: Metrics,
): Promise<{ values: Map<InjectionToken, unknown>; verifyKeys: Composed['verifyKeys'] }> {
  const { config, log, nowMs, keys } = given;
  const ids = await idSource(config, database, nowMs);
  const accounts = new AccessStore(database);
  const installation = new Installation(accounts, new KeyStore(database), config, keys.uidKey, ids.newId);
  const vault = new Vault(() => masterKeys(config));
  const owner = `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`;
  const values = new Map<InjectionToken, unknown>([
    [CONFIG, config],
    [Log, log],
    [Metrics, metrics],
    [Traces, await openTraces(given, owner, metrics)],
    [Clock, { nowMs, monotonicMs } satisfies Clock],
    [IdSource, ids],
    [ProcessIdentity, { owner }],
    [Installation, installation],
    [Vault, vault],
    [TrustedFactories, { isTrusted: (slug: string) => given.isTrusted?.(slug) ?? false }],
    [PollIntervals, given.pollIntervals ?? {}],
    [PageFolder, { path: given.pageFolder }],
    [RunAgents, new RunAgents(config, given.builtInAgent ?? BUILT_IN_AGENT, given.profiles)],
  ]);
  return { values, verifyKeys: () => installation.verifyKeys(keys.masterKey, vault) };
}

/** What sends traces is loaded only where they go somewhere. */
async function openTraces({ config, log }: Given, owner: string, metrics: Metrics): Promise<Traces> {
  if (config.traces === undefined) return NO_TRACES;
  const { traceBackend } = await import('./process/trace-exporter.ts');
  const deps = { settings: config.traces, version: programVersion(), owner, metrics, log };
  return new Traces(traceBackend(deps), config.traces.sampleShare);
}

/** In the order of the time of the database, where several processes share one. */
async function idSource({ databaseUrl }: Config, database: Database, nowMs: () => number): Promise<IdSource> {
  const nextId = uuidv7Sequence(pooledRandom());
  const clock = databaseUrl === undefined ? undefined : await DatabaseClock.of(database, monotonicMs);
  return { newId: () => nextId(clock?.nowMs() ?? nowMs()) };
}

const monotonicMs = (): number => performance.now();

/** The store knows no kind of source: what it has to know of one, the kinds say. */
function hasCommits(source: SourceSettings): boolean {
  return SOURCES.kindOf(source).hasCommits;
}
