/** The HTTP application: which controllers there are and what they are given. Everything is built in `compose.ts`; modules hold only arrays. */
import { Module, type DynamicModule, type InjectionToken } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { FactoryController } from './factories/controller.ts';
import { AccessGuard } from './http/access.ts';
import { HealthController } from './http/health.ts';
import { UnknownRouteController } from './http/unknown-routes.ts';
import { RunController } from './runs/controller.ts';
import { FactorySecretController, TeamSecretController } from './secrets/controller.ts';

@Module({})
export class AppModule {
  /** `instances`: what controllers and the guard are given, each under its own class. */
  static of(instances: readonly object[]): DynamicModule {
    return {
      module: AppModule,
      imports: [ScheduleModule.forRoot()],
      controllers: [HealthController, RunController, FactoryController, TeamSecretController, FactorySecretController, UnknownRouteController],
      providers: [AccessGuard, ...instances.map((instance) => ({ provide: instance.constructor as InjectionToken, useValue: instance }))],
    };
  }
}
