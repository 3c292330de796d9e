/**
 * The packed TypeScript client with what is not of this repository: the checkers of packages, Deno, Bun and a browser.
 * Run by test/clients/run.mjs, which brings the programs.
 */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import type { Browser } from 'playwright-core';
import { describeInBrowser, launch, visit } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import {
  CONSUMER,
  installedClient,
  readmeCommonJs,
  readmeExamples,
  strictly,
  type Project,
} from './typescript-project.ts';

const PROGRAMS = process.env['MILLWRIGHT_TEST_CLIENT_TOOLS'];
if (PROGRAMS === undefined) throw new Error('node test/clients/run.mjs runs these tests: it brings the programs');
const SLOW_MS_MAX = 180_000;
const README = readmeExamples();

let service: TestService;
let project: Project;
let environment: Record<string, string>;

beforeAll(async () => {
  [service, project] = await Promise.all([bootService(), installedClient()]);
  await service.api('POST', '/factory', { slug: 'orders', source: { kind: 'dashboard' } });
  environment = { MILLWRIGHT_BASE_URL: service.url, MILLWRIGHT_API_KEY: service.adminKey, NO_COLOR: '1' };
  for (const [index, example] of README.entries()) await project.write(`readme-${index + 1}.ts`, example);
  await project.write('first.cjs', readmeCommonJs());
}, SLOW_MS_MAX);
afterAll(async () => {
  await service?.stop();
  await project?.remove();
});

describe('the package', () => {
  it(
    'has types that fit every way to resolve it',
    async () => {
      expect(
        await project.run(join(PROGRAMS, 'attw'), [project.tarball, '--no-emoji', '--no-color', '--profile', 'strict']),
      ).toMatchObject({ code: 0 });
    },
    SLOW_MS_MAX,
  );

  it(
    'has entry points that fit every runtime and bundler',
    async () => {
      const { code, output } = await project.run(join(PROGRAMS, 'publint'), [project.tarball, '--strict']);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('All good!') });
    },
    SLOW_MS_MAX,
  );

  it.each(['typescript-5.0', 'typescript-5.4'])(
    'has types that %s takes',
    async (compiler) => {
      await project.write('old/consumer.ts', CONSUMER);
      await project.write('old/consumer-commonjs.cts', CONSUMER);
      await project.write('old/tsconfig.json', strictly(['*.ts', '*.cts']));
      expect(
        await project.run(process.execPath, [join(PROGRAMS, '..', compiler, 'bin/tsc'), '-p', 'old', '--noEmit']),
      ).toEqual({ code: 0, output: '' });
    },
    SLOW_MS_MAX,
  );
});

describe.each([
  [
    'Deno',
    'deno',
    ['run', '--quiet', '--no-remote', '--node-modules-dir=manual', '--allow-env', '--allow-net=127.0.0.1'],
  ],
  ['Bun', 'bun', ['run']],
])('%s', (_, program, args) => {
  it.each(README.map((__, index) => index + 1))(
    'runs example %d of the README',
    async (number) => {
      const { code, output } = await project.run(
        join(PROGRAMS, program),
        [...args, `readme-${number}.ts`],
        environment,
      );
      expect({ code, output }).toEqual({
        code: 0,
        output: expect.stringMatching(number === 1 ? /^Say hello\. SUCCEEDED\n$/ : /./),
      });
    },
    SLOW_MS_MAX,
  );

  it(
    'runs the CommonJS program of the README',
    async () => {
      const { code, output } = await project.run(join(PROGRAMS, program), [...args, 'first.cjs'], environment);
      expect({ code, output }).toEqual({ code: 0, output: 'Say hello. SUCCEEDED\n' });
    },
    SLOW_MS_MAX,
  );
});

describeInBrowser('a browser', () => {
  let browser: Browser;
  let site: Site;

  beforeAll(async () => {
    site = await serve(join(project.folder, 'node_modules/@millwright/client/dist/esm'), service.url);
    browser = await launch();
  }, SLOW_MS_MAX);
  afterAll(async () => {
    await browser?.close();
    site?.server.close();
  });

  /** Runs the body of an async function with the client's module and the key at hand, in a page of the site. */
  async function inPage(body: string): Promise<{ answer: unknown; faults: string[] }> {
    const { page, faults, close } = await visit(browser, site);
    const script =
      `(async () => { const mw = await import('/client/index.js'); const apiKey = ` +
      `${JSON.stringify(service.adminKey)}; const elsewhere = ${JSON.stringify(service.url)}; ${body} })()`;
    const answer: unknown = await page.evaluate(script);
    await close();
    return { answer, faults };
  }

  it('starts a run and follows it, from a page under one origin with the service', async () => {
    const { answer, faults } = await inPage(`
      const client = new mw.Millwright({ baseURL: location.origin, apiKey });
      const { run_id } = await client.agent.runs.create({ prompt: 'Say hello.' });
      const events = client.agent.runs.events(run_id);
      let count = 0;
      for await (const event of events) count += 1;
      const { items } = await client.agent.runs.list({ limit: 1 });
      return { state: events.runState, isWhole: count === events.lastSeq && count > 0, listed: items.length };
    `);
    expect({ answer, faults }).toEqual({ answer: { state: 'SUCCEEDED', isWhole: true, listed: 1 }, faults: [] });
  });

  it('throws errors of their classes', async () => {
    const { answer } = await inPage(`
      const client = new mw.Millwright({ baseURL: location.origin, apiKey });
      const error = await client.agent.runs.retrieve('none').catch((thrown) => thrown);
      return [error instanceof mw.NotFoundError, error.code];
    `);
    expect(answer).toEqual([true, 'resource_not_found']);
  });

  it('signs deliveries and verifies them', async () => {
    const { answer } = await inPage(`
      const delivery = {
        authentication: 'standard_webhooks',
        secret: 'whsec_' + btoa('0123456789abcdef0123456789abcdef'),
        body: '{"order":7}',
      };
      const headers = await mw.signDelivery({ ...delivery, deliveryId: 'msg_1' });
      await mw.verifyDelivery({ ...delivery, headers });
      const error = await mw.verifyDelivery({ ...delivery, headers, body: '{"order":8}' }).catch((thrown) => thrown);
      return error.reason;
    `);
    expect(answer).toBe('wrong-signature');
  });

  it('cannot call a service of another origin, and is told so as a lost connection', async () => {
    const { answer } = await inPage(`
      const client = new mw.Millwright({ baseURL: elsewhere, apiKey, maxRetries: 0 });
      const error = await client.apiKeys.current().catch((thrown) => thrown);
      return error instanceof mw.APIConnectionError;
    `);
    expect(answer).toBe(true);
  });
});

interface Site {
  url: string;
  server: Server;
}

/** A page, the client's modules, and the service under /api, all of one origin, as a reverse proxy would have it. */
async function serve(modules: string, api: string): Promise<Site> {
  const server = createServer((incoming, answer) => {
    const path = (incoming.url ?? '/').split('?')[0]!;
    if (path.startsWith('/api/')) {
      const outgoing = request(
        new URL(incoming.url!, api),
        { method: incoming.method, headers: { ...incoming.headers, host: new URL(api).host } },
        (answered) => {
          answer.writeHead(answered.statusCode ?? 502, answered.headers);
          answered.pipe(answer);
        },
      );
      outgoing.on('error', () => answer.destroy());
      answer.on('close', () => outgoing.destroy());
      return void incoming.pipe(outgoing);
    }
    if (!path.startsWith('/client/'))
      return void answer
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Client</title><link rel="icon" href="data:,">');
    readFile(join(modules, normalize(path.slice('/client'.length)))).then(
      (text) => answer.writeHead(200, { 'content-type': 'text/javascript' }).end(text),
      () => answer.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
