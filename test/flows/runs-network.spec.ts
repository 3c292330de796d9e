/**
 * What runs of the whole service reach: what the operator named, never the service itself, and less where a delivery
 * started them. contract §10.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { deliver, runIn } from '../support/factories/factory-files.ts';
import { sandboxHere } from '../support/agents/sandboxed-command.ts';
import { bootService, eventually, freePort, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const ENDED = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];

/** Tries ports, directly and through the proxy, and prints what came of each. */
const TRY = `
const { connect } = require('node:net');
const { request } = require('node:http');
const proxy = process.env.HTTPS_PROXY === undefined ? undefined : new URL(process.env.HTTPS_PROXY);
const direct = (port) => new Promise((resolve) => connect(port, '127.0.0.1')
  .on('data', (bytes) => resolve(String(bytes)))
  .on('error', ({ code }) => resolve(code))
  .on('end', () => resolve('closed')));
const proxied = (port) => new Promise((resolve) => proxy === undefined
  ? resolve('no proxy')
  : request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: '127.0.0.1:' + port })
    .on('connect', (answer, socket) => (resolve(String(answer.statusCode)), socket.destroy()))
    .on('error', ({ code }) => resolve(code))
    .end());
(async () => {
  for (const port of PORTS) console.log(port, await direct(port), await proxied(port));
  process.exit();
})();`;

const usable = (await Promise.all((['bubblewrap', 'pid-namespace'] as const).map(sandboxHere))).some(
  (sandbox) => sandbox?.guarantees.network === true && sandbox.guarantees.loopback && sandbox.guarantees.files,
);
if (!usable) console.warn('SKIPPED: the network of runs: no sandbox of this machine can take it away');

/** What a run printed and what its log tells about it, when it has ended. */
async function said(
  on: TestService,
  runId: string,
): Promise<{ stdout: string; status: string; run: Record<string, unknown> }> {
  const run = await runIn(on, runId, ...ENDED);
  const { body } = await on.api('GET', `/agent/runs/${runId}/events?limit=1000`);
  const events = body['events'] as { event_type: string; payload: { text?: string } }[];
  const of = (kind: string) =>
    events
      .filter(({ event_type: type }) => type === kind)
      .map(({ payload }) => payload.text ?? '')
      .join('');
  return { stdout: of('stdout'), status: of('status'), run };
}

const startedByDelivery = (on: TestService): Promise<string> =>
  eventually('the delivery’s run', async () => {
    const runs = (await on.api('GET', '/agent/runs')).body['runs'] as { run_id: string; source: string }[];
    return runs.find(({ source }) => source === 'CUSTOM_WEBHOOK')?.run_id;
  });

const FACTORY = { webhooks: { orders: { secretName: 'bearer' } }, automations: { act: { webhooks: ['orders'] } } };

(usable ? describe : describe.skip)('the network of a run', () => {
  let named: Server;
  let namedPort: number;
  let servicePort: number;
  let mill: TestService;
  let folder: FactoryFolder;
  beforeAll(async () => {
    named = createServer((socket) => void socket.on('error', () => undefined).end('hello')).listen(0, '127.0.0.1');
    await once(named, 'listening');
    namedPort = (named.address() as AddressInfo).port;
    servicePort = await freePort();
    const command = [process.execPath, '-e', `const PORTS = [${namedPort}, ${servicePort}]; ${TRY}`];
    mill = await bootService({
      environment: {
        MILLWRIGHT_PORT: String(servicePort),
        MILLWRIGHT_RUN_COMMAND: JSON.stringify(command),
        MILLWRIGHT_RUN_ALLOW_HOSTS: `127.0.0.1:${namedPort}`,
      },
    });
    await mill.secret('bearer', TOKEN);
    folder = await factoryFolder(FACTORY);
    await mill.factory('shop', folder.source);
  });
  afterAll(async () => {
    await mill.stop();
    await folder.remove();
    named.close();
  });

  it('leads a run made over the API to what the operator named, and its log says where it does not', async () => {
    const { body } = await mill.api('POST', '/agent/runs', { prompt: 'x' });
    const { stdout, status } = await said(mill, String(body['run_id']));
    expect(stdout).toMatch(new RegExp(`^${namedPort} hello 200\\n${servicePort} E[A-Z]+ 403\\n$`));
    expect(status).toContain(`egress denied 127.0.0.1:${servicePort}: `);
  });

  it('is told first and last in its log: what it reaches and why, and how much went where', async () => {
    const { body } = await mill.api('POST', '/agent/runs', { prompt: 'x' });
    await said(mill, String(body['run_id']));
    const log = await mill.api('GET', `/agent/runs/${String(body['run_id'])}/events?limit=1000`);
    const texts = (log.body['events'] as { event_type: string; payload: { text?: string } }[])
      .filter(({ event_type: type }) => type === 'status')
      .flatMap(({ payload }) => payload.text ?? []);
    expect(texts[0]).toBe(`network: this run reaches 127.0.0.1:${namedPort} (operator list)`);
    expect(texts.at(-1)).toMatch(
      new RegExp(`^network: 127\\.0\\.0\\.1:${namedPort} sent 0 bytes, received \\d+ \\(\\d connections?\\)$`),
    );
  });

  it('is nothing for a run that a delivery started: no model and no repository is configured', async () => {
    expect((await deliver(mill.ingressUrl('shop', 'orders'), TOKEN)).status).toBe(202);
    const { stdout } = await said(mill, await startedByDelivery(mill));
    expect(stdout).toMatch(new RegExp(`^${namedPort} E[A-Z]+ no proxy\\n${servicePort} E[A-Z]+ no proxy\\n$`));
  });
});

describe('where nothing isolates runs', () => {
  it.each([
    {
      allowed: 'false',
      state: 'FAILED',
      message: 'this machine cannot keep it from the network',
      why: 'a stranger could steer it',
    },
    { allowed: 'true', state: 'SUCCEEDED', message: 'exit code 0', why: 'the operator allowed it by name' },
  ])(
    'a command for a delivery is $state with MILLWRIGHT_ALLOW_UNSANDBOXED=$allowed: $why',
    async ({ allowed, state, message }) => {
      // No program that builds a sandbox is found there.
      const environment = {
        PATH: '/nowhere',
        MILLWRIGHT_RUN_COMMAND: '["/bin/echo", "worked"]',
        MILLWRIGHT_ALLOW_UNSANDBOXED: allowed,
      };
      const mill = await bootService({ environment });
      const folder = await factoryFolder(FACTORY);
      try {
        await mill.secret('bearer', TOKEN);
        await mill.factory('shop', folder.source);
        await deliver(mill.ingressUrl('shop', 'orders'), TOKEN);
        const { run, status } = await said(mill, await startedByDelivery(mill));
        expect(run).toMatchObject({ state, status_message: { message: expect.stringContaining(message) } });
        if (state === 'SUCCEEDED') expect(status).toContain('NOT ISOLATED');
        const { body } = await mill.api('POST', '/agent/runs', { prompt: 'x' });
        expect(await said(mill, String(body['run_id']))).toMatchObject({
          stdout: 'worked\n',
          status: expect.stringContaining('NOT ISOLATED'),
        });
      } finally {
        await mill.stop();
        await folder.remove();
      }
    },
  );
});
