/** Schedules: what people make of them, and whose clock starts runs. */
import { Module } from '@nestjs/common';
import { Log } from '../process/log.ts';
import { ScheduledAgentService } from './scheduled-agents.service.ts';
import { ScheduleController } from './schedules.controller.ts';
import { Scheduler, ScheduleService } from './schedules.service.ts';

/** The part of the API. */
@Module({ controllers: [ScheduleController], providers: [ScheduledAgentService] })
export class ScheduledAgentsModule {}

@Module({
  providers: [
    ScheduleService,
    {
      provide: Scheduler,
      useFactory: (schedules: ScheduleService, log: Log) =>
        new Scheduler(
          () => schedules.poll(),
          (fault) => log.fault('schedule poll failed', fault),
        ),
      inject: [ScheduleService, Log],
    },
  ],
  exports: [Scheduler],
})
export class SchedulesModule {}
