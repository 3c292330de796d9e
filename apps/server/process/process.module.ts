/** What a process is given from outside. */
import { Global, Module, type DynamicModule, type InjectionToken } from '@nestjs/common';

@Global()
@Module({})
export class ProcessModule {
  /** `values`: what was made before there was any module, each under its token. Tests give others. */
  static with(values: ReadonlyMap<InjectionToken, unknown>): DynamicModule {
    return {
      module: ProcessModule,
      providers: [...values].map(([provide, useValue]) => ({ provide, useValue })),
      exports: [...values.keys()],
    };
  }
}
