/** What is read of the database and of the parts of this process when somebody asks for figures. contract §1.7. */
import { Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { Engine } from '../execution/engine/engine.ts';
import { DiskWatch } from '../process/disk-watch.ts';
import { Metrics, type MetricReading } from '../process/metrics.ts';
import { programVersion } from '../store/database/migrations.ts';
import { InstallationFigureStore, type FactoryConditions } from '../store/reports/installation-figures.ts';
import { CachedRead } from './cached-read.ts';

/** What the database says is as old as this at most, however often somebody asks. */
const READ_EVERY_MS = 5_000;

/** Conditions that are well when they are True; the others are when they are False. */
const WELL_WHEN_TRUE: ReadonlySet<string> = new Set(['Ready']);
/** A pass that is under way is no fault. */
const NO_FAULTS: ReadonlySet<string> = new Set(['Reconciling']);

@Injectable()
export class InstallationFigures implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly store: InstallationFigureStore,
    private readonly disk: DiskWatch,
    @Optional() private readonly engine?: Engine,
  ) {}

  onModuleInit(): void {
    const { metrics, store, disk } = this;
    const runs = new CachedRead(READ_EVERY_MS, () => store.liveRuns());
    const conditions = new CachedRead(READ_EVERY_MS, () => store.conditions());
    const size = new CachedRead(READ_EVERY_MS, () => store.sizeBytes());
    metrics.set('millwright_build_info', 1, { version: programVersion() });
    metrics.read('millwright_runs', async () => {
      const { byState } = await runs.get();
      const states = ['QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED'] as const;
      return states.map((state) => ({ labels: { state }, value: byState.get(state) ?? 0 }));
    });
    metrics.read('millwright_run_queue_oldest_age_seconds', async () => [
      { value: ((await runs.get()).oldestWaitMs ?? 0) / 1_000 },
    ]);
    metrics.read('millwright_factories', async () => factoriesByCondition(await conditions.get()));
    metrics.read('millwright_factory_fault', async () => factoryFaults(await conditions.get()));
    metrics.read('millwright_database_size_bytes', async () => [{ value: await size.get() }]);
    metrics.read('millwright_disk_room_bytes', () => [{ value: disk.roomBytes }]);
    metrics.read('millwright_engine_info', () => this.engineInfo());
    metrics.read('millwright_execution_slots', () => this.slots());
  }

  private async engineInfo(): Promise<MetricReading[]> {
    if (this.engine === undefined) return [];
    const { kind } = await this.engine.isolation();
    return [{ labels: { engine: this.engine.name, isolation: kind }, value: 1 }];
  }

  private slots(): MetricReading[] {
    const { busy, free, parked } = this.engine?.occupancy() ?? { busy: 0, free: 0, parked: 0 };
    return Object.entries({ busy, free, parked }).map(([state, value]) => ({ labels: { state }, value }));
  }
}

export function factoriesByCondition(factories: readonly FactoryConditions[]): MetricReading[] {
  return factories.flatMap(({ conditions }) =>
    Object.entries(conditions).map(([condition, status]) => ({ labels: { condition, status }, value: 1 })),
  );
}

/** A suspended factory is left alone by its operator. */
export function factoryFaults(factories: readonly FactoryConditions[]): MetricReading[] {
  return factories
    .filter(({ suspended }) => !suspended)
    .flatMap(({ slug, conditions }) =>
      Object.entries(conditions)
        .filter(([condition, status]) => isFault(condition, status))
        .map(([condition, status]) => ({ labels: { factory: slug, condition, status }, value: 1 })),
    );
}

function isFault(condition: string, status: string): boolean {
  return !NO_FAULTS.has(condition) && status !== (WELL_WHEN_TRUE.has(condition) ? 'True' : 'False');
}
