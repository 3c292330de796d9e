/** The parts that follow repositories, and those that serve what came of it. */
import type { ProcessRole } from '../config/config.ts';
import { programVersion } from '../process/program-version.ts';
import type { SecretReader } from '../secrets/secret-reader.ts';
import { SecretService } from '../secrets/secrets.service.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { SyncLoops } from '../sync/loops.ts';
import { forgetGitCache, sourceOpener } from '../sync/sources/registry.ts';
import { FactoryAssignments } from '../sync/factory-assignments.ts';
import { Heartbeat } from '../webhooks/heartbeat.ts';
import { Serving } from '../webhooks/serving-state.ts';
import { monotonicMs, type ServiceDeps } from './surroundings.ts';

export type ReconcilingParts = ReturnType<typeof reconcilingParts>;

/** Deliveries are judged by it, also those that are delivered again. */
const SERVING_ROLES: readonly ProcessRole[] = ['ingress', 'api'];

/** Memory of what serves; none in a process that judges no deliveries. */
export function servingOf({ config, stores, vault, notices, log }: ServiceDeps): Serving | undefined {
  if (!SERVING_ROLES.some((role) => config.roles.has(role))) return undefined;
  const serving = new Serving(stores.serving, vault, monotonicMs, (fault, id) =>
    log.fault('a secret cannot be opened', fault, { secret_id: id }),
  );
  notices.subscribe(
    'serving',
    () => void serving.refresh().catch((fault: unknown) => log.fault('what serves could not be looked at', fault)),
  );
  return serving;
}

/** What tells the others that this process lives, and what it has loaded. */
export function heartbeatOf(
  { config, stores: { replicas }, owner, pollIntervals, log }: ServiceDeps,
  serving: Serving | undefined,
): Heartbeat {
  const me = { owner, version: programVersion(), roles: [...config.roles], host: config.workerHost };
  return new Heartbeat({
    replicas,
    me,
    serving,
    monotonicMs,
    lookMs: pollIntervals.servingMs,
    report: (fault) => log.fault('that this process lives could not be noted', fault),
  });
}

/** Loops of factories, here or elsewhere, and secrets, whose changes concern them. */
export function reconcilingParts(around: ServiceDeps, serving: Serving | undefined, secretReader: SecretReader) {
  const { config, stores, vault, uidKey, isTrusted, owner, notices, log, nowMs, newId } = around;
  const { factories, definitions, accounts } = stores;
  const ground = { uidKey, factories, definitions, secrets: stores.secrets };
  /** What was committed serves here when this ends, and elsewhere at once or at the next look. */
  const publish = async (): Promise<void> => {
    notices.publish('serving');
    await serving?.refresh();
  };
  const loops = new SyncLoops(
    {
      owner,
      ...ground,
      nowMs,
      newId,
      publish,
      report: (fault, slug) => log.fault('a pass failed', fault, { factory: slug }),
    },
    notices,
    {
      intervalMs: config.syncIntervalMs,
      follows: followed(around),
      isTrusted: ({ slug }) => isTrusted(slug),
      openSource: sourceOpener(config, secretReader),
    },
  );
  const secrets = new SecretService(stores.secrets, definitions, accounts, vault, {
    newId,
    changed: async (uids) => {
      await publish();
      await Promise.all(uids.map((uid) => loops.ask(uid, 'secret')));
    },
  });
  return {
    secretReader,
    ground,
    publish,
    loops,
    roster: config.roles.has('sync') ? rosterOf(around, loops) : undefined,
    secrets,
  };
}

/** Folders are of one machine: where several processes share a database, one is followed where the operator named it or allows them all. */
function followed({ config, isTrusted }: ServiceDeps): (factory: Factory) => boolean {
  if (!config.roles.has('sync')) return () => false;
  return ({ slug, source }) =>
    source.kind !== 'directory' || config.databaseUrl === undefined || config.allowLocalSources || isTrusted(slug);
}

function rosterOf(
  { config, stores: { factories }, notices, pollIntervals, log }: ServiceDeps,
  loops: SyncLoops,
): FactoryAssignments {
  return new FactoryAssignments({
    factories,
    loops,
    notices,
    forgetSource: (uid) =>
      forgetGitCache(config.dataDir, uid).catch((fault: unknown) =>
        log.fault('a git cache cannot be deleted', fault, { factory: uid }),
      ),
    report: (fault) => log.fault('the factories that there are could not be looked at', fault),
    lookMs: config.databaseUrl === undefined ? undefined : (pollIntervals.factoriesMs ?? 'usual'),
  });
}
