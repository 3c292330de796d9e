/** Who tells processes of waiting runs, by the engine that the operator chose. */
import { createHmac } from 'node:crypto';
import type { Dispatch } from '../execution/engine/dispatch.ts';
import { QueueDispatch } from '../execution/engine/dispatch-queue.ts';
import { TableDispatch } from '../execution/engine/dispatch-tables.ts';
import { OutboxRelay } from '../execution/engine/outbox-relay.ts';
import { RunQueue } from '../execution/engine/run-queue.ts';
import { monotonicMs, type ServiceDeps } from './surroundings.ts';

/** The same fault of the queue is told no more often. */
const FAULT_MS = 60_000;

/** The queue of the engine `bullmq`, and who tells it of runs. */
export interface Queueing {
  queue: RunQueue;
  relay: OutboxRelay;
}

/** Undefined where processes look into the tables themselves. The queue is in the database, or in Redis where the operator names one. */
export function queueingOf({
  config,
  stores: { outbox },
  uidKey,
  log,
  nowMs,
}: Pick<ServiceDeps, 'config' | 'stores' | 'uidKey' | 'log' | 'nowMs'>): Queueing | undefined {
  const { engine, databaseUrl, databaseDirectUrl, redisUrl } = config;
  if (engine === 'embedded' || databaseUrl === undefined) return undefined;
  let toldAtMs = -Infinity;
  const report = (fault: unknown): void => {
    if (monotonicMs() - toldAtMs < FAULT_MS) return;
    toldAtMs = monotonicMs();
    log.fault('the queue of runs has a fault', fault);
  };
  // Of this installation alone: the key is the same in all of its processes, and nobody else's.
  const name = `runs-${createHmac('sha256', uidKey).update('queue of runs').digest('hex').slice(0, 16)}`;
  const queue = new RunQueue({ name, redisUrl, databaseUrl: databaseDirectUrl ?? databaseUrl, report });
  return { queue, relay: new OutboxRelay({ outbox, queue, log, nowMs }) };
}

/** How the engine of this process learns of waiting runs. */
export function dispatchOf(
  { config, stores: { outbox }, log }: Pick<ServiceDeps, 'config' | 'stores' | 'log'>,
  queueing: Queueing | undefined,
): Dispatch {
  if (queueing === undefined) return new TableDispatch(log);
  return new QueueDispatch({
    ...queueing,
    outbox,
    placement: { host: config.workerHost, environments: config.workerEnvironments },
    log,
  });
}
