/** Builds the whole service from a configuration: the one place that knows every part. Nothing runs until `start`. */
import { randomBytes } from 'node:crypto';
import { pooledRandom } from './random.ts';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { uuidv7Sequence } from '#runs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from './config.ts';
import { lockDataFolder, type DataFolderLock } from './data-folder.ts';
import { FactoryService } from './factories/service.ts';
import { createHttp } from './http/server.ts';
import { DiskWatch } from './ingress/disk.ts';
import { ingressHandler } from './ingress/listener.ts';
import { Receiver } from './ingress/receive.ts';
import { RefusedLog } from './ingress/refused-log.ts';
import { WaitingRuns } from './ingress/waiting-runs.ts';
import { Installation } from './installation.ts';
import { Log } from './log.ts';
import { Engine } from './execution/engine.ts';
import { RunService } from './runs/service.ts';
import { readKeyFile } from './secrets/key-files.ts';
import { SecretReader } from './secrets/reader.ts';
import { SecretService } from './secrets/service.ts';
import { Vault } from './secrets/vault.ts';
import { AccessStore } from './store/access.ts';
import { openDatabase, type Database } from './store/database.ts';
import { DefinitionStore } from './store/definitions.ts';
import { DeliveryStore } from './store/deliveries.ts';
import { FactoryStore } from './store/factories.ts';
import { RunStore } from './store/runs.ts';
import { SecretStore } from './store/secrets.ts';
import { ServingStore } from './store/serving.ts';
import { WebhookStore } from './store/webhooks.ts';
import { SyncLoops } from './sync/loops.ts';
import { forgetGitCache, sourceOpener } from './sync/open-source.ts';
import { Housekeeping } from './housekeeping.ts';
import { Serving } from './webhooks/serving.ts';

/** Everything that runs, for `start`, tests and benchmarks. */
export interface Service {
  config: Config;
  database: Database;
  app: NestFastifyApplication;
  installation: Installation;
  factories: FactoryStore;
  definitions: DefinitionStore;
  webhooks: WebhookStore;
  secrets: SecretService;
  runs: RunStore;
  serving: Serving;
  loops: SyncLoops;
  engine: Engine;
  /** Listens, reconciles, works on runs. */
  start(): Promise<void>;
  /** Stops taking work, ends what is under way in order, closes the database. */
  stop(): Promise<void>;
}

export interface CompositionOptions {
  /** Factories named on the command line: their sources may be local. */
  isTrusted?(slug: string): boolean;
  log?: Log;
  nowMs?: () => number;
}

/** Throws ConfigFaults, KeyFileProblem, DataFolderProblem, SchemaTooNew, WrongKey or StoreFault, each with a message for the operator. */
export async function compose(config: Config, options: CompositionOptions = {}): Promise<Service> {
  const nowMs = options.nowMs ?? Date.now;
  const log = options.log ?? new Log((line) => void process.stderr.write(line), nowMs);
  const lock = await lockDataFolder(config.dataDir);
  try {
    return await build(config, { ...options, log, nowMs }, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function build(config: Config, options: CompositionOptions & { log: Log; nowMs: () => number }, lock: DataFolderLock): Promise<Service> {
  const { log, nowMs } = options;
  const embedded = config.databaseUrl === undefined;
  const masterKey = readKeyFile(config.masterKeyFile ?? join(config.dataDir, 'master-key'), { create: config.masterKeyFile === undefined && embedded, variable: 'MILLWRIGHT_MASTER_KEY_FILE' });
  const uidKey = readKeyFile(config.uidKeyFile ?? join(config.dataDir, 'uid-key'), { create: config.uidKeyFile === undefined && embedded, variable: 'MILLWRIGHT_UID_KEY_FILE' });
  const database = await openDatabase({ url: config.databaseUrl, dataDir: config.dataDir, nowMs });
  try {
    return await assemble(config, options, lock, database, new Vault(masterKey), uidKey, log, nowMs);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function assemble(
  config: Config, options: CompositionOptions, lock: DataFolderLock, database: Database, vault: Vault, uidKey: Uint8Array, log: Log, nowMs: () => number,
): Promise<Service> {
  const nextId = uuidv7Sequence(pooledRandom());
  const newId = (): string => nextId(nowMs());
  const owner = `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`;

  const accounts = new AccessStore(database);
  const factories = new FactoryStore(database);
  const definitions = new DefinitionStore(database);
  const webhooks = new WebhookStore(database);
  const deliveries = new DeliveryStore(database);
  const secretStore = new SecretStore(database);
  const runs = new RunStore(database);
  const installation = new Installation(accounts, config, uidKey, newId);
  await installation.verifyKeys(vault);

  const serving = new Serving(new ServingStore(database), vault, () => performance.now(), (fault, id) => log.fault('a secret cannot be opened', fault, { secret_id: id }));
  const secretReader = new SecretReader(secretStore, vault);
  const disk = new DiskWatch(config.dataDir, config.diskReserveBytes);
  const engine = new Engine({ isDiskLow: () => disk.isLow(), config, runs, deliveries, secrets: secretReader, owner, nowMs, newId, log });
  const loops = new SyncLoops(
    {
      owner, uidKey, factories, definitions, secrets: secretStore, nowMs, newId,
      publish: () => serving.refresh(),
      report: (fault, slug) => log.fault('a pass failed', fault, { factory: slug }),
    },
    { intervalMs: config.syncIntervalMs, isTrusted: ({ slug }) => options.isTrusted?.(slug) ?? false, openSource: sourceOpener(config, secretReader) },
  );

  const secrets = new SecretService(secretStore, definitions, accounts, vault, {
    newId,
    changed: async (uids) => {
      await serving.refresh();
      await Promise.all(uids.map((uid) => loops.ask(uid, 'secret')));
    },
  });
  const runService = new RunService(runs, factories, definitions, accounts, { publicUrl: config.publicUrl, nowMs, newId, wake: () => engine.wake() });
  const factoryService = new FactoryService(factories, definitions, webhooks, deliveries, accounts, loops, {
    uidKey, ingressUrl: config.ingressUrl, allowLocalSources: config.allowLocalSources, newId,
    forgetSource: (uid) => forgetGitCache(config.dataDir, uid).catch((fault: unknown) => log.fault('a git cache cannot be deleted', fault, { factory: uid })),
  });

  const receiver = new Receiver({
    serving, deliveries,
    refusedLog: new RefusedLog(deliveries, nowMs),
    waitingRuns: new WaitingRuns(config.waitingRunsMax, () => runs.waiting(), () => performance.now()),
    isDiskLow: () => disk.isLow(),
    nowMs, newId,
    wake: () => engine.wake(),
    report: (fault) => log.fault('a delivery failed', fault),
  });
  const housekeeping = new Housekeeping(engine, deliveries, log, nowMs, config.identityRetentionDays);
  const app = await createHttp({
    config, log,
    ingress: ingressHandler(receiver, config.trustedProxies),
    instances: [accounts, factories, runService, factoryService, secrets, housekeeping],
  });

  return {
    config, database, app, installation, factories, definitions, webhooks, secrets, runs, serving, loops, engine,
    async start() {
      await disk.start();
      if (config.databaseUrl === undefined) await factories.freeAll(); // nobody else can hold one
      await serving.refresh();
      await engine.recover();
      await app.listen({ port: config.port, host: config.host, backlog: 4_096 });
      for (const factory of await factories.list(100_000)) await loops.add(factory);
      engine.start();
    },
    async stop() {
      await app.close();
      await loops.stop();
      await engine.stop();
      disk.stop();
      await database.close();
      lock.release();
    },
  };
}
