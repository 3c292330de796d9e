/** Removes what is old, as long as the operator said that it is kept. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { Clock, CONFIG, DATABASE, ProcessIdentity } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import type { Database } from '../store/database/database.ts';
import { auditSweep, historySweep } from '../store/retention/history-sweeps.ts';
import { deliverySweep } from '../store/retention/delivery-sweeps.ts';
import { identitySweep, sharedIdentitySweep } from '../store/retention/identity-sweeps.ts';
import { artifactSweep, eventSweep, snapshotSweep } from '../store/retention/run-sweeps.ts';
import { SweepStore, type Sweep } from '../store/retention/sweeps.ts';
import { Sweeper } from './sweeper.ts';

/** What one transaction may take: SQLite has one writer, so deliveries wait this long; PostgreSQL blocks nobody. */
const STEP_MS = { sqlite: 8, postgres: 50 } as const;

/** Sweeps of this process; those of the delivery log and of snapshots always, the others where a time was set. */
function sweepsOf(config: Config, dialect: Database['dialect']): Sweep[] {
  const where = (days: number | undefined, sweep: (days: number) => Sweep): Sweep[] =>
    days === undefined ? [] : [sweep(days)];
  return [
    deliverySweep(),
    snapshotSweep(),
    ...where(config.identityRetentionDays, identitySweep),
    ...where(dialect === 'postgres' ? config.identityRetentionDays : undefined, sharedIdentitySweep),
    ...where(config.eventRetentionDays, (days) => eventSweep(days, dialect)),
    ...where(config.artifactRetentionDays, (days) => artifactSweep(days, dialect)),
    ...where(config.historyRetentionDays, historySweep),
    ...where(config.auditRetentionDays, auditSweep),
  ];
}

@Module({
  providers: [
    {
      provide: Sweeper,
      useFactory: (database: Database, config: Config, { owner }: ProcessIdentity, clock: Clock, log: Log) =>
        new Sweeper(new SweepStore(database, owner), sweepsOf(config, database.dialect), {
          stepMs: STEP_MS[database.dialect],
          monotonicMs: () => clock.monotonicMs(),
          pause: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
          report: (fault, name) => log.fault('retention sweep failed', fault, { sweep: name }),
        }),
      inject: [DATABASE, CONFIG, ProcessIdentity, Clock, Log],
    },
  ],
  exports: [Sweeper],
})
export class RetentionModule {}
