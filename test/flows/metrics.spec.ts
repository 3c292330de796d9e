/**
 * Figures for Prometheus: with a key at the service's own address, without one where the operator says. contract §1.
 */
import { readConfig } from '../../apps/server/config/config.ts';
import { MetricsListener } from '../../apps/server/metrics/metrics.controller.ts';
import { Log } from '../../apps/server/process/log.ts';
import { Metrics } from '../../apps/server/process/metrics.ts';
import { makeKey } from '../support/services/api-keys.ts';
import {
  automationFile,
  automationPath,
  deliver,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { bootService, eventually, freePort, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
let git: GitServer;
let mill: TestService;
let listener: string;

beforeAll(async () => {
  const port = await freePort();
  git = await startGitServer();
  mill = await bootService({
    environment: { MILLWRIGHT_GIT_CA_FILE: git.caFile, MILLWRIGHT_METRICS_LISTEN: String(port) },
  });
  listener = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  await mill.stop();
  await git.close();
});

/** One line of the text format: name, labels, value. */
const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="[^"\\]*",?)*)\})? (\S+)$/;

/** What a scrape holds: the value of each series; every line is one, or a comment. */
async function scrape(): Promise<Map<string, number>> {
  const answer = await fetch(`${listener}/metrics`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !/^# (HELP|TYPE) /.test(line));
  expect(lines.filter((line) => !LINE.test(line))).toEqual([]);
  return new Map(
    lines.map((line) => {
      const [, name = '', labels = '', value] = LINE.exec(line) ?? [];
      return [`${name} ${labels}`.trim(), Number(value)];
    }),
  );
}

async function valueOf(series: string): Promise<number> {
  return (await scrape()).get(series) ?? 0;
}

describe('/metrics of the service', () => {
  const figures = (headers: Record<string, string>): Promise<Response> => fetch(`${mill.url}/metrics`, { headers });

  it('is refused without a key', async () => {
    const answer = await figures({});
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain('process_');
  });

  it('is refused to a key that is limited to factories: the figures are of all of them', async () => {
    const key = await makeKey(mill, 'manager', { factories: [] });
    const answer = await figures({ authorization: `Bearer ${key}` });
    expect(answer.status).toBe(403);
    expect(await answer.text()).not.toContain('process_');
  });

  it('answers a viewer, also one who asks as Prometheus does', async () => {
    const authorization = `Bearer ${await makeKey(mill, 'viewer')}`;
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
    const answer = await figures({ authorization, accept });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toContain('\nmillwright_database_up 1\n');
  });
});

describe('the listener of the figures', () => {
  it('answers nothing else, and nothing but reading', async () => {
    for (const path of ['/', '/healthz', '/api/v1/factories', '/metrics/x', '/webhooks/w/x'])
      expect((await fetch(listener + path)).status).toBe(404);
    expect((await fetch(`${listener}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405);
    const head = await fetch(`${listener}/metrics`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('says what cannot be listened on by the name of its variable', async () => {
    const taken = readConfig({ MILLWRIGHT_METRICS_LISTEN: new URL(listener).port });
    const second = new MetricsListener(taken, new Metrics(), new Log(() => undefined, Date.now));
    await expect(second.start()).rejects.toThrow(
      /^MILLWRIGHT_METRICS_LISTEN: must be an address and port of this machine that are free \(EADDRINUSE\)$/,
    );
  });

  it('ends with the service', async () => {
    const port = await freePort();
    const other = await bootService({ environment: { MILLWRIGHT_METRICS_LISTEN: `127.0.0.1:${port}` } });
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
    await other.stop();
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed');
  });
});

describe('the figures', () => {
  it('tell of node and of the process', async () => {
    const found = await scrape();
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds', 'process_cpu_seconds_total'])
      expect(found.get(name)).toBeGreaterThanOrEqual(0);
  });

  it('count requests by resource and class of status, not by path', async () => {
    const refused = 'millwright_http_requests_total resource="factory",status="4xx"';
    const before = await valueOf(refused);
    for (const uid of ['fac_one', 'fac_two']) expect((await mill.api('GET', `/factory/${uid}`)).status).toBe(404);
    await eventually('both are counted', async () => ((await valueOf(refused)) === before + 2 ? true : undefined));
    expect(JSON.stringify([...(await scrape())])).not.toContain('fac_');
  });

  it('count passes and runs by how they ended', async () => {
    await mill.secret('hook-token', TOKEN);
    git.createRepository('mill').commit({
      [webhookPath('orders')]: webhookFile('hook-token'),
      [automationPath('triage')]: automationFile(['orders']),
    });
    await mill.factory('mill', { kind: 'git', url: git.urlOf('mill'), branch: 'main' });
    expect(await valueOf('millwright_sync_pass_duration_seconds_count ending="applied"')).toBeGreaterThan(0);
    expect((await deliver(mill.ingressUrl('mill', 'orders'), TOKEN)).status).toBe(202);
    await eventually('the run is counted', async () =>
      (await valueOf('millwright_runs_ended_total state="SUCCEEDED"')) === 1 ? true : undefined,
    );
  });
});
