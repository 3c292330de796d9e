/** Builds the whole service from a configuration: with `composition/` the one place that knows every part. Nothing runs until `start`. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { uuidv7Sequence, type LaunchProfile } from '#runs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { executionParts } from './composition/execution.ts';
import { factoryParts } from './composition/factories.ts';
import { reconcilingParts } from './composition/reconciling.ts';
import { runParts } from './composition/runs.ts';
import { startParts } from './composition/starts.ts';
import { storesOf } from './composition/stores.ts';
import type { Surroundings } from './composition/surroundings.ts';
import type { Config } from './config.ts';
import { BuiltPage } from './dashboard/built-page.ts';
import { lockDataFolder, type DataFolderLock } from './data-folder.ts';
import { Pages } from './docs/pages.ts';
import { BUILT_IN_AGENT, type BuiltInAgent } from './execution/agents.ts';
import type { Engine } from './execution/engine.ts';
import { readProfiles } from './execution/profile-file.ts';
import { agentsFound, ownAgents } from './execution/profiles.ts';
import { Housekeeping } from './housekeeping.ts';
import { AccessGuard } from './http/access.ts';
import { Budgets } from './http/budgets.ts';
import { ClientAddresses } from './http/client-addresses.ts';
import { Readiness } from './http/health.ts';
import { Idempotency } from './http/idempotency.ts';
import { createHttp } from './http/server.ts';
import { ingressHandler } from './ingress/listener.ts';
import { Installation } from './installation.ts';
import { KeyService } from './keys/service.ts';
import { KeyUses } from './keys/uses.ts';
import { Log } from './log.ts';
import { pooledRandom } from './random.ts';
import type { Scheduler } from './schedules/scheduler.ts';
import { readKeyFile } from './secrets/key-files.ts';
import type { SecretService } from './secrets/service.ts';
import { Vault } from './secrets/vault.ts';
import { SessionService } from './sessions/service.ts';
import { Sessions } from './sessions/sessions.ts';
import { openDatabase, type Database } from './store/database.ts';
import type { DefinitionStore } from './store/definitions.ts';
import type { FactoryStore } from './store/factories.ts';
import type { RunStore } from './store/runs.ts';
import type { WebhookStore } from './store/webhooks.ts';
import type { SyncLoops } from './sync/loops.ts';
import type { Serving } from './webhooks/serving.ts';

/** Everything that runs, for `start`, tests and benchmarks. */
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
  serving: Serving;
  loops: SyncLoops;
  engine: Engine;
  scheduler: Scheduler;
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
  nowMs?: () => number;
}

type Options = CompositionOptions & Required<Pick<CompositionOptions, 'log' | 'nowMs' | 'profiles'>>;

/** Throws ConfigFaults, KeyFileProblem, DataFolderProblem, SchemaTooNew, WrongKey or StoreFault, each with a message for the operator. */
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
  const masterKey = readKeyFile(config.masterKeyFile ?? join(config.dataDir, 'master-key'), { create: config.masterKeyFile === undefined && embedded, variable: 'MILLWRIGHT_MASTER_KEY_FILE' });
  const uidKey = readKeyFile(config.uidKeyFile ?? join(config.dataDir, 'uid-key'), { create: config.uidKeyFile === undefined && embedded, variable: 'MILLWRIGHT_UID_KEY_FILE' });
  const database = await openDatabase({ url: config.databaseUrl, dataDir: config.dataDir, nowMs });
  try {
    const nextId = uuidv7Sequence(pooledRandom());
    const around: Surroundings = {
      config, uidKey, log, nowMs,
      stores: storesOf(database),
      vault: new Vault(masterKey),
      builtInAgent: options.builtInAgent ?? BUILT_IN_AGENT,
      profiles: options.profiles,
      isTrusted: (slug) => options.isTrusted?.(slug) ?? false,
      owner: `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`,
      newId: () => nextId(nowMs()),
    };
    return await assemble(around, database, lock, options.pageFolder);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function assemble(around: Surroundings, database: Database, lock: DataFolderLock, pageFolder: string | undefined): Promise<Service> {
  const { config, stores, vault, uidKey, profiles, log, nowMs, newId } = around;
  const { accounts, keys, factories, definitions, webhooks, deliveries, runs, answers, replicas } = stores;
  const installation = new Installation(accounts, keys, config, uidKey, newId);
  await installation.verifyKeys(vault);

  const reconciling = reconcilingParts(around);
  const { serving, loops, secrets, secretReader, heartbeat } = reconciling;
  const execution = executionParts(around, secretReader);
  const { disk, engine, repositories } = execution;
  const { eventStreams, instances: runInstances } = runParts(around, execution);
  const { receiver, resends, scheduler } = startParts(around, serving, execution);
  const keyUses = new KeyUses(keys, nowMs);
  const keyService = new KeyService(keys, accounts, { nowMs, newId, random: randomBytes });
  const housekeeping = new Housekeeping(engine, repositories, deliveries, keyUses, answers, stores.sessions, scheduler, log, nowMs, config.identityRetentionDays);
  const addresses = new ClientAddresses(config.trustedProxies);
  const budgets = new Budgets({ requestsPerMinute: config.apiRequestsPerMinute, failuresPerMinute: config.apiFailuresPerMinute }, nowMs);
  const sessions = new Sessions(stores.sessions, config.publicUrl);
  const sessionService = new SessionService(stores.sessions, keys, { lifetimeMs: config.sessionMs, nowMs, newId, random: randomBytes });
  const guard = new AccessGuard(keys, sessions, keyUses, budgets);
  const readiness = new Readiness(() => disk.isLow(), { sandbox: () => engine.means(), agents: async () => [...ownAgents(config), ...(await agentsFound(profiles, config.searchPath))] });
  const app = await createHttp({
    config, log, guard, addresses,
    idempotency: new Idempotency(answers, (fault) => log.fault('the answer to an idempotency key could not be kept', fault)),
    ingress: ingressHandler(receiver, addresses),
    instances: [new Pages(config.publicUrl), new BuiltPage(config.publicUrl, pageFolder), sessions, sessionService, guard, readiness, accounts, keyService, stores.audit, secrets, housekeeping, resends, ...factoryParts(around, reconciling), ...runInstances],
  });

  return {
    config, database, app, installation, factories, keyUses, definitions, webhooks, secrets, runs, serving, loops, engine, scheduler,
    async start() {
      await disk.start();
      if (config.databaseUrl === undefined) await Promise.all([factories.freeAll(), answers.freeAll(), replicas.forgetAll()]); // nobody else can hold one
      await serving.refresh();
      await heartbeat.start();
      await engine.recover();
      await app.listen({ port: config.port, host: config.host, backlog: 4_096 });
      for (const factory of await factories.list(100_000)) await loops.add(factory);
      engine.start();
      await scheduler.ask();
    },
    async stop() {
      readiness.stop();
      eventStreams.end();
      await app.close();
      await heartbeat.stop();
      await keyUses.write().catch((fault: unknown) => log.fault('the uses of keys could not be noted', fault));
      await loops.stop();
      await scheduler.stop();
      await engine.stop();
      disk.stop();
      await database.close();
      lock.release();
    },
  };
}
