/** Builds the whole service from a configuration: the one place that knows every part. Nothing runs until `start`. */
import { randomBytes } from 'node:crypto';
import { pooledRandom } from './random.ts';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { uuidv7Sequence, type LaunchProfile } from '#runs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AutomationService } from './automations/service.ts';
import type { Config } from './config.ts';
import { lockDataFolder, type DataFolderLock } from './data-folder.ts';
import { Pages } from './docs/pages.ts';
import { DeliveryService } from './deliveries/service.ts';
import { ExplanationService } from './explanations/service.ts';
import { FilterTestService } from './factories/filter-tests.ts';
import { FactoryHistory } from './factories/history.ts';
import { PlanService } from './factories/plans.ts';
import { PushNoticeService } from './factories/push-notices.ts';
import { PushPace } from './factories/push-pace.ts';
import { FactoryService } from './factories/service.ts';
import { FactoryFileService } from './factory-files/service.ts';
import { AccessGuard } from './http/access.ts';
import { Budgets } from './http/budgets.ts';
import { ClientAddresses } from './http/client-addresses.ts';
import { Readiness } from './http/health.ts';
import { Idempotency } from './http/idempotency.ts';
import { createHttp } from './http/server.ts';
import { DiskWatch } from './ingress/disk.ts';
import { ingressHandler } from './ingress/listener.ts';
import { Receiver } from './ingress/receive.ts';
import { RefusedLog } from './ingress/refused-log.ts';
import { WaitingRuns } from './ingress/waiting-runs.ts';
import { Installation } from './installation.ts';
import { Log } from './log.ts';
import { BUILT_IN_AGENT, profileOf, type BuiltInAgent } from './execution/agents.ts';
import { Engine } from './execution/engine.ts';
import { Environments } from './execution/environments.ts';
import { Repositories } from './execution/repositories.ts';
import { readProfiles } from './execution/profile-file.ts';
import { harnessOf, serverAgent } from './execution/outfits.ts';
import { agentsFound, ownAgents } from './execution/profiles.ts';
import { Skills } from './execution/skills.ts';
import { KeyService } from './keys/service.ts';
import { KeyUses } from './keys/uses.ts';
import { ArtifactService } from './runs/artifacts.ts';
import { CatalogueService } from './runs/catalogue.ts';
import { EventStreams } from './runs/event-streams.ts';
import { HistoryService } from './runs/histories.ts';
import { RunListing } from './runs/listing.ts';
import { RunNews } from './runs/news.ts';
import { RunItems } from './runs/run-items.ts';
import { PermissionService } from './runs/permissions-service.ts';
import { RunService } from './runs/service.ts';
import { Scheduler } from './schedules/scheduler.ts';
import { ScheduleService } from './schedules/service.ts';
import { readKeyFile } from './secrets/key-files.ts';
import { SecretReader } from './secrets/reader.ts';
import { SecretService } from './secrets/service.ts';
import { SecretFingerprints } from './secrets/fingerprints.ts';
import { Vault } from './secrets/vault.ts';
import { AccessStore } from './store/access.ts';
import { ArtifactStore } from './store/artifacts.ts';
import { AttachmentStore } from './store/attachments.ts';
import { AuditStore } from './store/audit.ts';
import { CatalogueStore } from './store/catalogue.ts';
import { openDatabase, type Database } from './store/database.ts';
import { DefinitionStore } from './store/definitions.ts';
import { DeliveryStore } from './store/deliveries.ts';
import { ExplanationStore } from './store/explanations.ts';
import { EventStore } from './store/events.ts';
import { FactoryStore } from './store/factories.ts';
import { IdempotencyStore } from './store/idempotency.ts';
import { InventoryStore } from './store/inventory.ts';
import { KeyStore } from './store/keys.ts';
import { ReplicaStore } from './store/replicas.ts';
import { ResourceStore } from './store/resource-files.ts';
import { RevisionStore } from './store/revisions.ts';
import { PermissionStore } from './store/permissions.ts';
import { RunHistoryStore } from './store/run-history.ts';
import { RunLists } from './store/run-lists.ts';
import { RunStore } from './store/runs.ts';
import { ScheduleStore } from './store/schedules.ts';
import { SecretStore } from './store/secrets.ts';
import { ServingStore } from './store/serving.ts';
import { WebhookStore } from './store/webhooks.ts';
import { AutomationStore } from './store/automations.ts';
import { DefinitionEditStore } from './store/definition-edits.ts';
import { TrafficStore } from './store/traffic.ts';
import { SyncLoops } from './sync/loops.ts';
import { forgetGitCache, sourceOpener } from './sync/open-source.ts';
import { Housekeeping } from './housekeeping.ts';
import { Heartbeat } from './webhooks/heartbeat.ts';
import { WebhookService } from './webhooks/service.ts';
import { Serving } from './webhooks/serving.ts';

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
    return await assemble(config, options, lock, database, new Vault(masterKey), uidKey, log, nowMs);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function assemble(
  config: Config, options: Options, lock: DataFolderLock, database: Database, vault: Vault, uidKey: Uint8Array, log: Log, nowMs: () => number,
): Promise<Service> {
  const nextId = uuidv7Sequence(pooledRandom());
  const newId = (): string => nextId(nowMs());
  const owner = `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`;

  const accounts = new AccessStore(database);
  const keys = new KeyStore(database);
  const keyUses = new KeyUses(keys, nowMs);
  const factories = new FactoryStore(database);
  const definitions = new DefinitionStore(database);
  const webhooks = new WebhookStore(database);
  const deliveries = new DeliveryStore(database);
  const secretStore = new SecretStore(database);
  const runs = new RunStore(database);
  const histories = new RunHistoryStore(database);
  const artifacts = new ArtifactStore(database);
  const permissions = new PermissionStore(database);
  const news = new RunNews();
  const installation = new Installation(accounts, keys, config, uidKey, newId);
  await installation.verifyKeys(vault);

  const serving = new Serving(new ServingStore(database), vault, () => performance.now(), (fault, id) => log.fault('a secret cannot be opened', fault, { secret_id: id }));
  const secretReader = new SecretReader(secretStore, vault);
  const disk = new DiskWatch(config.dataDir, config.diskReserveBytes);
  const resources = new ResourceStore(database);
  const repositories = new Repositories({ config, nowMs, isDiskLow: () => disk.isLowNow() });
  const reading = { config, factories, secrets: secretReader };
  const builtInAgent = options.builtInAgent ?? BUILT_IN_AGENT;
  const engine = new Engine({
    builtInAgent, profiles: options.profiles, environments: new Environments({ ...reading, resources, repositories }), skills: new Skills({ ...reading, resources, repositories }),
    isDiskLow: () => disk.isLow(), relieveOfRepositories: () => repositories.relieve(), config, runs, deliveries, attachments: new AttachmentStore(database), artifacts, permissions, histories, secrets: secretReader, owner, nowMs, newId, log,
    tell: (runId) => news.tell(runId),
  });
  const waitingRuns = new WaitingRuns(config.waitingRunsMax, () => runs.waiting(), () => performance.now());
  const ground = { uidKey, factories, definitions, secrets: secretStore };
  const loops = new SyncLoops(
    {
      owner, ...ground, nowMs, newId,
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
  const runItems = new RunItems(accounts, artifacts, runs, config.publicUrl, () => performance.now());
  const runService = new RunService(runs, histories, factories, definitions, runItems, {
    publicUrl: config.publicUrl, serverAgent: serverAgent(config), nowMs, newId, waitingRuns,
    wake: () => engine.wake(),
    tell: (runId) => news.tell(runId),
    freePlaces: () => engine.freePlaces(),
    takesPromptsInTurn: (agentConfig) => profileOf(harnessOf(agentConfig), builtInAgent, options.profiles)?.concurrentPrompt === true,
    isDiskLow: () => disk.isLow(),
  });
  const eventStreams = new EventStreams(runs, news, () => performance.now());
  const told = [
    eventStreams, new HistoryService(runs, histories), new ArtifactService(artifacts, config.publicUrl), new CatalogueService(new CatalogueStore(database), config.models),
    new RunListing(new RunLists(database), runs, runItems),
    new PermissionService(runs, permissions, { newId, changed: (runId) => [engine.wake(), news.tell(runId)] }),
  ];
  const events = new EventStore(database);
  const replicas = new ReplicaStore(database);
  const heartbeat = new Heartbeat(replicas, serving, owner, () => performance.now(), (fault) => log.fault('that this process serves could not be noted', fault));
  const keyService = new KeyService(keys, accounts, { nowMs, newId, random: randomBytes });
  const factoryService = new FactoryService({ factories, definitions, inventory: new InventoryStore(database), events }, loops, {
    uidKey, allowLocalSources: config.allowLocalSources, newId,
    forgetSource: (uid) => forgetGitCache(config.dataDir, uid).catch((fault: unknown) => log.fault('a git cache cannot be deleted', fault, { factory: uid })),
  });

  const pushPace = new PushPace(factories, loops, {
    nowMs: () => performance.now(),
    later: (ms, act) => void setTimeout(act, ms).unref(),
    report: (fault) => log.fault('a push notice could not wake its factory', fault),
  });
  const pushNotices = new PushNoticeService(factories, secretReader, pushPace, {
    nowMs,
    warn: (slug) => log.warn('push notices are refused: the secret that source.push_secret names has no value of eight bytes or more, or is not granted for the use forge', { factory: slug }),
  });

  const automations = new AutomationStore(database);
  const schedules = new ScheduleStore(database);
  const edits = new DefinitionEditStore(database);
  const editing = {
    uidKey, newId,
    // What is committed is committed: memory that could not follow is found out by the next delivery.
    changed: () => serving.refresh().catch((fault: unknown) => log.fault('the serving state could not be read', fault)),
  };
  const webhookService = new WebhookService(factories, webhooks, automations, edits, {
    ...editing, ingressUrl: config.ingressUrl, random: () => randomBytes(32), sealing: (value) => secrets.sealing(value),
  });
  const automationService = new AutomationService(factories, automations, schedules, webhooks, edits, { ...editing, nowMs });

  const receiver = new Receiver({
    serving, deliveries,
    refusedLog: new RefusedLog(deliveries, nowMs),
    waitingRuns,
    serverAgent: serverAgent(config),
    isDiskLow: () => disk.isLow(),
    nowMs, newId,
    wake: () => engine.wake(),
    tell: (runId) => news.tell(runId),
    report: (fault) => log.fault('a delivery failed', fault),
  });
  const scheduling = new ScheduleService(schedules, {
    serverAgent: serverAgent(config), waitingRuns, isDiskLow: () => disk.isLow(), nowMs, newId, wake: () => engine.wake(), tell: (runId) => news.tell(runId), log,
  });
  const scheduler = new Scheduler(() => scheduling.look(), (fault) => log.fault('schedules could not be looked at', fault));
  const answers = new IdempotencyStore(database);
  const housekeeping = new Housekeeping(engine, repositories, deliveries, keyUses, answers, scheduler, log, nowMs, config.identityRetentionDays);
  const addresses = new ClientAddresses(config.trustedProxies);
  const budgets = new Budgets({ requestsPerMinute: config.apiRequestsPerMinute, failuresPerMinute: config.apiFailuresPerMinute }, nowMs);
  const guard = new AccessGuard(keys, keyUses, budgets);
  const readiness = new Readiness(() => disk.isLow(), { sandbox: () => engine.means(), agents: async () => [...ownAgents(config), ...(await agentsFound(options.profiles, config.searchPath))] });
  const app = await createHttp({
    config, log, guard, addresses,
    idempotency: new Idempotency(answers, (fault) => log.fault('the answer to an idempotency key could not be kept', fault)),
    ingress: ingressHandler(receiver, addresses),
    instances: [new Pages(config.publicUrl), guard, readiness, accounts, keyService, new AuditStore(database), factories, runService, ...told, factoryService, new FactoryHistory(factories, events, new RevisionStore(database), replicas), pushNotices, new PlanService(ground, { traffic: new TrafficStore(database), deliveries, fingerprints: new SecretFingerprints(secretStore, vault, uidKey), nowMs }, config.ingressUrl), new FilterTestService(factories, definitions, deliveries),
      new DeliveryService(factories, webhooks, deliveries, config), new ExplanationService({ explanations: new ExplanationStore(database), deliveries, runs, runItems, factories }), new FactoryFileService(config.publicUrl), webhookService, automationService, secrets, housekeeping],
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
