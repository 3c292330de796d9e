/**
 * Figures of a large installation as Debian's Prometheus reads them: how many series they are, whether they are what
 * their format asks for, and what a collector costs that asks too often. contract §1.7 (Metrics).
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readKeyFiles } from '../../apps/server/process/key-files.ts';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { change } from '../../apps/server/store/database/transactions.ts';
import { seedWebhooks } from '../bench/seeds/webhook-seeds.ts';
import { bootService, eventually, freePort, type TestService } from '../support/services/service.ts';

const FACTORIES = 1_000;
const WEBHOOKS_EACH = 80;
const SERIES_MAX = 5_000;
const CONDITIONS = [
  'Ready',
  'Stalled',
  'FetchFailed',
  'SourceVerificationFailed',
  'DefinitionsInvalid',
  'PruneHeld',
  'SecretsDegraded',
  'HistoryRewritten',
];

let dataDir: string;
let mill: TestService;
let metricsPort: number;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-figures-'));
  const keyOf = (name: string) => ({ path: join(dataDir, name), variable: name, create: true });
  const [masterKey] = readKeyFiles([keyOf('master-key'), keyOf('uid-key')]);
  const database = await openDatabase({ dataDir, nowMs: Date.now });
  await seedWebhooks(database, masterKey, { factories: FACTORIES, webhooksEach: WEBHOOKS_EACH });
  await database.close();
  metricsPort = await freePort();
  const environment = { MILLWRIGHT_METRICS_LISTEN: String(metricsPort), MILLWRIGHT_SYNC_INTERVAL: '3600' };
  mill = await bootService({ dataDir, environment });
  await eventually(
    'every factory had its first pass',
    async () =>
      Number(/pass_duration_seconds_count\{ending="applied"\} (\d+)/.exec(await text())?.[1]) >= FACTORIES
        ? true
        : undefined,
    250_000,
  );
  await findFaults();
}, 420_000);

afterAll(async () => {
  await mill?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Writes down what a pass would that finds everything at fault. */
async function findFaults(): Promise<void> {
  const faults = CONDITIONS.map((type) => {
    const status = type === 'Ready' ? 'False' : 'True';
    return [type, { status, reason: 'r', message: 'm', sinceMs: 1 }];
  });
  const conditions = JSON.stringify(Object.fromEntries(faults));
  await mill.service.database.run(() => change('UPDATE factory SET conditions = ?', conditions));
  await eventually('the faults are told', async () =>
    (await text()).includes('\nmillwright_factory_fault{') ? true : undefined,
  );
}

async function text(accept = 'text/plain'): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers: { accept } });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** What promtool says of figures; nothing, if they are well. */
function promtoolCheck(figures: string): string {
  try {
    return execFileSync('promtool', ['check', 'metrics'], { input: figures, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return `${stdout}${stderr}`;
  }
}

/** What a Prometheus of its own, with this configuration, answers; ended when the test is over. */
async function prometheus(folder: string): Promise<{ query(path: string): Promise<unknown>; child: ChildProcess }> {
  const port = await freePort();
  const config = join(folder, 'prometheus.yml');
  await writeFile(
    config,
    'global: {scrape_interval: 5s, scrape_timeout: 5s}\n' +
      `scrape_configs: [{job_name: millwright, static_configs: [{targets: ['127.0.0.1:${metricsPort}']}]}]\n`,
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: 'ignore' },
  );
  const query = async (path: string): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return ((await answer.json()) as { data: unknown }).data;
  };
  return { query, child };
}

describe('figures of 1,000 factories with 80,000 webhooks and every condition at fault', () => {
  it('are at most 5,000 series, those of node and of the process included', async () => {
    // A scrape that the database answers too late goes without its figures.
    const series = await eventually('all are read', async () => {
      const lines = (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return lines.some((line) => line.startsWith('millwright_factory_fault')) ? lines : undefined;
    });
    const faults = series.filter((line) => line.startsWith('millwright_factory_fault'));
    expect(faults).toHaveLength(1_001);
    expect(faults.at(-1)).toMatch(/factory="other",condition="other",status="other"\} 7000$/);
    expect(series.length).toBeGreaterThan(1_000);
    expect(series.length).toBeLessThanOrEqual(SERIES_MAX);
  });

  it('are what promtool asks of names, types, units and help', async () => {
    expect(promtoolCheck(await text())).toBe('');
    expect(promtoolCheck('# TYPE bad_total gauge\nbad_total 1\n')).toContain('bad_total');
  });

  it('are made once a second, however often a collector asks', async () => {
    await text();
    const startedAtMs = performance.now();
    const texts = new Set<string>();
    for (let round = 0; round < 50; round += 1) {
      texts.add(await text());
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const tookMs = performance.now() - startedAtMs;
    expect(texts.size).toBeLessThanOrEqual(Math.ceil(tookMs / 1_000) + 1);
  });

  it('are scraped by a real Prometheus, every one, for as long as it asks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millwright-prometheus-'));
    const { query, child } = await prometheus(folder);
    try {
      const valueOf = async (promql: string): Promise<number> => {
        const found = (await query(`query?query=${encodeURIComponent(promql)}`)) as {
          result: { value: [number, string] }[];
        };
        return Number(found.result[0]?.value[1]);
      };
      const scrapes = (): Promise<number> => valueOf('count_over_time(up[5m])').catch(() => 0);
      await eventually('five scrapes', async () => (await scrapes()) >= 5 || undefined, 80_000);
      await eventually('the service is up', async () => {
        const targets = (await query('targets').catch(() => undefined)) as
          | { activeTargets: { health: string; lastError: string }[] }
          | undefined;
        const { health, lastError } = targets?.activeTargets[0] ?? {};
        return (health === 'up' && lastError === '') || undefined;
      });
      // One may have come while the machine stood still for longer than a scrape may take.
      expect(await valueOf('count_over_time(up[5m]) - sum_over_time(up[5m])')).toBeLessThanOrEqual(1);
      expect(await valueOf('scrape_samples_scraped')).toBeLessThanOrEqual(SERIES_MAX);
      const names = (await query('label/__name__/values')) as string[];
      const missing = [...(await text()).matchAll(/^# TYPE (millwright_\S+) (counter|gauge)$/gm)]
        .map(([, name = '']) => name)
        .filter((name) => !names.includes(name));
      expect(missing).toEqual(WITHOUT_SAMPLES);
    } finally {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
      await rm(folder, { recursive: true, force: true });
    }
  }, 180_000);
});

/** Counters whose labels are only known when something is counted, of which nothing has happened in this test. */
const WITHOUT_SAMPLES = ['millwright_http_requests_total', 'millwright_runs_ended_total', 'millwright_run_cost_total'];
