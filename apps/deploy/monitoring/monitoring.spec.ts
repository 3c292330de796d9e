/**
 * Dashboard and alerts name what the service has: metrics, labels and values of its table; the dashboard has the shape
 * of Grafana's, and the guide explains each alert.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { METRICS, type MetricName, type MetricRow } from '../../server/process/metric-table.ts';

const HERE = 'apps/deploy/monitoring';
const read = (name: string): string => readFileSync(join(HERE, name), 'utf8');

interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

interface AlertTests {
  tests: { name: string; input_series: { series: string }[]; alert_rule_test: AlertTest[] }[];
}

interface AlertTest {
  alertname: string;
  exp_alerts: object[];
}

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { type: string; uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: { defaults: { unit: string }; overrides: unknown[] };
  targets?: { refId: string; expr: string; legendFormat: string; datasource: { type: string; uid: string } }[];
}

interface Dashboard {
  title: string;
  uid: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string | { query: string }; refresh: number }[] };
  time: { from: string; to: string };
}

const alerts = (parse(read('alerts.yml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(read('dashboard.json')) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const panelExpressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const expressions = [...alerts.map(({ expr }) => expr), ...panelExpressions];

/** Metrics of an expression with what it asks of their labels. */
function selectorsOf(expression: string): { metric: string; matchers: [label: string, values: string[]][] }[] {
  return [...expression.matchAll(/\b(millwright_[a-z_]+)(?:\{([^}]*)\})?/g)].map(([, metric = '', inner = '']) => ({
    metric,
    matchers: [...inner.matchAll(/(\w+)(?:=~|!=|=)"([^"]*)"/g)].map(([, label = '', values = '']) => [
      label,
      values.split('|'),
    ]),
  }));
}

/** The row of a series' name; a histogram has three. */
function rowOf(series: string): MetricRow | undefined {
  const rows: Readonly<Record<string, MetricRow>> = METRICS;
  const name = series.replace(/_(bucket|sum|count)$/, '');
  if (rows[name]?.type === 'histogram') return name === series ? undefined : rows[name];
  return rows[series];
}

/** Of whoever collects. */
const COLLECTED = new Set(['job', 'instance', 'le']);

describe('expressions of dashboard and alerts', () => {
  it('ask for metrics that the service has, by labels and values that these have', () => {
    const found = expressions.flatMap(selectorsOf);
    expect(found.length).toBeGreaterThan(50);
    const wrong = found.flatMap(({ metric, matchers }) => {
      const row = rowOf(metric);
      if (row === undefined) return [metric];
      return matchers
        .filter(([label]) => !COLLECTED.has(label))
        .filter(([label, values]) => {
          const known = row.labels[label];
          return known === undefined || (typeof known !== 'number' && values.some((value) => !known.includes(value)));
        })
        .map(([label, values]) => `${metric} ${label}=${values.join('|')}`);
    });
    expect(wrong).toEqual([]);
  });

  it('group by labels that their metrics have', () => {
    const wrong = expressions.flatMap((expression) => {
      const labels = new Set(selectorsOf(expression).flatMap(({ metric }) => Object.keys(rowOf(metric)?.labels ?? {})));
      return [...expression.matchAll(/\bby \(([^)]*)\)/g)]
        .flatMap(([, names = '']) => names.split(', '))
        .filter((name) => !COLLECTED.has(name) && !labels.has(name))
        .map((name) => `${expression}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('show every metric but those of single connections and of the figures themselves', () => {
    const shown = new Set(
      expressions.flatMap(selectorsOf).map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, '')),
    );
    const missing = (Object.keys(METRICS) as MetricName[]).filter((name) => !shown.has(name));
    expect(missing).toEqual(NOT_SHOWN);
  });
});

const NOT_SHOWN: readonly MetricName[] = [
  'millwright_build_info', // names jobs and instances
  'millwright_filter_budget_exceeded_total',
  'millwright_http_connections_cut_total',
  'millwright_http_bodies_refused_total',
  'millwright_http_anonymous_connections_cut_total',
  'millwright_http_anonymous_connections_waiting',
  'millwright_factories',
  'millwright_runs_started_total',
  'millwright_engine_info',
  'millwright_queue_up',
  'millwright_trace_spans_total',
  'millwright_metrics_read_failures_total',
];

describe('alerts', () => {
  it('are twelve, each with a severity, a summary and what to know', () => {
    expect(alerts).toHaveLength(12);
    for (const { labels, annotations } of alerts) {
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(annotations.summary.length).toBeGreaterThan(10);
      expect(annotations.description).toMatch(/\.$/);
    }
  });

  it('have a test that makes each fire, and one in which it must not', () => {
    const { tests } = parse(read('alerts.test.yml')) as AlertTests;
    const cases = tests.flatMap(({ alert_rule_test: of }) => of);
    const fires = (of: AlertTest): boolean => of.exp_alerts.length > 0;
    for (const { alert } of alerts) {
      const own = cases.filter(({ alertname }) => alertname === alert);
      expect([alert, own.filter(fires).length, own.length]).toEqual([alert, 1, 2]);
    }
    expect(cases).toHaveLength(24);
    const series = tests.flatMap(({ input_series: input }) => input.flatMap(({ series }) => selectorsOf(series)));
    expect(series.filter(({ metric }) => rowOf(metric) === undefined)).toEqual([]);
  });

  it('are explained in the guide, and no others are', () => {
    const page = readFileSync('apps/guide/how-to/monitor.md', 'utf8');
    const explained = [...page.matchAll(/^\| `(Millwright\w+)` \|/gm)].map(([, name]) => name);
    expect(explained).toEqual(alerts.map(({ alert }) => alert));
  });
});

describe('the dashboard', () => {
  it('has the shape that Grafana imports: panels with a place, a data source that is chosen, targets', () => {
    expect(dashboard).toMatchObject({ title: 'Millwright', uid: 'millwright', time: { from: 'now-6h', to: 'now' } });
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
    expect(dashboard).not.toHaveProperty('id'); // of another installation
    const [source] = dashboard.templating.list;
    expect(source).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    for (const panel of panels) {
      expect(['timeseries', 'stat', 'table']).toContain(panel.type);
      expect(panel).toMatchObject({
        title: expect.stringMatching(/^[A-Z]/),
        description: expect.stringMatching(/\.$/),
        datasource: { type: 'prometheus', uid: '${datasource}' },
        fieldConfig: { defaults: { unit: expect.any(String) }, overrides: [] },
      });
      const refIds = panel.targets?.map(({ refId }) => refId) ?? [];
      expect(refIds.length).toBeGreaterThan(0);
      expect(new Set(refIds).size).toBe(refIds.length);
      for (const { datasource } of panel.targets ?? []) expect(datasource.uid).toBe('${datasource}');
    }
  });

  it('has panels of their own ID, within 24 columns, none above another', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, at) => `${x + (at % w)}:${y + Math.floor(at / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('uses no variable that it does not have', () => {
    const names = new Set([...dashboard.templating.list.map(({ name }) => name), '__rate_interval']);
    const text = read('dashboard.json');
    const used = [...text.matchAll(/\$\{?(\w+)\}?/g)].map(([, name = '']) => name);
    expect(used.filter((name) => !names.has(name))).toEqual([]);
  });
});
