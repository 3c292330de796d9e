/** Figures of one process: counted, measured and read where they are asked for; a number of series that is bounded. */
import { Metrics } from './metrics.ts';

const linesOf = async (metrics: Metrics): Promise<string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith('millwright_'));

describe('metrics', () => {
  it('count by their labels', async () => {
    const metrics = new Metrics();
    for (const ending of ['applied', 'failed', 'applied'])
      metrics.count('millwright_things_total', 'Things', { ending });
    expect(await linesOf(metrics)).toEqual([
      'millwright_things_total{ending="applied"} 2',
      'millwright_things_total{ending="failed"} 1',
    ]);
  });

  it('measure seconds in buckets', async () => {
    const metrics = new Metrics();
    metrics.observe('millwright_work_seconds', 'Work', 0.2);
    metrics.observe('millwright_work_seconds', 'Work', 2);
    const lines = await linesOf(metrics);
    expect(lines).toContain('millwright_work_seconds_bucket{le="0.5"} 1');
    expect(lines).toContain('millwright_work_seconds_bucket{le="+Inf"} 2');
    expect(lines).toContain('millwright_work_seconds_sum 2.2');
  });

  it('are read when they are asked for', async () => {
    const metrics = new Metrics();
    let level = 1;
    metrics.gauge('millwright_level', 'Level', async () => level);
    expect(await linesOf(metrics)).toEqual(['millwright_level 1']);
    level = 0;
    expect(await linesOf(metrics)).toEqual(['millwright_level 0']);
  });

  it('put what would be one label too many together', async () => {
    const metrics = new Metrics();
    for (let index = 0; index < 250; index += 1)
      metrics.count('millwright_things_total', 'Things', { thing: `thing ${index}` });
    const lines = await linesOf(metrics);
    expect(lines).toHaveLength(201);
    expect(lines).toContain('millwright_things_total{thing="other"} 50');
  });

  it('of two services in one process are kept apart; those of the process are in both', async () => {
    const [one, other] = [new Metrics(), new Metrics()];
    one.count('millwright_things_total', 'Things');
    expect(await linesOf(one)).toEqual(['millwright_things_total 1']);
    expect(await linesOf(other)).toEqual([]);
    for (const metrics of [one, other]) expect(await metrics.text()).toContain('nodejs_eventloop_lag_seconds ');
  });
});
