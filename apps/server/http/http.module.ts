/** What stands before every route of the API: who asks, from where, how often, and whether it was asked before. */
import { Global, Module } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { Clock, CONFIG } from '../process/injection-tokens.ts';
import { Metrics } from '../process/metrics.ts';
import { AccessGuard } from './access-guard.ts';
import { Budgets } from './budgets.ts';
import { ClientAddresses } from './requests.ts';
import { Idempotency } from './idempotency.ts';
import { UnfinishedBodies } from './unfinished-bodies.ts';

@Global()
@Module({
  providers: [
    AccessGuard,
    Idempotency,
    {
      provide: ClientAddresses,
      useFactory: ({ trustedProxies }: Config) => new ClientAddresses(trustedProxies),
      inject: [CONFIG],
    },
    {
      provide: UnfinishedBodies,
      useFactory: (metrics: Metrics) => new UnfinishedBodies(metrics),
      inject: [Metrics],
    },
    {
      // Requests and failures are counted in this process.
      provide: Budgets,
      useFactory: ({ apiRequestsPerMinute, apiFailuresPerMinute }: Config, clock: Clock) =>
        new Budgets({ requestsPerMinute: apiRequestsPerMinute, failuresPerMinute: apiFailuresPerMinute }, () =>
          clock.nowMs(),
        ),
      inject: [CONFIG, Clock],
    },
  ],
  exports: [AccessGuard, ClientAddresses, UnfinishedBodies],
})
export class HttpModule {}
