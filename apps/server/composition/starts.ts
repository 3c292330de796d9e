/** The parts that start runs by themselves: deliveries and schedules. */
import { serverAgent } from '../execution/outfits.ts';
import { ResendService } from '../deliveries/resends.ts';
import { Intake } from '../ingress/intake.ts';
import { Receiver } from '../ingress/receive.ts';
import { RefusedLog } from '../ingress/refused-log.ts';
import { Scheduler } from '../schedules/scheduler.ts';
import { ScheduleService } from '../schedules/service.ts';
import type { Serving } from '../webhooks/serving.ts';
import type { ExecutionParts } from './execution.ts';
import type { Surroundings } from './surroundings.ts';

export interface StartParts {
  receiver: Receiver;
  resends: ResendService;
  scheduler: Scheduler;
}

/** Who takes deliveries, also those that are delivered again, and who looks at the clock. */
export function startParts({ config, stores, log, nowMs, newId }: Surroundings, serving: Serving, { engine, news, waitingRuns, disk }: ExecutionParts): StartParts {
  const { deliveries, schedules } = stores;
  const starting = {
    serverAgent: serverAgent(config), waitingRuns, nowMs, newId,
    isDiskLow: () => disk.isLow(),
    wake: () => engine.wake(),
    tell: (runId: string) => news.tell(runId),
  };
  const intake = new Intake({ ...starting, deliveries });
  const receiver = new Receiver({ ...starting, serving, intake, refusedLog: new RefusedLog(deliveries, nowMs), report: (fault) => log.fault('a delivery failed', fault) });
  const resends = new ResendService(stores, { ...starting, serving, intake, publicUrl: config.publicUrl });
  const scheduling = new ScheduleService(schedules, { ...starting, log });
  return { receiver, resends, scheduler: new Scheduler(() => scheduling.look(), (fault) => log.fault('schedules could not be looked at', fault)) };
}
