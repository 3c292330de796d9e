/** The parts that start runs by themselves: deliveries and schedules. */
import { serverAgent } from '../execution/preparation/execution-spec.ts';
import { ResendService } from '../deliveries/resends.service.ts';
import { DeliveryAcceptor } from '../ingress/delivery-acceptor.ts';
import { DeliveryReceiver } from '../ingress/delivery-receiver.ts';
import { RefusedLog } from '../ingress/refused-delivery-log.ts';
import { Scheduler } from '../schedules/scheduler.ts';
import { ScheduleService } from '../schedules/schedules.service.ts';
import type { Serving } from '../webhooks/serving-state.ts';
import type { RunDeps } from './execution.ts';
import type { ServiceDeps } from './surroundings.ts';

export interface StartParts {
  /** Who takes deliveries, and those that are delivered again; absent where none are judged. */
  intake?: { receiver: DeliveryReceiver; resends: ResendService };
  /** Who looks at the clock; absent where others do. */
  scheduler?: Scheduler;
}

/** What of this a process has is a matter of its roles. */
export function startParts(around: ServiceDeps, ground: RunDeps, serving: Serving | undefined): StartParts {
  const { disk, waitingRuns, wake, tell } = ground;
  const starting = {
    serverAgent: serverAgent(around.config),
    waitingRuns,
    wake,
    tell,
    isDiskLow: () => disk.isLow(),
    nowMs: around.nowMs,
    newId: around.newId,
  };
  return {
    intake: serving === undefined ? undefined : intakeParts(around, starting, serving),
    scheduler: around.config.roles.has('sync') ? schedulerOf(around, starting) : undefined,
  };
}

type Starting = Omit<ConstructorParameters<typeof ScheduleService>[1], 'log'>;

function intakeParts(
  { config, stores, log, nowMs }: ServiceDeps,
  starting: Starting,
  serving: Serving,
): NonNullable<StartParts['intake']> {
  const intake = new DeliveryAcceptor({
    ...starting,
    deliveries: stores.deliveries,
    definitionsOf: (webhook, uids) => serving.definitionsOf(webhook, uids),
  });
  return {
    receiver: new DeliveryReceiver({
      ...starting,
      serving,
      intake,
      refusedLog: new RefusedLog(stores.deliveries, nowMs),
      report: (fault) => log.fault('a delivery failed', fault),
    }),
    resends: new ResendService(stores, { ...starting, serving, intake, publicUrl: config.publicUrl }),
  };
}

function schedulerOf({ stores: { schedules }, log }: ServiceDeps, starting: Starting): Scheduler {
  const scheduling = new ScheduleService(schedules, { ...starting, log });
  return new Scheduler(
    () => scheduling.look(),
    (fault) => log.fault('schedules could not be looked at', fault),
  );
}
