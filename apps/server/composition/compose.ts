/** Builds the whole service from a configuration: with `composition/` the one place that knows every part. Nothing runs until `start`. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { uuidv7Sequence, type LaunchProfile } from '#runs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { executionParts, runDeps } from './execution.ts';
import { accessParts, apiParts, pageParts, processInfoOf } from './interface.ts';
import { noticesOf } from './notices.ts';
import { tellOfOutages } from './outages.ts';
import { heartbeatOf, reconcilingParts, servingOf } from './reconciling.ts';
import { controllersOf } from './routes.ts';
import { startParts } from './starts.ts';
import { storesOf } from './stores.ts';
import { monotonicMs, type PollIntervals, type ServiceDeps } from './surroundings.ts';
import { sweeperOf } from './sweeps.ts';
import { ConfigError, QUEUE_NEEDS_DIRECT_URL, type Config } from '../config/config.ts';
import { lockDataFolder, type DataFolderLock } from '../process/data-folder.ts';
import { BUILT_IN_AGENT, type BuiltInAgent } from '../execution/agent/agents.ts';
import type { Engine } from '../execution/engine/engine.ts';
import { readProfiles } from '../execution/agent/profile-file.ts';
import { ScheduledJobs } from '../scheduled-jobs.ts';
import { ClientAddresses } from '../http/client-addresses.ts';
import { Readiness } from '../health/health.controller.ts';
import { Idempotency } from '../http/idempotency.ts';
import { createHttp } from '../http/server.ts';
import { refuseDeliveries } from '../ingress/ingress-disabled.ts';
import { ingressHandler } from '../ingress/ingress-listener.ts';
import { Installation } from '../process/installation.ts';
import { KeyUses } from '../keys/key-uses.ts';
import { Log } from '../process/log.ts';
import { programVersion } from '../process/program-version.ts';
import { pooledRandom } from '../process/random.ts';
import type { Scheduler } from '../schedules/scheduler.ts';
import { readKeyFiles } from '../secrets/key-files.ts';
import { SecretReader } from '../secrets/secret-reader.ts';
import type { SecretService } from '../secrets/secrets.service.ts';
import { Vault } from '../secrets/vault.ts';
import { DatabaseClock } from '../store/database/database-clock.ts';
import { openDatabase } from '../store/open-database.ts';
import type { Database } from '../store/database/database.ts';
import type { DefinitionStore } from '../store/definitions/definitions.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { RunStore } from '../store/runs/runs.ts';
import type { WebhookStore } from '../store/definitions/webhooks.ts';
import type { SyncLoops } from '../sync/loops.ts';
import type { Serving } from '../webhooks/serving-state.ts';

/** Everything that runs, for `start`, tests and benchmarks. A part that this process has no role for is absent. */
export interface Service {
  config: Config;
  database: Database;
  app: NestFastifyApplication;
  installation: Installation;
  factories: FactoryStore;
  keyUses: KeyUses;
  definitions: DefinitionStore;
  webhooks: WebhookStore;
  secrets: SecretService;
  runs: RunStore;
  /** The loops of this process, or the door to those of others. */
  loops: SyncLoops;
  serving?: Serving;
  engine?: Engine;
  scheduler?: Scheduler;
  /** Listens, reconciles, works on runs. */
  start(): Promise<void>;
  /** Stops taking work, ends what is under way in order, closes the database. */
  stop(): Promise<void>;
}

export interface CompositionOptions {
  /** Factories named on the command line: their sources may be local. */
  isTrusted?(slug: string): boolean;
  log?: Log;
  /** How the agent that comes with the service is started; as it was built, if not said. */
  builtInAgent?: BuiltInAgent;
  /** Agents that runs may name; those of the operator's file and the built-in ones, if not said. */
  profiles?: readonly LaunchProfile[];
  /** Folder of the built web page; where the build puts it, if not said. */
  pageFolder?: string;
  /** How long the process looks away, should nobody tell; the usual times, if not said. */
  pollIntervals?: PollIntervals;
  nowMs?: () => number;
}

type Options = CompositionOptions & Required<Pick<CompositionOptions, 'log' | 'nowMs' | 'profiles'>>;

/** Throws ConfigError, KeyFileError, DataFolderError, SchemaTooNewError, WrongKeyError, VersionMismatchError or StoreError, each with a message for the operator. */
export async function compose(config: Config, options: CompositionOptions = {}): Promise<Service> {
  const nowMs = options.nowMs ?? Date.now;
  const log = options.log ?? new Log((line) => void process.stderr.write(line), nowMs, config.logLevel);
  const profiles = options.profiles ?? (await readProfiles(config.agentProfilesFile));
  const lock = await lockDataFolder(config.dataDir);
  try {
    return await build(config, { ...options, log, nowMs, profiles }, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function build(config: Config, options: Options, lock: DataFolderLock): Promise<Service> {
  const { log, nowMs } = options;
  const embedded = config.databaseUrl === undefined;
  const [masterKey, uidKey] = readKeyFiles([
    {
      path: config.masterKeyFile ?? join(config.dataDir, 'master-key'),
      create: config.masterKeyFile === undefined && embedded,
      variable: 'MILLWRIGHT_MASTER_KEY_FILE',
    },
    {
      path: config.uidKeyFile ?? join(config.dataDir, 'uid-key'),
      create: config.uidKeyFile === undefined && embedded,
      variable: 'MILLWRIGHT_UID_KEY_FILE',
    },
  ]);
  const opened = await openDatabase({
    url: config.databaseUrl,
    directUrl: config.databaseDirectUrl,
    version: programVersion(),
    dataDir: config.dataDir,
    nowMs,
  });
  const database = embedded ? opened : tellOfOutages(opened, log, monotonicMs);
  try {
    refuseQueueThroughPooler(config, database);
    const nextId = uuidv7Sequence(pooledRandom());
    const clock = embedded ? undefined : await DatabaseClock.of(database, monotonicMs);
    const around: ServiceDeps = {
      config,
      uidKey,
      log,
      nowMs,
      stores: storesOf(database),
      vault: new Vault(masterKey),
      builtInAgent: options.builtInAgent ?? BUILT_IN_AGENT,
      profiles: options.profiles,
      isTrusted: (slug) => options.isTrusted?.(slug) ?? false,
      notices: noticesOf(config, database.isPooled, log),
      pollIntervals: options.pollIntervals ?? {},
      owner: `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`,
      newId: () => nextId(clock?.nowMs() ?? nowMs()),
    };
    return await assemble(around, database, lock, options.pageFolder);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The queue's notifications and locks belong to sessions, which a pooler does not keep. Throws ConfigError. */
function refuseQueueThroughPooler({ engine, redisUrl }: Config, { isPooled }: Database): void {
  if (engine === 'embedded' || redisUrl !== undefined || !isPooled) return;
  throw new ConfigError([{ variable: 'MILLWRIGHT_DATABASE_DIRECT_URL', rule: QUEUE_NEEDS_DIRECT_URL }]);
}

async function assemble(
  around: ServiceDeps,
  database: Database,
  lock: DataFolderLock,
  pageFolder: string | undefined,
): Promise<Service> {
  const { config, stores, vault, uidKey, notices, log, nowMs, newId } = around;
  const { accounts, keys, factories, definitions, webhooks, runs, answers, replicas } = stores;
  const { roles } = config;
  const installation = new Installation(accounts, keys, config, uidKey, newId);
  await installation.verifyKeys(vault);

  const secretReader = new SecretReader(stores.secrets, vault);
  const ground = runDeps(around);
  const { disk, queueing } = ground;
  const serving = servingOf(around);
  const heartbeat = heartbeatOf(around, serving);
  const reconciling = reconcilingParts(around, serving, secretReader);
  const { loops, roster, secrets } = reconciling;
  const { engine, repositories } = roles.has('worker') ? executionParts(around, ground, secretReader) : {};
  const { intake, scheduler } = startParts(around, ground, serving);
  const sweeper = roles.has('sync') || roles.has('worker') ? sweeperOf(database, around) : undefined;
  const keyUses = new KeyUses(keys, nowMs);
  const access = accessParts(around, keyUses);
  const api =
    roles.has('api') && intake !== undefined
      ? apiParts(around, ground, reconciling, intake.resends, engine)
      : undefined;
  const readiness = new Readiness(
    () => disk.isLow(),
    processInfoOf(around, engine),
    () => queueing?.relay.isAway() ?? false,
  );
  const housekeeping = new ScheduledJobs({
    engine,
    repositories,
    scheduler,
    sweeper,
    keyUses,
    answers: sweeper && answers,
    sessions: sweeper && stores.sessions,
    runs,
    log,
  });
  const addresses = new ClientAddresses(config.trustedProxies);
  const app = await createHttp({
    config,
    log,
    addresses,
    guard: access.guard,
    idempotency: new Idempotency(answers, (fault) =>
      log.fault('the answer to an idempotency key could not be kept', fault),
    ),
    ingress:
      roles.has('ingress') && intake !== undefined ? ingressHandler(intake.receiver, addresses) : refuseDeliveries,
    controllers: controllersOf(roles),
    instances: [
      readiness,
      housekeeping,
      ...access.instances,
      ...pageParts(around, pageFolder),
      ...(api?.instances ?? []),
    ],
  });

  return {
    config,
    database,
    app,
    installation,
    factories,
    keyUses,
    definitions,
    webhooks,
    secrets,
    runs,
    serving,
    loops,
    engine,
    scheduler,
    async start() {
      await disk.start();
      if (config.databaseUrl === undefined)
        await Promise.all([factories.releaseAll(), answers.releaseAll(), replicas.forgetAll()]); // nobody else can hold one
      await serving?.refresh();
      await heartbeat.start();
      await engine?.recover();
      await app.listen({ port: config.port, host: config.host, backlog: 4_096 });
      await roster?.start();
      queueing?.relay.start();
      engine?.start();
      await scheduler?.ask();
      notices.start(); // what was told until now is looked for when it listens
    },
    async stop() {
      readiness.stop();
      api?.eventStreams.end();
      await app.close();
      await heartbeat.retire();
      await keyUses.write().catch((fault: unknown) => log.fault('the uses of keys could not be noted', fault));
      await Promise.all([roster?.stop(), loops.stop(), scheduler?.stop(), sweeper?.stop()]);
      await engine?.stop();
      await queueing?.relay.stop();
      await heartbeat.stop();
      await notices.stop();
      disk.stop();
      await database.close();
      lock.release();
    },
  };
}
