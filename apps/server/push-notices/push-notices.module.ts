/** Push notices of git hosts: those of a factory are coalesced to one wake-up a second. */
import { Module } from '@nestjs/common';
import { Clock } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { SyncLoops } from '../sync/loops.ts';
import { PushController } from './push-notices.controller.ts';
import { PushNoticeService } from './push-notices.service.ts';
import { PushCoalescer } from './push-coalescer.ts';

@Module({
  controllers: [PushController],
  providers: [
    PushNoticeService,
    {
      provide: PushCoalescer,
      useFactory: (factories: FactoryStore, loops: SyncLoops, clock: Clock, log: Log) =>
        new PushCoalescer(factories, loops, {
          nowMs: () => clock.monotonicMs(),
          later: (ms, act) => void setTimeout(act, ms).unref(),
          report: (fault) => log.fault('push notice failed', fault),
        }),
      inject: [FactoryStore, SyncLoops, Clock, Log],
    },
  ],
})
export class PushNoticesModule {}
