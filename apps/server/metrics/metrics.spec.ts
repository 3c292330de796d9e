/** Reads that are shared, the format that a collector gets, and which conditions are faults. contract §1.7. */
import { CachedRead } from './cached-read.ts';
import { factoriesByCondition, factoryFaults } from './installation-figures.ts';
import { formatFor } from './metrics-text.ts';
import { EventLoopDelay } from '../process/event-loop.ts';
import { Metrics } from '../process/metrics.ts';
import type { FactoryConditions } from '../store/reports/installation-figures.ts';

describe('a shared read', () => {
  it('is made once for all who ask meanwhile, and again when its time is over', async () => {
    let [nowMs, reads] = [0, 0];
    const cached = new CachedRead(
      1_000,
      async () => (reads += 1),
      () => nowMs,
    );
    expect(await Promise.all([cached.get(), cached.get()])).toEqual([1, 1]);
    nowMs = 999;
    expect(await cached.get()).toBe(1);
    nowMs = 1_000;
    expect(await cached.get()).toBe(2);
  });

  it('is made less often where it takes long, at most for a fiftieth of the time', async () => {
    let [nowMs, reads] = [0, 0];
    const cached = new CachedRead(
      1_000,
      async () => {
        nowMs += 100;
        return (reads += 1);
      },
      () => nowMs,
    );
    await cached.get();
    nowMs = 4_999;
    expect(await cached.get()).toBe(1);
    nowMs = 5_000;
    expect(await cached.get()).toBe(2);
  });

  it('that fails fails for all, and is tried again no sooner', async () => {
    let [nowMs, reads] = [0, 0];
    const cached = new CachedRead(
      1_000,
      async () => {
        reads += 1;
        if (reads === 1) throw new Error('away');
        return reads;
      },
      () => nowMs,
    );
    for (nowMs of [0, 500]) await expect(cached.get()).rejects.toThrow('away');
    nowMs = 1_000;
    expect(await cached.get()).toBe(2);
  });
});

describe('the format of the figures', () => {
  it.each<[string | undefined, string, string]>([
    [undefined, 'text', 'nothing is asked for'],
    ['*/*', 'text', 'curl'],
    ['application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1', 'openmetrics', ''],
    ['application/openmetrics-text; version=1.0.0; charset=utf-8', 'openmetrics', 'with a character set'],
    ['application/openmetrics-text;version=2.0.0,text/plain;version=0.0.4', 'text', 'a version that is not spoken'],
    ['application/openmetrics-text;version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.5', 'text', 'text is preferred'],
    ['application/openmetrics-text;q=0', 'text', 'refused by name'],
    ['application/openmetrics-text;q=x', 'text', 'no quality that one could compare'],
  ])('for %j is %s (%s)', (accept, format) => expect(formatFor(accept)).toBe(format));
});

describe('conditions of factories', () => {
  const factories: FactoryConditions[] = [
    { slug: 'well', suspended: false, conditions: { Ready: 'True', Stalled: 'False' } },
    {
      slug: 'ill',
      suspended: false,
      conditions: {
        Ready: 'False',
        Reconciling: 'True',
        FetchFailed: 'True',
        PruneHeld: 'Unknown',
      },
    },
    { slug: 'left-alone', suspended: true, conditions: { Ready: 'False' } },
  ];

  it('are shown by factory where they are not as they should be', () => {
    expect(factoryFaults(factories).map(({ labels }) => Object.values(labels ?? {}).join(' '))).toEqual([
      'ill Ready False',
      'ill FetchFailed True',
      'ill PruneHeld Unknown',
    ]);
  });

  it('are counted over all factories', async () => {
    const metrics = new Metrics();
    metrics.read('millwright_factories', () => factoriesByCondition(factories));
    const text = await metrics.text();
    expect(text).toContain('millwright_factories{condition="Ready",status="True"} 1\n');
    expect(text).toContain('millwright_factories{condition="Ready",status="False"} 2\n');
  });
});

describe('the delay of the event loop', () => {
  it('is measured while others wait', async () => {
    const metrics = new Metrics();
    const delay = new EventLoopDelay(metrics);
    const startedAtMs = performance.now();
    delay.start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const until = performance.now() + 300;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 50));
    delay.stop();
    const sum = Number(/millwright_event_loop_delay_seconds_sum (\S+)/.exec(await metrics.text())?.[1]);
    expect(sum).toBeGreaterThan(0.15);
    expect(sum).toBeLessThan((performance.now() - startedAtMs) / 1_000);
  });
});
