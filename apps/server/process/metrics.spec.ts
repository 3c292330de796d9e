/** Figures of one process: counted, measured and read where they are asked for; a number of series that is bounded. */
import { HotHistogram } from './hot-histogram.ts';
import { knownCombinations, METRICS, seriesMaxOf, type MetricName } from './metric-table.ts';
import { Metrics, type MetricsFormat } from './metrics.ts';

const linesOf = async (metrics: Metrics, name: string, format: MetricsFormat = 'text'): Promise<string[]> =>
  (await metrics.text(format)).split('\n').filter((line) => line.startsWith(name));

describe('the table of metrics', () => {
  const rows = Object.entries(METRICS);

  it('has at most 4,500 series, whatever is in an installation; node and the process have the rest of 5,000', () => {
    const most = rows.reduce((sum, [, row]) => sum + seriesMaxOf(row), 0);
    expect(most).toBeGreaterThan(1_000);
    expect(most).toBeLessThanOrEqual(4_500);
  });

  it.each(rows)('%s says in a sentence what it is, and has the unit of its type in its name', (name, row) => {
    expect(row.help).toMatch(/^[A-Z1].*\.$/);
    expect(name.endsWith('_total')).toBe(row.type === 'counter');
    if (row.type === 'histogram') expect(name).toMatch(/_(seconds|deliveries)$/);
  });
});

/** Metrics with labels, of which every value is known. */
const rowsOfSets = (): [MetricName, { type: string }][] =>
  (Object.entries(METRICS) as [MetricName, (typeof METRICS)[MetricName]][]).filter(
    ([, row]) => Object.keys(row.labels).length > 0 && knownCombinations(row).length > 0,
  );

describe('metrics', () => {
  it('count by their labels, from 0 where all labels are known', async () => {
    const metrics = new Metrics();
    for (const outcome of ['accepted', 'duplicate', 'accepted'])
      metrics.count('millwright_deliveries_total', { outcome });
    metrics.count('millwright_deliveries_total', { outcome: 'gone' }, 5);
    expect(await linesOf(metrics, 'millwright_deliveries_total')).toEqual([
      'millwright_deliveries_total{outcome="accepted"} 2',
      'millwright_deliveries_total{outcome="duplicate"} 1',
      'millwright_deliveries_total{outcome="refused"} 0',
      'millwright_deliveries_total{outcome="throttled"} 0',
      'millwright_deliveries_total{outcome="stale"} 0',
      'millwright_deliveries_total{outcome="gone"} 5',
    ]);
  });

  it('have a series of its own for each value that is known, when all of them happen', async () => {
    const metrics = new Metrics();
    const ofSets = rowsOfSets();
    expect(ofSets.length).toBeGreaterThan(10);
    for (const [name, { type }] of ofSets)
      for (const labels of knownCombinations(METRICS[name]))
        if (type === 'histogram') metrics.observe(name, 1, labels);
        else if (type === 'counter') metrics.count(name, labels);
        else metrics.set(name, 1, labels);
    metrics.read('millwright_runs', () =>
      knownCombinations(METRICS.millwright_runs).map((labels) => ({ labels, value: 1 })),
    );
    const text = await metrics.text();
    expect(text.split('\n').filter((line) => line.includes('="other"'))).toEqual([]);
    expect(text).toContain('millwright_runs{state="BLOCKED"} 1\n');
    expect(text).toContain('millwright_database_transaction_duration_seconds_count{kind="long_read"} 1\n');
  });

  it('measure seconds in buckets', async () => {
    const metrics = new Metrics();
    metrics.observe('millwright_sync_propagation_seconds', 0.2);
    metrics.observe('millwright_sync_propagation_seconds', 2);
    const lines = await linesOf(metrics, 'millwright_sync_propagation_seconds');
    expect(lines).toContain('millwright_sync_propagation_seconds_bucket{le="0.5"} 1');
    expect(lines).toContain('millwright_sync_propagation_seconds_bucket{le="+Inf"} 2');
    expect(lines).toContain('millwright_sync_propagation_seconds_sum 2.2');
  });

  it('are read when they are asked for, and left out where that fails', async () => {
    const metrics = new Metrics();
    let level = 1;
    metrics.read('millwright_database_up', async () => [{ value: level }]);
    expect(await linesOf(metrics, 'millwright_database_up')).toEqual(['millwright_database_up 1']);
    level = 0;
    expect(await linesOf(metrics, 'millwright_database_up')).toEqual(['millwright_database_up 0']);
    metrics.read('millwright_database_up', async () => Promise.reject(new Error('away')));
    expect(await linesOf(metrics, 'millwright_database_up')).toEqual([]);
    expect(await linesOf(metrics, 'millwright_metrics_read')).toEqual(['millwright_metrics_read_failures_total 2']);
  });

  it('put what would be one label too many together', async () => {
    const metrics = new Metrics();
    for (let index = 0; index < 30; index += 1) metrics.count('millwright_run_cost_total', { currency: `c${index}` });
    const counted = await linesOf(metrics, 'millwright_run_cost_total');
    expect(counted).toHaveLength(11);
    expect(counted).toContain('millwright_run_cost_total{currency="other"} 20');
    metrics.read('millwright_factory_fault', () =>
      Array.from({ length: 1_300 }, (_, index) => ({
        labels: { factory: `f${index}`, condition: 'Ready', status: 'False' },
        value: 1,
      })),
    );
    const read = await linesOf(metrics, 'millwright_factory_fault');
    expect(read).toHaveLength(1_001);
    expect(read).toContain('millwright_factory_fault{factory="other",condition="other",status="other"} 300');
  });

  it('of two services in one process are kept apart; those of the process are in both', async () => {
    const [one, other] = [new Metrics(), new Metrics()];
    one.count('millwright_runs_started_total');
    expect(await linesOf(one, 'millwright_runs_started')).toEqual(['millwright_runs_started_total 1']);
    expect(await linesOf(other, 'millwright_runs_started')).toEqual(['millwright_runs_started_total 0']);
    for (const metrics of [one, other]) expect(await metrics.text()).toContain('nodejs_eventloop_lag_seconds ');
  });

  it('are written as OpenMetrics with exemplars, and as text again without', async () => {
    const metrics = new Metrics();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    metrics.observe('millwright_run_start_delay_seconds', 0.2, {}, traceId);
    const hot = new HotHistogram([0.1, 1]);
    hot.observe(0.05);
    hot.observe(0.5, traceId);
    hot.observe(9);
    metrics.read('millwright_ingress_request_duration_seconds', () => [hot.read({ outcome: 'accepted' })]);
    for (let round = 0; round < 2; round += 1) {
      const open = await metrics.text('openmetrics');
      expect(open).toMatch(/# TYPE millwright_runs_started counter\nmillwright_runs_started_total 0\n/);
      expect(open).toMatch(/_start_delay_seconds_bucket\{le="0.25"\} 1 # \{trace_id="0af7\w+"\} 0.2 \d+(\.\d+)?\n/);
      expect(open).toMatch(/_bucket\{le="1",outcome="accepted"\} 2 # \{trace_id="0af7\w+"\} 0.5 \d+(\.\d+)?\n/);
      expect(open.endsWith('\n# EOF\n')).toBe(true);
      const text = await metrics.text();
      expect(text).not.toContain(traceId);
      expect(text).toContain('# TYPE millwright_runs_started_total counter\nmillwright_runs_started_total 0\n');
      expect(text).toContain(
        'millwright_ingress_request_duration_seconds_bucket{le="+Inf",outcome="accepted"} 3\n' +
          'millwright_ingress_request_duration_seconds_sum{outcome="accepted"} 9.55\n' +
          'millwright_ingress_request_duration_seconds_count{outcome="accepted"} 3\n',
      );
    }
  });
});
