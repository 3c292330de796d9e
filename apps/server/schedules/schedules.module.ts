/** Schedules: whose clock starts runs. */
import { Module } from '@nestjs/common';
import { Log } from '../process/log.ts';
import { Scheduler, ScheduleService } from './schedules.service.ts';

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
