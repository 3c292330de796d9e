/** The part that forgets what is old, and what the operator said of how long it is kept. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { auditSweep, historySweep } from '../store/retention/history-sweeps.ts';
import { deliverySweep, identitySweep } from '../store/retention/delivery-sweeps.ts';
import { artifactSweep, eventSweep } from '../store/retention/run-sweeps.ts';
import type { Database } from '../store/database/database.ts';
import { type Sweep, SweepStore } from '../store/retention/sweeps.ts';
import { Sweeper } from '../retention/sweeper.ts';
import { monotonicMs, type ServiceDeps } from './surroundings.ts';

/** What one transaction may take: on SQLite deliveries wait as long, on PostgreSQL nobody does. */
const STEP_MS = { sqlite: 8, postgres: 50 } as const;

/** Sweeps of this process; the delivery log's always, the others where a time was set. */
export function sweeperOf(
  database: Database,
  { config, owner, log }: Pick<ServiceDeps, 'config' | 'owner' | 'log'>,
): Sweeper {
  return new Sweeper(new SweepStore(database, owner), sweepsOf(config, database.dialect), {
    stepMs: STEP_MS[database.dialect],
    monotonicMs,
    pause: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
    report: (fault, name) => log.fault('what is old could not be removed', fault, { sweep: name }),
  });
}

type Retention = Pick<
  Config,
  | 'identityRetentionDays'
  | 'eventRetentionDays'
  | 'artifactRetentionDays'
  | 'historyRetentionDays'
  | 'auditRetentionDays'
>;

function sweepsOf(
  {
    identityRetentionDays,
    eventRetentionDays,
    artifactRetentionDays,
    historyRetentionDays,
    auditRetentionDays,
  }: Retention,
  dialect: Database['dialect'],
): Sweep[] {
  const where = (days: number | undefined, sweep: (days: number) => Sweep): Sweep[] =>
    days === undefined ? [] : [sweep(days)];
  return [
    deliverySweep(),
    ...where(identityRetentionDays, identitySweep),
    ...where(eventRetentionDays, (days) => eventSweep(days, dialect)),
    ...where(artifactRetentionDays, (days) => artifactSweep(days, dialect)),
    ...where(historyRetentionDays, historySweep),
    ...where(auditRetentionDays, auditSweep),
  ];
}
