/** The parts that follow repositories, and those that serve what came of it. */
import { SecretReader } from '../secrets/reader.ts';
import { SecretService } from '../secrets/service.ts';
import { SyncLoops } from '../sync/loops.ts';
import { sourceOpener } from '../sync/open-source.ts';
import { Heartbeat } from '../webhooks/heartbeat.ts';
import { Serving } from '../webhooks/serving.ts';
import { monotonicMs, type Surroundings } from './surroundings.ts';

export type ReconcilingParts = ReturnType<typeof reconcilingParts>;

/** Loops and the state that deliveries are judged by; a secret that changes concerns both. */
export function reconcilingParts({ config, stores, vault, uidKey, isTrusted, owner, log, nowMs, newId }: Surroundings) {
  const { factories, definitions, accounts } = stores;
  const serving = new Serving(stores.serving, vault, monotonicMs, (fault, id) => log.fault('a secret cannot be opened', fault, { secret_id: id }));
  const secretReader = new SecretReader(stores.secrets, vault);
  const ground = { uidKey, factories, definitions, secrets: stores.secrets };
  const loops = new SyncLoops(
    {
      owner, ...ground, nowMs, newId,
      publish: () => serving.refresh(),
      report: (fault, slug) => log.fault('a pass failed', fault, { factory: slug }),
    },
    { intervalMs: config.syncIntervalMs, isTrusted: ({ slug }) => isTrusted(slug), openSource: sourceOpener(config, secretReader) },
  );
  const secrets = new SecretService(stores.secrets, definitions, accounts, vault, {
    newId,
    changed: async (uids) => {
      await serving.refresh();
      await Promise.all(uids.map((uid) => loops.ask(uid, 'secret')));
    },
  });
  const heartbeat = new Heartbeat(stores.replicas, serving, owner, monotonicMs, (fault) => log.fault('that this process serves could not be noted', fault));
  return { serving, secretReader, ground, loops, secrets, heartbeat };
}
