/**
 * Debian's Prometheus with our alerts and the expressions of our dashboard, for minutes, on a service that works: no
 * scrape fails, every rule can be evaluated, and what it has counted is what was sent. `UPDATE_PICTURES=1` draws the
 * pictures of the guide by what it answers. contract §1.7 (Metrics).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliver } from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { dashboardPicture, type DashboardPanel, type DrawnSeries } from '../support/guide/dashboard-picture.ts';
import { GUIDE, ROOT } from '../support/guide/documents.ts';
import { Prometheus, SCRAPE_SECONDS } from '../support/network/prometheus.ts';
import { bootService, eventually, freePort, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const SECONDS = 150;
/** Between two rounds of senders. */
const ROUND_MS = 400;
const HOOKS = ['builds', 'issues', 'orders', 'alerts', 'reviews'];
/** For `$__rate_interval` of Grafana. */
const RATE_INTERVAL = `${4 * SCRAPE_SECONDS}s`;

let mill: TestService;
let folder: FactoryFolder;
let broken: FactoryFolder;
let prometheus: Prometheus;
const answers = new Map<number, number>();

const webhooks = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { secretName: 'hook-token' }]));

beforeAll(
  async () => {
    const metricsPort = await freePort();
    mill = await bootService({ environment: { MILLWRIGHT_METRICS_LISTEN: String(metricsPort) } });
    await mill.secret('hook-token', TOKEN);
    folder = await factoryFolder({
      webhooks: webhooks(HOOKS),
      automations: { triage: { webhooks: ['builds', 'issues'], payload: { n: [0, 10, 20, 30] } } },
    });
    broken = await factoryFolder({ webhooks: webhooks(['builds']) });
    await broken.writeFile('webhooks/builds.yaml', 'authMode: [');
    const uid = await mill.factory('shop', folder.source);
    await mill.factory('broken', broken.source);
    prometheus = await Prometheus.start(metricsPort, [join(ROOT, 'apps/deploy/monitoring/alerts.yml')]);
    await work(uid);
  },
  (SECONDS + 120) * 1_000,
);

afterAll(async () => {
  await prometheus?.stop();
  await mill?.stop();
  await folder?.remove();
  await broken?.remove();
});

/** Senders, one of which does not know the secret, and a commit now and then. */
async function work(uid: string): Promise<void> {
  const until = performance.now() + SECONDS * 1_000;
  for (let round = 0; performance.now() < until; round += 1) {
    const sent = [...HOOKS, 'orders', 'orders'].map(async (hook) => {
      const token = round % 8 === 0 && hook === 'alerts' ? 'not-the-token-of-the-hook' : TOKEN;
      const body = { n: round % 60, at: Math.random() };
      const { status } = await deliver(mill.ingressUrl('shop', hook), token, body);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    });
    await Promise.all(sent);
    if (round % 40 === 20) {
      await folder.writeFile('webhooks/more.yaml', `secretName: hook-token\n# ${round}\n`);
      await mill.sync(uid);
    }
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}

interface Rule {
  name: string;
  health: string;
  state: string;
  lastError?: string;
}

const { panels } = JSON.parse(readFileSync(join(ROOT, 'apps/deploy/monitoring/dashboard.json'), 'utf8')) as {
  panels: DashboardPanel[];
};

/** What each line of a panel is called, as Grafana does it. */
function nameOf(legend: string, labels: Record<string, string>): string {
  const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_all, label: string) => labels[label] ?? '');
  return name === '' ? Object.values(labels).join(' ') : name;
}

async function figuresOf({ targets = [] }: DashboardPanel): Promise<DrawnSeries[]> {
  const found: DrawnSeries[] = [];
  for (const { expr, legendFormat } of targets) {
    const expression = expr
      .replaceAll('$__rate_interval', RATE_INTERVAL)
      .replaceAll('$job', 'millwright')
      .replaceAll('$instance', '.*');
    for (const { metric, values } of await prometheus.range(expression, SECONDS, SCRAPE_SECONDS)) {
      const points = values.map(([seconds, value]) => [seconds, Number(value)] as const);
      const finite = points.filter(([, value]) => Number.isFinite(value));
      if (finite.length > 0) found.push({ name: nameOf(legendFormat, metric), points: finite });
    }
  }
  return found;
}

describe(`a Prometheus that scrapes for ${SECONDS} seconds`, () => {
  it('misses nothing, and counts what was sent', async () => {
    expect(await prometheus.value(`min_over_time(up[${SECONDS - 10}s])`)).toBe(1);
    const scrapes = await prometheus.value(`count_over_time(up[${SECONDS - 10}s])`);
    expect(scrapes).toBeGreaterThanOrEqual((SECONDS - 50) / SCRAPE_SECONDS);
    const outcomes: [outcome: string, status: number][] = [
      ['accepted', 202],
      ['unauthenticated', 401],
      ['over_rate', 429],
    ];
    for (const [outcome, status] of outcomes) {
      const sent = answers.get(status) ?? 0;
      expect([outcome, sent > 0]).toEqual([outcome, true]);
      await eventually(`${outcome} is scraped`, async () =>
        (await prometheus.value(`millwright_ingress_requests_total{outcome="${outcome}"}`)) === sent ? true : undefined,
      );
    }
  });

  it('evaluates every alert, of which none fires but that a factory may be about to', async () => {
    const { groups } = await prometheus.ask<{ groups: { rules: Rule[] }[] }>('rules');
    const rules = groups.flatMap((group) => group.rules);
    expect(rules).toHaveLength(12);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(rules.filter(({ state }) => state === 'firing').map(({ name }) => name)).toEqual([]);
    expect(rules.find(({ name }) => name === 'MillwrightFactoryFault')?.state).toBe('pending');
  });

  it('has an answer for the panels of the dashboard', async () => {
    const figures = new Map<DashboardPanel, DrawnSeries[]>();
    for (const panel of panels) figures.set(panel, await figuresOf(panel));
    const empty = panels.filter((panel) => panel.type !== 'row' && figures.get(panel)?.length === 0);
    // Of what has not happened here.
    expect(empty.map(({ title }) => title).filter((title) => title !== 'Cost')).toEqual([]);
    // Their labels have few values, each of which has a line of its own.
    const unnamed = panels.filter((panel) => figures.get(panel)?.some(({ name }) => name === 'other'));
    expect(unnamed.map(({ title }) => title)).toEqual([]);
    if (process.env['UPDATE_PICTURES'] === '1') draw(figures);
  });
});

/** The upper half of the dashboard, to the factories, and the lower one. */
function draw(figures: ReadonlyMap<DashboardPanel, DrawnSeries[]>): void {
  const runs = panels.find(({ type, title }) => type === 'row' && title === 'Runs')?.gridPos.y ?? 0;
  for (const [name, isShown] of [
    ['deliveries', (y: number) => y < runs],
    ['runs', (y: number) => y >= runs],
  ] as const) {
    const shown = panels.filter(({ gridPos }) => isShown(gridPos.y));
    const picture = dashboardPicture(shown, (panel) => figures.get(panel) ?? []);
    writeFileSync(join(GUIDE, `how-to/dashboard-${name}.svg`), picture);
  }
}
