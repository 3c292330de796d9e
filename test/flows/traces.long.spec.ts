/**
 * Traces as a collector gets them: from a change to what serves, from a delivery to its run, its agent's turn and its
 * tools; and a collector that hangs, fails or is not there. contract §1.9 (Traces).
 */
import { get } from 'node:http';
import {
  automationFile,
  automationPath,
  deliver,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/network/otlp-receiver.ts';
import { bootService, eventually, freePort, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const CANARY = 'canary-of-payload-and-prompt';
const COLLECTOR_KEY = 'key-of-the-collector';
const SENDER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

let git: GitServer;
beforeAll(async () => {
  git = await startGitServer();
});
afterAll(() => git.close());

async function bootTraced(endpoint: string, more: Record<string, string> = {}): Promise<TestService> {
  const mill = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${COLLECTOR_KEY}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
      ...more,
    },
  });
  await mill.secret('hook-token', TOKEN);
  return mill;
}

const factoryOf = (mill: TestService, name: string): Promise<string> =>
  mill.factory(name, { kind: 'git', url: git.urlOf(name), branch: 'main' });

/** A span has come; those of a trace come in several requests. */
const spanOf = (collector: OtlpReceiver, name: string, fits: (span: ReceivedSpan) => boolean = () => true) =>
  eventually(`a span ${name}`, async () => collector.named(name).find(fits), 60_000);

/** What is counted of spans. */
async function spans(mill: TestService): Promise<Record<string, number>> {
  const answer = await fetch(`${mill.url}/metrics`, { headers: { authorization: `Bearer ${mill.adminKey}` } });
  const found = (await answer.text()).matchAll(/^millwright_trace_spans_total\{result="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, result = '', count]) => [result, Number(count)]));
}

describe('traces that a collector takes', () => {
  let collector: OtlpReceiver;
  let mill: TestService;

  beforeAll(async () => {
    collector = await OtlpReceiver.start();
    mill = await bootTraced(collector.url);
    git.createRepository('traced').commit({
      [webhookPath('orders')]: webhookFile('hook-token'),
      [automationPath('triage')]: automationFile(['orders'], `Say hello, ${CANARY}.`, {
        lines: ['harness: {type: builtin}'],
      }),
    });
    await factoryOf(mill, 'traced');
  });

  afterAll(async () => {
    await mill.stop();
    await collector.close();
  });

  it('say who sends them, where the operator wants them', async () => {
    await spanOf(collector, 'sync.pass');
    const [request] = collector.requests;
    expect(request).toMatchObject({ path: '/v1/traces', headers: { 'x-key': COLLECTOR_KEY } });
    expect(collector.resource).toMatchObject({
      'service.name': 'millwright',
      'service.version': expect.stringMatching(/^\d/),
      'deployment.environment': 'test',
    });
  });

  it('go from what asks for a pass to what serves', async () => {
    const pass = await spanOf(collector, 'sync.pass', ({ attributes }) => attributes['millwright.changes'] === 2);
    expect(pass.attributes).toMatchObject({
      'millwright.factory': 'traced',
      'millwright.ending': 'applied',
      'millwright.revision': expect.stringContaining('main@'),
    });
    const parts = collector.spans.filter(({ parentSpanId }) => parentSpanId === pass.spanId);
    expect(parts.map(({ name }) => name)).toEqual([
      'sync.fetch',
      'sync.parse',
      'sync.plan',
      'sync.apply',
      'sync.serve',
    ]);
    for (const { traceId, startTimeUnixNano: start, endTimeUnixNano: end } of parts) {
      expect(traceId).toBe(pass.traceId);
      expect(BigInt(start)).toBeGreaterThanOrEqual(BigInt(pass.startTimeUnixNano));
      expect(BigInt(end)).toBeLessThanOrEqual(BigInt(pass.endTimeUnixNano));
    }
    const line = mill.logged.map((each) => JSON.parse(each) as Record<string, unknown>);
    expect(line.find(({ message }) => message === 'sync pass ended')).toMatchObject({ trace_id: pass.traceId });
  });

  it('go from a delivery to its run, its turns and their tools; the sender is linked, and not followed', async () => {
    const traceparent = `00-${SENDER.traceId}-${SENDER.spanId}-01`;
    const sent = await deliver(mill.ingressUrl('traced', 'orders'), TOKEN, { text: CANARY }, { traceparent });
    expect(sent.status).toBe(202);
    const delivery = await spanOf(collector, 'delivery');
    expect(delivery).toMatchObject({ kind: 2, links: [SENDER], attributes: { 'millwright.outcome': 'accepted' } });
    expect(delivery.parentSpanId ?? '').toBe('');
    expect(delivery.traceId).not.toBe(SENDER.traceId);
    expect(delivery.traceId).toBe(String(delivery.attributes['millwright.entry_id']).replaceAll('-', ''));
    const run = await spanOf(collector, 'run');
    expect(run).toMatchObject({
      traceId: delivery.traceId,
      parentSpanId: delivery.spanId,
      attributes: { 'millwright.state': 'SUCCEEDED', 'millwright.epoch': 1 },
      status: {},
    });
    const below = (parent: ReceivedSpan) =>
      collector.spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);
    expect(below(run).map(({ name }) => name)).toEqual(['run.prepare', 'agent.turn']);
    const [, turn] = below(run) as [ReceivedSpan, ReceivedSpan];
    const tools = below(turn);
    expect(tools.length).toBeGreaterThan(0);
    expect(turn.attributes['millwright.tools']).toBe(tools.length);
    for (const tool of tools) {
      expect(tool).toMatchObject({ name: 'agent.tool', traceId: delivery.traceId });
      expect(tool.attributes['millwright.status']).toBe('completed');
    }
  });

  it('are named in the log of the service and of the run', async () => {
    const { traceId, attributes } = await spanOf(collector, 'run');
    const lines = mill.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const message of ['delivery', 'run started', 'run ended'])
      expect(lines.find((line) => line['message'] === message)).toMatchObject({ trace_id: traceId });
    const { body } = await mill.api('GET', `/agent/runs/${String(attributes['millwright.run_id'])}/events?limit=1000`);
    const texts = (body['events'] as { payload: { text?: string } }[]).map(({ payload }) => payload.text);
    expect(texts).toContain(`trace ${traceId}`);
  });

  it('are exemplars of figures', async () => {
    const { traceId } = await spanOf(collector, 'run');
    const answer = await fetch(`${mill.url}/metrics`, {
      headers: { authorization: `Bearer ${mill.adminKey}`, accept: 'application/openmetrics-text; version=1.0.0' },
    });
    const text = await answer.text();
    for (const name of ['ingress_request_duration', 'run_start_delay', 'run_duration'])
      expect(text).toMatch(
        new RegExp(`^millwright_${name}_seconds_bucket\\{.*\\} \\d+ # \\{trace_id="${traceId}"\\}`, 'm'),
      );
    expect(text).toMatch(/^millwright_sync_propagation_seconds_bucket\{.*\} \d+ # \{trace_id="[0-9a-f]{32}"\}/m);
  });

  it('hold no payload, no prompt and no secret', () => {
    const all = Buffer.concat(collector.requests.map(({ body }) => body)).toString();
    expect(all).toContain('agent.turn');
    expect(all).not.toMatch(new RegExp(`${CANARY}|${TOKEN}|${mill.adminKey}|${COLLECTOR_KEY}`));
    expect(mill.logged.join('')).not.toContain(COLLECTOR_KEY);
  });

  it('are counted, and none was lost', async () => {
    expect(await eventually('sent', async () => ((await spans(mill))['sent'] ?? 0) > 5 || undefined)).toBe(true);
    expect(await spans(mill)).toMatchObject({ failed: 0, dropped: 0 });
  });
});

describe('traces by the binary form of the protocol', () => {
  it('hold the same', async () => {
    const collector = await OtlpReceiver.start();
    const mill = await bootTraced(collector.url, { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' });
    git.createRepository('binary').commit({ [webhookPath('orders')]: webhookFile('hook-token') });
    await factoryOf(mill, 'binary');
    await mill.stop(); // sends what it has
    const bodies = Buffer.concat(collector.requests.map(({ body }) => body));
    await collector.close();
    expect(collector.requests[0]?.headers['content-type']).toBe('application/x-protobuf');
    for (const word of ['sync.pass', 'sync.serve', 'millwright.ending', 'applied'])
      expect(bodies.includes(word)).toBe(true);
  });
});

describe('traces of which a part is wanted', () => {
  it('are none with the sampler always_off', async () => {
    const collector = await OtlpReceiver.start();
    const mill = await bootTraced(collector.url, { OTEL_TRACES_SAMPLER: 'always_off' });
    git.createRepository('unwanted').commit({ [webhookPath('orders')]: webhookFile('hook-token') });
    await factoryOf(mill, 'unwanted');
    expect((await deliver(mill.ingressUrl('unwanted', 'orders'), TOKEN)).status).toBe(202);
    await mill.stop();
    await collector.close();
    expect(collector.requests).toEqual([]);
    expect(mill.logged.join('')).not.toContain('trace_id');
  });
});

describe('a collector', () => {
  it.each<[what: string, misbehave: (collector: OtlpReceiver) => void]>([
    ['that hangs', (collector) => void (collector.answer = () => undefined)],
    ['that breaks off', (collector) => void (collector.answer = (response) => void response.destroy())],
    ['that fails', (collector) => void (collector.answer = (response) => void response.writeHead(500).end('no'))],
    [
      'that answers nonsense without end',
      (collector) =>
        void (collector.answer = (response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          const more = setInterval(() => response.write('x'.repeat(65_536)), 5);
          response.on('close', () => clearInterval(more));
        }),
    ],
  ])('%s costs no delivery and little time at the stop', async (_what, misbehave) => {
    const collector = await OtlpReceiver.start();
    misbehave(collector);
    const { url } = collector;
    const mill = await bootTraced(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: '1500', MILLWRIGHT_API_RATE: '0' });
    const name = `endures-${Math.random().toString(36).slice(2, 8)}`;
    const hooks = Array.from({ length: 20 }, (_, n) => `hook-${n}`);
    git
      .createRepository(name)
      .commit(Object.fromEntries(hooks.map((hook) => [webhookPath(hook), webhookFile('hook-token')])));
    await factoryOf(mill, name);
    const statuses: number[] = [];
    for (let round = 0; round < 50; round += 1)
      statuses.push(
        ...(await Promise.all(hooks.map(async (hook) => (await deliver(mill.ingressUrl(name, hook), TOKEN)).status))),
      );
    expect(statuses.filter((status) => status !== 202)).toEqual([]);
    const startedAtMs = performance.now();
    await mill.stop();
    const tookMs = performance.now() - startedAtMs;
    await collector.close();
    expect(tookMs).toBeLessThan(60_000);
    expect(mill.logged.filter((line) => line.includes('trace export')).length).toBeLessThanOrEqual(2);
    expect(mill.logged.join('')).not.toContain(url);
  });

  it('that hangs fills a bounded queue: what comes then is dropped and counted', async () => {
    const collector = await OtlpReceiver.start();
    collector.answer = () => undefined;
    const mill = await bootTraced(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
    const hooks = Array.from({ length: 20 }, (_, n) => `hook-${n}`);
    const factories = Array.from({ length: 5 }, (_, n) => `flooded-${n}`);
    for (const name of factories) {
      const files = hooks.map((hook): [string, string] => [webhookPath(hook), webhookFile('hook-token')]);
      git.createRepository(name).commit(Object.fromEntries(files));
      await factoryOf(mill, name);
    }
    const urls = factories.flatMap((name) => hooks.map((hook) => mill.ingressUrl(name, hook)));
    for (let round = 0; round < 55; round += 1) {
      const answers = await Promise.all(urls.map((url) => deliver(url, TOKEN)));
      expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
    }
    const counted = await eventually('some are dropped', async () => {
      const found = await spans(mill);
      return (found['dropped'] ?? 0) > 0 ? found : undefined;
    });
    expect(counted['sent']).toBe(0);
    expect(counted['dropped']).toBeGreaterThan(200);
    await mill.stop();
    await collector.close();
  });

  it('that is not there costs nothing but a line of the log', async () => {
    const mill = await bootTraced(`http://127.0.0.1:${await freePort()}`, { OTEL_EXPORTER_OTLP_TIMEOUT: '1000' });
    git.createRepository('alone').commit({ [webhookPath('orders')]: webhookFile('hook-token') });
    await factoryOf(mill, 'alone');
    await eventually('the failure is told', async () =>
      mill.logged.some((line) => line.includes('"message":"trace export failed"')) ? true : undefined,
    );
    expect((await deliver(mill.ingressUrl('alone', 'orders'), TOKEN)).status).toBe(202);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(mill.logged.filter((line) => line.includes('trace export'))).toHaveLength(1);
    await mill.stop();
    await new Promise<void>((resolve, reject) => {
      get(mill.url, () => reject(new Error('it answers still'))).on('error', () => resolve());
    });
  });
});
