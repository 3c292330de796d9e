/** What a process is given from outside, and what it knows of its machine. */
import { Global, Module, type DynamicModule, type InjectionToken } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { DatabaseFreeSpace } from '../store/database/sqlite.ts';
import { DiskWatch } from './disk-watch.ts';
import { CONFIG } from './injection-tokens.ts';

@Global()
@Module({})
export class ProcessModule {
  /** `values`: what was made before there was any module, each under its token. Tests give others. */
  static with(values: ReadonlyMap<InjectionToken, unknown>): DynamicModule {
    return {
      module: ProcessModule,
      providers: [
        ...[...values].map(([provide, useValue]) => ({ provide, useValue })),
        {
          provide: DiskWatch,
          useFactory: ({ dataDir, diskReserveBytes }: Config, space: DatabaseFreeSpace) =>
            new DiskWatch(dataDir, diskReserveBytes, () => space.reusableBytes()),
          inject: [CONFIG, DatabaseFreeSpace],
        },
      ],
      exports: [...values.keys(), DiskWatch],
    };
  }
}
