/**
 * Figures for Prometheus: with a key at the service's own address, without one where the operator says. contract §1.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../apps/server/config/config.ts';
import { MetricsListener } from '../../apps/server/metrics/metrics.controller.ts';
import { Log } from '../../apps/server/process/log.ts';
import { MetricsText } from '../../apps/server/metrics/metrics-text.ts';
import { METRICS } from '../../apps/server/process/metric-table.ts';
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

  it('answers a viewer, and as OpenMetrics one who asks as Prometheus does', async () => {
    const authorization = `Bearer ${await makeKey(mill, 'viewer')}`;
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
    /** A database that answers too late is not up in that scrape. */
    const whileUp = (headers: Record<string, string>): Promise<{ answer: Response; text: string }> =>
      eventually('the database answers the scrape', async () => {
        const answer = await figures(headers);
        expect(answer.status).toBe(200);
        const text = await answer.text();
        return text.includes('\nmillwright_database_up 1\n') ? { answer, text } : undefined;
      });
    const { answer, text } = await whileUp({ authorization, accept });
    expect(answer.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
    expect(text).toMatch(/\n# EOF\n$/);
    const plain = await whileUp({ authorization, accept: '*/*' });
    expect(plain.answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  });
});

describe('the listener of the figures', () => {
  it('answers nothing else, and nothing but reading', async () => {
    for (const path of ['/', '/healthz', '/api/v1/factories', '/metrics/x', '/webhooks/w/x'])
      expect((await fetch(listener + path)).status).toBe(404);
    expect((await fetch(`${listener}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405);
    const head = await fetch(`${listener}/metrics`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    // A connection outlasts the time between two scrapes.
    expect((await fetch(`${listener}/metrics`)).headers.get('keep-alive')).toBe('timeout=65');
  });

  it('says what cannot be listened on by the name of its variable', async () => {
    const taken = readConfig({ MILLWRIGHT_METRICS_LISTEN: new URL(listener).port });
    const second = new MetricsListener(taken, new MetricsText(new Metrics()), new Log(() => undefined, Date.now));
    await expect(second.start()).rejects.toThrow(
      /^MILLWRIGHT_METRICS_LISTEN: must be an address and port of this machine that are free \(EADDRINUSE\)$/,
    );
  });

  it('takes in little of a flood on one connection while its figures are being made', async () => {
    const port = await freePort();
    let asked = 0;
    const never = { answer: () => ((asked += 1), new Promise(() => undefined)) } as unknown as MetricsText;
    const config = readConfig({ MILLWRIGHT_METRICS_LISTEN: String(port) });
    const slow = new MetricsListener(config, never, new Log(() => undefined, Date.now));
    await slow.start();
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const request = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
    const pieces = Math.ceil((16 * 1_048_576) / request.length);
    socket.write(request.repeat(pieces));
    await eventually('the first one is asked', async () => (asked > 0 ? true : undefined));
    const taken = (): number => socket.bytesWritten - socket.writableLength;
    for (let before = -1; before !== taken(); await sleep(150)) before = taken();
    expect(taken()).toBeLessThan(pieces * request.length);
    expect(asked).toBe(1);
    socket.destroy();
    await slow.stop();
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

  it('are all those of the table, each with its help and type, happened or not', async () => {
    const text = await (await fetch(`${listener}/metrics`)).text();
    for (const [name, { help, type }] of Object.entries(METRICS))
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    expect(text.match(/^# TYPE millwright_/gm)).toHaveLength(Object.keys(METRICS).length);
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
    const applied = 'millwright_sync_pass_duration_seconds_count ending="applied"';
    await eventually('the pass is counted', async () => ((await valueOf(applied)) > 0 ? true : undefined));
    expect((await deliver(mill.ingressUrl('mill', 'orders'), TOKEN)).status).toBe(202);
    await eventually('the run is counted', async () =>
      (await valueOf('millwright_runs_ended_total state="SUCCEEDED",reason="none"')) === 1 ? true : undefined,
    );
    const found = await eventually('all is read', async () => {
      const figures = await scrape();
      const isRead = figures.has('millwright_database_size_bytes');
      return isRead && [...figures.keys()].some((key) => key.startsWith('millwright_engine_info'))
        ? figures
        : undefined;
    });
    for (const [series, value] of Object.entries({
      'millwright_ingress_requests_total outcome="accepted"': 1,
      'millwright_ingress_request_duration_seconds_count outcome="accepted"': 1,
      'millwright_deliveries_total outcome="accepted"': 1,
      millwright_acceptance_batch_deliveries_sum: 1,
      millwright_acceptance_batch_duration_seconds_count: 1,
      millwright_sync_propagation_seconds_count: 1,
      millwright_runs_started_total: 1,
      millwright_run_start_delay_seconds_count: 1,
      'millwright_run_duration_seconds_count state="SUCCEEDED"': 1,
      'millwright_database_errors_total kind="write"': 0,
    }))
      expect([series, found.get(series)]).toEqual([series, value]);
    expect(found.get('millwright_run_start_delay_seconds_sum')).toBeLessThan(30);
    expect(found.get('millwright_database_transaction_duration_seconds_count kind="write"')).toBeGreaterThan(3);
    expect(found.get('millwright_database_size_bytes')).toBeGreaterThan(100_000);
    expect(found.get('millwright_event_loop_delay_seconds_count')).toBeGreaterThan(0);
    expect([...found.keys()]).toContainEqual(expect.stringMatching(/^millwright_engine_info engine="embedded",isol/));
  });

  it('tell which conditions of which factory are not as they should be, until they are', async () => {
    const fault = 'millwright_factory_fault factory="mill",condition="DefinitionsInvalid",status="True"';
    const invalid = 'millwright_factories condition="DefinitionsInvalid",status="True"';
    const repository = git.createRepository('broken');
    repository.commit({ [webhookPath('orders')]: 'authMode: [' });
    const uid = await mill.factory('broken', { kind: 'git', url: git.urlOf('broken'), branch: 'main' });
    const brokenFault = fault.replace('"mill"', '"broken"');
    await eventually('the fault is told', async () => ((await valueOf(brokenFault)) === 1 ? true : undefined));
    const found = await scrape();
    expect([found.get(fault), found.get(invalid)]).toEqual([undefined, 1]);
    repository.commit({ [webhookPath('orders')]: webhookFile('hook-token') });
    await mill.sync(uid);
    await eventually('the fault is gone', async () => ((await scrape()).has(brokenFault) ? undefined : true));
  });
});
