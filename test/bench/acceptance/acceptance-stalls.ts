/** The longest stall of the service's event loop under deliveries, and of a bare server beside it. */
import { join } from 'node:path';
import type { Backend, Bench } from '../bench.ts';
import { causedMs, longest, stallsSince, watchedEnvironment, type LoopStall } from '../figures/loop-stalls.ts';
import type { Report } from '../figures/report.ts';
import type { SeededService } from '../seeds/seeded-service.ts';
import { newDriver, type Driver, type Item, type MinuteRates } from './acceptance-rounds.ts';

/** Loads of each kind: together the better part of a minute. */
const LOADS = { whole: 15, quick: 2 };
/** Loads behind which code is compiled, and the pace is known. */
const FIRST_LOADS = { whole: 5, quick: 2 };
const STALL_MS_MAX = 20;

export interface StallsInput {
  seeded: SeededService;
  rates: MinuteRates;
  item: Item;
}

/** What both servers stalled for during one kind of load. */
interface Watched {
  what: string;
  own: readonly LoopStall[];
  bare: readonly LoopStall[];
}

/** Starts the service once more, with a probe, on what is there by now. */
export async function stallsOf(
  bench: Bench,
  backend: Backend,
  { seeded, rates, item }: StallsInput,
): Promise<Pick<Report, 'aims' | 'remarks'>> {
  const folder = bench.folder('stalls');
  const files = { own: join(folder, 'own'), bare: join(folder, 'bare') };
  const service = await seeded.start(watchedEnvironment(files.own));
  const bare = await bench.bare(watchedEnvironment(files.bare));
  const driver = newDriver({ generator: bench.generator(), service, bare, postmaster: undefined, rates });
  const stalls = await during(bench, driver, item, files);
  await service.stop();
  return { aims: stalls.map((one) => aimOf(backend, item, one)), remarks: stalls.map((one) => remarkOf(backend, one)) };
}

async function during(bench: Bench, driver: Driver, item: Item, files: { own: string; bare: string }) {
  const [loads, first] = bench.quick ? [LOADS.quick, FIRST_LOADS.quick] : [LOADS.whole, FIRST_LOADS.whole];
  const pairs = await inTurn(first, () => driver.pair(item));
  const watched = async (what: string, load: () => Promise<unknown>): Promise<Watched> => {
    const sinceMs = Date.now();
    await inTurn(loads, load);
    return { what, own: stallsSince(files.own, sinceMs), bare: stallsSince(files.bare, sinceMs) };
  };
  return [
    await watched('at half load', () => driver.half(item, pairs)),
    await watched('at full load', () => driver.pair(item)),
  ];
}

async function inTurn<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let at = 0; at < count; at += 1) results.push(await work());
  return results;
}

function aimOf(backend: Backend, { name }: Item, { what, own }: Watched): Report['aims'][number] {
  return {
    what: `${backend}, ${name}: longest stall of the event loop ${what}, ms, less what it waited for a processor`,
    wanted: { atMost: STALL_MS_MAX },
    value: longest(own, causedMs),
  };
}

function remarkOf(backend: Backend, { what, own, bare }: Watched): string {
  const words = (stalls: readonly LoopStall[]): string =>
    `${longest(stalls, ({ lateMs }) => lateMs).toFixed(1)} ms in all, ${longest(stalls, causedMs).toFixed(1)} less ` +
    `waiting for a processor, ${longest(stalls, ({ ownMs }) => ownMs).toFixed(1)} of processor time, ` +
    `${stalls.filter((stall) => causedMs(stall) > STALL_MS_MAX).length} above ${STALL_MS_MAX} ms`;
  return `${backend}, longest stalls ${what}: ${words(own)}; bare: ${words(bare)}`;
}
