/** The HTTP application: which controllers there are and what they are given. Everything is built in `compose.ts`; modules hold only arrays. */
import { Module, type DynamicModule, type InjectionToken, type Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';

@Module({})
export class AppModule {
  /** `instances`: what controllers are given, each under its own class. */
  static of(controllers: Type[], instances: readonly object[]): DynamicModule {
    return {
      module: AppModule,
      imports: [ScheduleModule.forRoot()],
      controllers,
      providers: instances.map((instance) => ({ provide: instance.constructor as InjectionToken, useValue: instance })),
    };
  }
}
