/** The longest stall of the service's event loop under deliveries, and of a bare server beside it. */
import { join } from 'node:path';
import type { Backend, Bench } from '../bench.ts';
import { causedMs, longest, stallsSince, watchedEnvironment, type LoopStall } from '../figures/loop-stalls.ts';
import type { Report } from '../figures/report.ts';
import type { SeededService } from '../seeds/seeded-service.ts';
import { newDriver, repeat, type Driver, type Item, type MinuteRates, type Pair } from './acceptance-rounds.ts';

/** Loads of each item: few enough that nobody waits long for the rates of its webhooks. */
const ROUNDS = { whole: 3, quick: 2 };
/** Behind these code is compiled, and the pace of half a load is known. */
const WARM_LOADS = 2;
const STALL_MS_MAX = 20;

export interface StallsOptions {
  seeded: SeededService;
  rates: MinuteRates;
  /** What is delivered, in turn. */
  items: readonly Item[];
}

type StallReport = Pick<Report, 'aims' | 'remarks'>;

/** What both servers stalled for under one kind of load. */
interface LoadStalls {
  load: string;
  own: readonly LoopStall[];
  bare: readonly LoopStall[];
}

/** Starts the service once more, with a probe, on what is there by now. */
export async function stallsOf(
  bench: Bench,
  backend: Backend,
  { seeded, rates, items }: StallsOptions,
): Promise<StallReport> {
  const folder = bench.folder('stalls');
  const files = { own: join(folder, 'own'), bare: join(folder, 'bare') };
  const service = await seeded.start(watchedEnvironment(files.own));
  const bare = await bench.bare(watchedEnvironment(files.bare));
  const driver = newDriver({ generator: bench.generator(), service, bare, postmaster: undefined, rates });
  const stalls = await underLoads(driver, items, bench.quick ? ROUNDS.quick : ROUNDS.whole, files);
  await service.stop();
  return { aims: stalls.map((one) => aimOf(backend, one)), remarks: stalls.map((one) => remarkOf(backend, one)) };
}

async function underLoads(
  driver: Driver,
  items: readonly Item[],
  rounds: number,
  files: { own: string; bare: string },
): Promise<LoadStalls[]> {
  const paces = new Map<Item, Pair[]>();
  for (const item of items) paces.set(item, await repeat(WARM_LOADS, () => driver.pair(item)));
  const under = async (load: string, one: (item: Item) => Promise<unknown>): Promise<LoadStalls> => {
    const sinceMs = Date.now();
    for (const item of items) await repeat(rounds, () => one(item));
    return { load, own: stallsSince(files.own, sinceMs), bare: stallsSince(files.bare, sinceMs) };
  };
  return [
    await under('half', (item) => driver.half(item, paces.get(item) ?? [])),
    await under('full', (item) => driver.pair(item)),
  ];
}

function aimOf(backend: Backend, { load, own }: LoadStalls): Report['aims'][number] {
  return {
    what: `${backend}: longest stall of the event loop at ${load} load, ms, less what it waited for a processor`,
    wanted: { atMost: STALL_MS_MAX },
    value: longest(own, causedMs),
  };
}

function remarkOf(backend: Backend, { load, own, bare }: LoadStalls): string {
  const words = (stalls: readonly LoopStall[]): string =>
    `${longest(stalls, ({ lateMs }) => lateMs).toFixed(1)} ms in all, ${longest(stalls, causedMs).toFixed(1)} less ` +
    `waiting for a processor, ${longest(stalls, ({ ownMs }) => ownMs).toFixed(1)} of processor time, ` +
    `${stalls.filter((stall) => causedMs(stall) > STALL_MS_MAX).length} above ${STALL_MS_MAX} ms`;
  return `${backend}, longest stalls at ${load} load: ${words(own)}; bare: ${words(bare)}`;
}
