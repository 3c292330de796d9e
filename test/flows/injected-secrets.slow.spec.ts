/**
 * Secrets that go to hosts: added outside of the sandbox where a definition says so, and nowhere else. contract §10.4
 * (Declared injections).
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { createRunAuthority } from '../../apps/server/execution/egress/run-authority.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { ENDED, logOf, outputOf, SHELL, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** In no file of the machine. */
const VALUE = `canary-${randomBytes(16).toString('hex')}`;

interface Asked {
  method?: string;
  url?: string;
  authorization?: string;
  body: string;
}

let base: string;
let forge: Server;
let other: Server;
let asked: Asked[];
let headersAsked: IncomingHttpHeaders[] = [];
/** Connections to it: of programs that speak anything. */
let connected = 0;
const sockets = new Set<Socket>();
let service: TestService;
let folder: FactoryFolder;
let factoryUid: string;

/** A server with a certificate of its own, which tells whoever asks what it got. */
async function serve(name: string): Promise<Server> {
  const authority = await createRunAuthority(['127.0.0.1'], Date.now());
  const web = createHttpServer((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      const { method, url, headers } = request;
      asked.push({ method, url, authorization: headers.authorization, body });
      headersAsked.push(headers);
      response.writeHead(200, { 'x-echo': headers.authorization ?? '' });
      response.end(JSON.stringify({ name, headers, body: body.length }));
    });
  });
  const secureContext = await authority.contextFor('127.0.0.1');
  const server = createServer((socket) => {
    connected += 1;
    sockets.add(socket.on('error', () => undefined));
    web.emit(
      'connection',
      new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => socket.destroy()),
    );
  });
  await writeFile(join(base, `${name}.pem`), authority.certificate);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-injected-'));
  asked = [];
  [forge, other] = [await serve('forge'), await serve('other')];
  service = await bootService({
    environment: {
      ...SHELL,
      MILLWRIGHT_GIT_CA_FILE: join(base, 'forge.pem'),
      MILLWRIGHT_RUN_ALLOW_HOSTS: `127.0.0.1:${portOf(forge)},127.0.0.1:${portOf(other)}`,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
    },
  });
  for (const name of ['FORGE_TOKEN', 'INSIDE', 'SILENT'])
    await service.api('PUT', `/secrets/${name}`, {
      value: name === 'FORGE_TOKEN' ? VALUE : `${name}-value-of-a-test`,
      // What is inside has to be granted to requests; what is used from outside needs no more than its file.
      grants: { factories: '*', uses: ['run'], ...(name === 'FORGE_TOKEN' ? {} : { runs: '*' }) },
    });
  folder = await factoryFolder({ webhooks: {}, automations: {} });
  await mkdir(join(folder.path, 'environments'), { recursive: true });
  await writeFile(
    join(folder.path, 'environments/forge.yaml'),
    `secrets:
  - name: FORGE_TOKEN
    host: "127.0.0.1:${portOf(forge)}"
    header: Authorization
    methods: [GET, POST]
    paths: [/repos/*/issues]
  - {name: INSIDE, expose: env}
  - {name: SILENT}
`,
  );
  factoryUid = await service.factory('shop', folder.source);
});
afterAll(async () => {
  await service.stop();
  for (const socket of sockets) socket.destroy();
  for (const server of [forge, other]) server.close();
  await folder.remove();
  await rm(base, { recursive: true, force: true });
});

/** What a script in the environment prints, and what its log says. */
async function ran(script: string): Promise<{ output: string; log: string }> {
  [connected, headersAsked] = [0, []];
  asked.splice(0);
  const runId = await startedRun(service, script, { factory_uid: factoryUid, config: { environment_id: 'forge' } });
  await eventually(
    'the run ends',
    async () =>
      ENDED.includes(String((await service.api('GET', `/agent/runs/${runId}`)).body['state'])) ? true : undefined,
    60_000,
  );
  const log = (await logOf(service, runId)).map(({ payload }) => payload.text ?? payload.message ?? '').join('\n');
  return { output: await outputOf(service, runId), log };
}

const url = (path: string): string => `https://127.0.0.1:${portOf(forge)}${path}`;

it.each([
  [
    'curl',
    () => `curl -sS -i -H "Authorization: Bearer $FORGE_TOKEN" -d 'a body' ${url('/repos/acme/issues?state=open')}`,
  ],
  [
    'node',
    () =>
      `${process.execPath} -e 'const options = {method: "POST", agent: false}; ` +
      'require("node:https").request(process.argv[1], options, (answer) => answer.pipe(process.stdout))' +
      `.end("a body")' '${url('/repos/acme/issues?state=open')}'`,
  ],
  [
    'python',
    () =>
      `python3 -c 'import sys, urllib.request as r; ` +
      `print(r.urlopen(r.Request(sys.argv[1], data=b"a body")).read().decode())' ` +
      `'${url('/repos/acme/issues?state=open')}'`,
  ],
])('a request of %s gets the secret on its way, and does not see it in the answer', async (_program, script) => {
  const { output, log } = await ran(`${script()} > answer; cat answer; echo; echo "seen $(grep -c canary- answer)"`);
  expect(asked).toEqual([
    { method: 'POST', url: '/repos/acme/issues?state=open', authorization: `Bearer ${VALUE}`, body: 'a body' },
  ]);
  expect(output).toContain('"name":"forge"');
  // The server tells what it got; it is taken out before it is inside, not only before it is in the log.
  expect(output).toMatch(/"authorization":"Bearer \[redacted\]"/);
  expect(output).toContain('\nseen 0\n');
  expect(log).not.toContain(VALUE);
});

it('a log begins with where each secret may go, and which are inside', async () => {
  const { log } = await ran('true');
  expect(log.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^network: this run reaches /),
    `secrets: FORGE_TOKEN goes to 127.0.0.1:${portOf(forge)} (GET, POST of /repos/*/issues); ` +
      'inside, as variables: INSIDE, SILENT',
  ]);
});

it('anything else of that host is refused with a reason, and the log says so without a value', async () => {
  const { output, log } = await ran(
    [
      `curl -sS -w '%{http_code}\\n' ${url('/repos/acme/secrets')}`,
      `curl -sS -w '%{http_code}\\n' -X DELETE ${url('/repos/acme/issues')}`,
      `curl -sS -w '%{http_code}\\n' --path-as-is ${url('/repos/acme/../../admin')}`,
      `curl -sS -w '%{http_code}\\n' -H 'Host: elsewhere.test' ${url('/repos/acme/issues')}`,
    ].join('; '),
  );
  expect(asked).toEqual([]);
  expect(output.match(/^403$/gm)).toHaveLength(4);
  expect(output).toContain('the credential broker of this run refuses this: what this run has for 127.0.0.1');
  expect(log).toContain('request refused: GET "/repos/acme/secrets" at 127.0.0.1: what this run has');
  expect(log).not.toContain(VALUE);
});

it('a server is not told of another method, path or host in a header, and in clear it is told nothing', async () => {
  const named = [
    'X-HTTP-Method-Override: DELETE',
    'X_Method_Override: PUT',
    'X-Original-URL: /admin',
    'X-Rewrite-URL: /a',
  ]
    .map((header) => `-H '${header}'`)
    .join(' ');
  const plain = url('/repos/acme/issues').replace('https:', 'http:');
  const { output } = await ran(
    `curl -sS ${named} -H 'X-Forwarded-Host: other' -H 'X-Harmless: yes' ${url('/repos/acme/issues')} >/dev/null; ` +
      `curl -sS -x "$HTTP_PROXY" --noproxy '' ${plain} -d 'in clear'`,
  );
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ method: 'GET', authorization: `Bearer ${VALUE}` });
  expect(headersAsked.at(-1)).toMatchObject({ 'x-harmless': 'yes' });
  expect(Object.keys(headersAsked.at(-1) ?? {}).filter((name) => /method|url|forwarded/.test(name))).toEqual([]);
  expect(output).toContain('this host is asked over https');
  expect(connected).toBe(1);
});

it('inside, only what is exposed has its value, and the authority has no key', async () => {
  const { output } = await ran(
    [
      'echo "forge $FORGE_TOKEN"; echo "inside ${INSIDE%-of-a-test}"; echo "silent ${SILENT%-of-a-test}"',
      'ls /run/millwright; cat /run/millwright/authority.pem',
      "grep -rl 'PRIVATE KEY' /run /tmp $HOME . 2>/dev/null; grep -c 'BEGIN CERTIFICATE' $SSL_CERT_FILE",
      `curl -sS --cacert /run/millwright/authority.pem https://127.0.0.1:${portOf(other)}/ 2>&1`,
      `curl -sS -k https://127.0.0.1:${portOf(other)}/repos/acme/issues -H "Authorization: Bearer $FORGE_TOKEN"`,
    ].join('\n'),
  );
  expect(output).toMatch(/forge mw-placeholder-\S{40,}\ninside INSIDE-value\nsilent SILENT-value\n/);
  expect(output).toContain('authority.pem\ncertificates.pem\negress\nforwarder.mjs\n-----BEGIN CERTIFICATE-----');
  expect(output).not.toContain('PRIVATE KEY');
  expect(Number(/^(\d+)$/m.exec(output)?.[1])).toBeGreaterThan(20);
  // A tunnel as ever: the certificate is the server's own, and a placeholder is all that can be sent.
  expect(output).toMatch(/certificate|SSL/i);
  expect(asked).toEqual([
    expect.objectContaining({ authorization: expect.stringContaining('Bearer mw-placeholder-') }),
  ]);
});

it('a secret that is for other hosts goes to none that a definition names', async () => {
  await service.api('PUT', '/secrets/ELSEWHERE', {
    value: VALUE,
    grants: { factories: '*', uses: ['run'], runs: '*', hosts: ['elsewhere.test'] },
  });
  asked.splice(0);
  const runId = await startedRun(service, `curl -sS ${url('/repos/acme/issues')}`, {
    factory_uid: factoryUid,
    config: { secrets: [{ name: 'ELSEWHERE', host: `127.0.0.1:${portOf(forge)}`, header: 'Authorization' }] },
  });
  const item = await eventually('it ends', async () => {
    const { body } = await service.api('GET', `/agent/runs/${runId}`);
    return ENDED.includes(String(body['state'])) ? body : undefined;
  });
  expect(item).toMatchObject({
    state: 'FAILED',
    status_message: { message: expect.stringContaining('the secret ELSEWHERE is for elsewhere.test and is not sent') },
  });
  expect(asked).toEqual([]);
});

it('a run without a network of its own is refused, and told what to do', async () => {
  const host = await bootService({ environment: { ...SHELL, MILLWRIGHT_RUN_NETWORK: 'host' } });
  await host.api('PUT', '/secrets/FORGE_TOKEN', { value: VALUE, grants: { factories: '*', uses: ['run'], runs: '*' } });
  const uid = await host.factory('shop', folder.source);
  const runId = await startedRun(host, 'true', {
    factory_uid: uid,
    config: { secrets: [{ name: 'FORGE_TOKEN', host: 'api.test', header: 'Authorization' }] },
  });
  const item = await eventually('it ends', async () => {
    const { body } = await host.api('GET', `/agent/runs/${runId}`);
    return ENDED.includes(String(body['state'])) ? body : undefined;
  });
  expect(item).toMatchObject({
    state: 'FAILED',
    status_message: { message: expect.stringMatching(/FORGE_TOKEN is added outside.*expose: env/s) },
  });
  await host.stop();
});
