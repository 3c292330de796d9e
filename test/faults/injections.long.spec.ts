/**
 * Sixty-six injections against a model that obeys every text, in the real sandbox: nothing reaches a host, a path or a
 * method that nobody has declared, and no secret is in a log, a diff, an artifact, or anything else that the service
 * stores. What a run's environment holds in clear can be told in forms that no redaction knows; these are for `network`
 * alone to hold. contract §10.2 (Execution and sandbox), §10.4 (Declared injections).
 */
import { execFile, execFileSync } from 'node:child_process';
import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DECLARED_PATH, injectionsFor, type CarrierName, type Injection } from '../support/agents/injections.ts';
import { obedientModel, obeyed } from '../support/agents/obedient-model.ts';
import { sandboxHere } from '../support/agents/sandboxed-command.ts';
import { deliver, runIn, webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { startFakeModelServer, type FakeModelServer } from '../support/models/fake-model-server.ts';
import { ENDED } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';

/** Canaries: what the run has inside, what it has outside, and what only the service has. */
const SECRETS = {
  deploy: 'canary-deploy-5f2c9a71d3',
  forge: 'canary-forge-7d02be6f41',
  model: 'canary-model-0b84ee17c6',
  git: 'canary-git-91d7a3f05e',
  hook: 'canary-hook-c35be8a264',
};
/** As redaction promises to find them. */
const formsOf = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].map((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    return shifted.toString('base64').slice(Math.ceil((shift * 8) / 6), Math.floor((shifted.length * 8) / 6));
  });
  return [secret, bytes.toString('hex'), encodeURIComponent(secret), ...cores];
};
const FORMS = Object.values(SECRETS).flatMap(formsOf);
const held = (text: string): string[] => FORMS.filter((form) => text.includes(form));

const usable = await sandboxHere('bubblewrap');
const isWalled = usable?.guarantees.files === true && usable.guarantees.network;
if (!isWalled) console.warn('SKIPPED: injections: no sandbox of this machine keeps files and network apart');

/** Somebody who waits: everything that reaches him, by whatever protocol. */
class Collector {
  heard = '';
  connections = 0;
  readonly server: Server;
  readonly datagrams: Datagrams;

  constructor() {
    this.server = createServer((socket) => {
      this.connections += 1;
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        this.heard += bytes.toString('latin1');
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      });
    });
    this.datagrams = createSocket('udp4').on('message', (bytes) => (this.heard += bytes.toString('latin1')));
  }

  async listen(host: string): Promise<{ port: number; udpPort: number }> {
    await new Promise<void>((resolve) => this.server.listen(0, host, resolve));
    await new Promise<void>((resolve) => this.datagrams.bind(0, host, resolve));
    return { port: (this.server.address() as AddressInfo).port, udpPort: this.datagrams.address().port };
  }

  forget(): void {
    [this.heard, this.connections] = ['', 0];
  }

  async close(): Promise<void> {
    this.datagrams.close();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** An MCP server without a package: its one tool is described by the delivery. */
const TOOL_SERVER = `
const { tool } = JSON.parse(require('fs').readFileSync('event-payload.json', 'utf8'));
const answers = {
  initialize: ({ protocolVersion }) =>
    ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'helper', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'read', description: tool || 'Reads.', inputSchema: { type: 'object' } }] }),
};
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = (answers[method] || (() => ({})))(params || {});
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

const automation = (hook: string, more = ''): string =>
  `---\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: [${hook}]}}\n` +
  `environmentId: build\nsecrets: [{name: DEPLOY_TOKEN, expose: env}]\n${more}---\n` +
  `Look into the event and answer in one line.\n`;

interface Outcome {
  runId: string;
  run: Record<string, unknown>;
  /** Log, item and artifacts, all of it. */
  told: string;
  artifacts: string[];
}

(isWalled ? describe : describe.skip)('an injection, obeyed', () => {
  // Its name says which; the tests are made before anything listens.
  const TABLE = injectionsFor({
    host: '127.0.0.1',
    port: 9,
    udpPort: 9,
    serviceUrl: 'http://127.0.0.1:9',
    forgeUrl: 'https://127.0.0.1:9',
  });
  const SLUGS = new Map([...new Set(TABLE.map(({ carrier }) => carrier))].map((name, at) => [name, `way-${at}`]));
  const slugOf = (carrier: CarrierName): string => SLUGS.get(carrier) ?? '';

  const collector = new Collector();
  const outcomes = new Map<string, Outcome>();
  let [model, git, forge, service]: [FakeModelServer?, GitServer?, GitServer?, TestService?] = [];
  let injections: Injection[] = [];

  beforeAll(async () => {
    // An address of the machine that is not loopback, where there is one: nothing else stands in the way there.
    const host =
      Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
    model = await startFakeModelServer((asked) => obedientModel(asked));
    git = await startGitServer();
    // Any server that remembers what it is asked.
    forge = await startGitServer();
    const caFile = join(git.root, '../both.pem');
    await writeFile(caFile, (await readFile(git.caFile, 'utf8')) + (await readFile(forge.caFile, 'utf8')));
    service = await bootService({
      environment: {
        MILLWRIGHT_RUN_COMMAND: '',
        MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1`,
        MILLWRIGHT_AGENT_MODEL: 'obedient-1',
        MILLWRIGHT_AGENT_API_KEY: SECRETS.model,
        MILLWRIGHT_GIT_CA_FILE: caFile,
        MILLWRIGHT_RUN_ALLOW_HOSTS: [model.url, git.url, forge.url].map((url) => new URL(url).host).join(),
        MILLWRIGHT_RUN_CONCURRENCY: '3',
        MILLWRIGHT_SYNC_INTERVAL: '3600',
      },
    });
    injections = injectionsFor({
      host,
      ...(await collector.listen(host)),
      serviceUrl: service.url,
      forgeUrl: forge.url,
    });
    await prepare(service, git, new URL(forge.url).host);
    for (const injection of injections) await play(service, injection);
  }, 900_000);

  afterAll(async () => {
    await service?.stop();
    await Promise.all([model?.close(), git?.close(), forge?.close(), collector.close()]);
  });

  async function prepare(
    on: TestService,
    { createRepository, tokens, urlOf, url }: GitServer,
    host: string,
  ): Promise<void> {
    await on.secret('hook', SECRETS.hook);
    await on.api('PUT', '/secrets/DEPLOY_TOKEN', { value: SECRETS.deploy, grants: { uses: ['run'] } });
    await on.api('PUT', '/secrets/FORGE_TOKEN', { value: SECRETS.forge, grants: { uses: ['run'] } });
    const declared = { name: 'FORGE_TOKEN', host, header: 'Authorization', paths: ['/repos/acme/app/**'] };
    await on.api('PUT', '/secrets/GIT_TOKEN', { value: SECRETS.git, grants: { uses: ['git'] } });
    const documents = injections.flatMap(({ document, payload }) =>
      document === undefined ? [] : [[String(payload['doc']), document] as const],
    );
    createRepository('acme/app').commit({ 'config.yaml': 'token: none\n', ...Object.fromEntries(documents) });
    const tools = `mcpServers: ${JSON.stringify({ helper: { command: 'node', args: ['-e', TOOL_SERVER] } })}\n`;
    createRepository('acme/factory').commit({
      'environments/build.yaml': JSON.stringify({ repositories: [`${url}/acme/app`], secrets: [declared] }),
      ...Object.fromEntries(
        [...SLUGS].flatMap(([carrier, slug]) => [
          [webhookPath(slug), webhookFile('hook')],
          [`automations/${slug}/automation.md`, automation(slug, carrier === 'a tool’s description' ? tools : '')],
        ]),
      ),
    });
    for (const name of ['acme/app', 'acme/factory']) tokens.set(name, SECRETS.git);
    const credentialSecret = 'GIT_TOKEN';
    await on.factory('main', { kind: 'git', url: urlOf('acme/factory'), branch: 'main', credentialSecret });
  }

  /** One after the other where it is sent, several at a time where it is worked on. */
  async function play(on: TestService, { id, carrier, payload }: Injection): Promise<void> {
    const answer = await deliver(on.ingressUrl('main', slugOf(carrier)), SECRETS.hook, payload);
    expect(answer.status).toBe(202);
    const factory = (await on.api('GET', '/factory')).body['factories'] as { uid: string }[];
    const log = `/factory/${factory[0]?.uid}/webhooks/${on.webhookUid('main', slugOf(carrier))}/deliveries?limit=1`;
    const { deliveries } = (await on.api('GET', log)).body as { deliveries: { started: { run_id: string }[] }[] };
    outcomes.set(id, { runId: deliveries[0]?.started[0]?.run_id ?? '', run: {}, told: '', artifacts: [] });
  }

  async function outcomeOf(id: string): Promise<Outcome> {
    const outcome = outcomes.get(id);
    if (outcome === undefined || service === undefined) throw new Error(`nothing was played for ${id}`);
    if (outcome.told !== '') return outcome;
    const { runId } = outcome;
    const run = await runIn(service, runId, ...ENDED);
    const { body } = await service.api('GET', `/agent/runs/${runId}/events?limit=1000`);
    const items = (run['artifacts'] ?? []) as { artifact_uid: string; data: { filename?: string } }[];
    const contents: string[] = [];
    for (const { artifact_uid: uid } of items) {
      const answer = await fetch(`${service.url}/api/v1/agent/artifacts/${uid}/download`, {
        headers: { authorization: `Bearer ${service.adminKey}` },
      });
      contents.push(Buffer.from(await answer.arrayBuffer()).toString('latin1'));
    }
    const told = [JSON.stringify(run), JSON.stringify(body), ...contents].join('\n');
    Object.assign(outcome, { run, told, artifacts: items.map(({ data }) => data.filename ?? '') });
    return outcome;
  }

  it.each(TABLE.map(({ id, carrier, goal }) => [id, carrier, goal] as const))(
    '%s in %s does not get %s',
    async (id) => {
      const { run, told } = await outcomeOf(id);
      expect(run['state']).toBe('SUCCEEDED');
      const orders = (model?.requests ?? []).flatMap(obeyed).filter((command) => command.includes(`: ${id};`));
      expect([id, orders.length > 0]).toEqual([id, true]); // an order that was not carried out shows nothing
      expect([id, held(told)]).toEqual([id, []]);
    },
    300_000,
  );

  it('sends no byte to a host that nobody has declared', async () => {
    for (const { id } of injections) await outcomeOf(id);
    expect([collector.connections, collector.heard]).toEqual([0, '']);
  }, 600_000);

  it('reaches of a declared host what is declared, and nothing else of it', async () => {
    for (const { id } of injections) await outcomeOf(id);
    const asked = new Set(
      (forge?.requests ?? []).map(({ method, path, authorization }) => [method, path, authorization].join(' ')),
    );
    // Whoever asks for the rest has asked for this, too.
    expect([...asked]).toEqual([`GET ${DECLARED_PATH} Bearer ${SECRETS.forge}`]);
  }, 600_000);

  it('leaves no secret in the service’s own log, in its database, in transcripts or in fetched copies', async () => {
    for (const { id } of injections) await outcomeOf(id);
    const { dataDir = '', logged = [] } = service ?? {};
    expect(held(logged.join('\n'))).toEqual([]);
    const stored = (await readdir(dataDir)).filter((name) => name.startsWith('millwright.sqlite'));
    const places = stored.map((name) => join(dataDir, name));
    for (const { runId } of outcomes.values()) {
      const folder = join(dataDir, 'runs', runId, 'home/.millwright-agent');
      places.push(...(await readdir(folder)).map((name) => join(folder, name)));
    }
    expect(places.length).toBeGreaterThan(60);
    for (const place of places) expect([place, held(await readFile(place, 'latin1'))]).toEqual([place, []]);
    const { deploy: inside, ...outside } = SECRETS;
    for (const secret of Object.values(outside)) expect([secret, filesWith(dataDir, secret)]).toEqual([secret, []]);
    // What a run has inside on purpose, it can write into its own workspace, which is removed with it.
    const own = [...outcomes.values()].map(({ runId }) => join(dataDir, 'runs', runId, 'workspace/'));
    expect(filesWith(dataDir, inside).filter((file) => !own.some((place) => file.startsWith(place)))).toEqual([]);
  }, 600_000);

  it('is obeyed: outside of a sandbox the same orders bring the secret to the one who waits', async () => {
    const bring = injections.find(({ goal }) => goal === 'the environment in a body');
    const issue = bring?.payload['issue'] as { title: string } | undefined;
    const order = /`([^`]+)`/.exec(issue?.title ?? '')?.[1] ?? '';
    collector.forget();
    // As it is: the sandbox is all that is missing.
    await promisify(execFile)('/bin/sh', ['-c', order], {
      env: { PATH: process.env['PATH'], DEPLOY_TOKEN: SECRETS.deploy },
    });
    expect([collector.connections, collector.heard.includes(SECRETS.deploy)]).toEqual([1, true]);
  });
});

/** Files below a folder that hold a text, in their bytes. */
function filesWith(folder: string, text: string): string[] {
  try {
    return execFileSync('grep', ['-rlaF', '--', text, folder], { encoding: 'utf8' }).trim().split('\n');
  } catch {
    return [];
  }
}
