/**
 * What a run reaches from inside a real sandbox: named hosts through the proxy, and nothing of this machine, its
 * networks or other runs.
 */
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EgressRules, readHostPattern } from '#isolation';
import { freePort } from '../../../../test/support/network/ports.ts';
import {
  type SandboxedCommand,
  sandboxHere,
  startSandboxed,
} from '../../../../test/support/agents/sandboxed-command.ts';
import { ownerOf } from '../sandbox/sandboxes.ts';
import { prepareWorkspace } from '../workspace/workspaces.ts';

const patterns = (list: readonly string[]) =>
  list.map((text) => readHostPattern(text)).filter((pattern) => pattern !== undefined);
const named = (...list: string[]): EgressRules => ({
  policy: { kind: 'allow', hosts: patterns(list) },
  named: patterns(list),
});
const OPEN: EgressRules = { policy: { kind: 'open' }, named: [] };

/**
 * Asks for URLs with the proxy that the environment names, one line each: status and the answer's first line, or the
 * error.
 */
const FETCH = `
const { request } = require('node:http');
const { connect } = require('node:net');
const proxy = new URL(process.env.HTTPS_PROXY);
const tunnel = (target) => new Promise((resolve) => {
  const asked = request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: target });
  asked.on('connect', (answer, socket, head) => {
    let text = String(head);
    if (answer.statusCode !== 200) return resolve(answer.statusCode), socket.destroy();
    socket.on('data', (bytes) => (text += bytes)).on('close', () => resolve(answer.statusCode + ' ' + text));
    socket.on('error', (error) => resolve(error.code));
  }).on('error', (error) => resolve(error.code)).end();
});
const direct = (target) => new Promise((resolve) => {
  const [port, host] = [target.split(':').pop(), target.split(':').slice(0, -1).join(':')];
  const socket = connect({ port: Number(port), host, timeout: 30_000 });
  let text = '';
  socket.on('data', (bytes) => (text += bytes)).on('end', () => resolve('reached ' + text));
  socket.on('error', (error) => resolve(error.code)).on('timeout', () => resolve('ETIMEDOUT'));
});
(async () => {
  for (const word of process.argv.slice(1))
    console.log(word, await (word.startsWith('direct=') ? direct(word.slice(7)) : tunnel(word)));
  process.exit();
})();
`;

let base: string;
let servers: Server[];
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-passage-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) server.close();
  await rm(base, { recursive: true, force: true });
});

/** A server on every address of this machine that greets and closes. */
async function serve(greeting: string): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => undefined).end(greeting)).listen(0);
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

for (const kind of ['bubblewrap', 'pid-namespace'] as const) {
  const sandbox = await sandboxHere(kind);
  const usable = sandbox?.guarantees.network === true && sandbox.guarantees.loopback && sandbox.guarantees.files;
  if (!usable)
    console.warn(
      'SKIPPED: the network of runs in the sandbox ' +
        `"${kind}": ${sandbox?.description ?? 'it does not work on this machine'}`,
    );

  (usable ? describe : describe.skip)(`a run in the sandbox "${kind}"`, () => {
    const start = async (spec: Parameters<typeof startSandboxed>[2]): Promise<SandboxedCommand> => {
      if (sandbox === undefined) throw new Error('not on this machine');
      return startSandboxed(sandbox, base, spec);
    };
    /** What came of each target, asked for from inside. */
    const reached = async (
      network: EgressRules,
      targets: readonly string[],
    ): Promise<{ answers: Record<string, string>; told: string }> => {
      const command = await start({ network, command: [process.execPath, '-e', FETCH, ...targets] });
      await command.finished;
      const lines = command
        .text('stdout')
        .trim()
        .split('\n')
        .map((line) => line.split(' '));
      return {
        answers: Object.fromEntries(lines.map(([target = '', ...answer]) => [target, answer.join(' ').trim()])),
        told: command.text('status'),
      };
    };

    it('reaches a server that the operator named, through the proxy and at its own port', async () => {
      const port = await serve('hello');
      const { answers, told } = await reached(named(`127.0.0.1:${port}`), [
        `127.0.0.1:${port}`,
        `direct=127.0.0.1:${port}`,
      ]);
      expect(answers).toEqual({ [`127.0.0.1:${port}`]: '200 hello', [`direct=127.0.0.1:${port}`]: 'reached hello' });
      expect(told).toMatch(/^network: 127\.0\.0\.1:\d+ sent 0 bytes, received 10 \(2 connections\)$/);
    });

    it('is told when a named server is not there, also by its very first connection', async () => {
      const nobody = `127.0.0.1:${await freePort()}`;
      const { answers } = await reached(named(nobody), [`direct=${nobody}`, nobody]);
      expect(answers).toEqual({
        [`direct=${nobody}`]: expect.stringMatching(/^(reached|ECONNRESET)$/),
        [nobody]: '502',
      });
    });

    it('reaches nothing else of this machine or its networks, whatever the policy, and is told of', async () => {
      const service = await serve('the service');
      const other = await serve('named');
      const mine = Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
        .map(({ address }) => (address.includes(':') ? `[${address}]` : address));
      const proxied = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '2130706433', '[::ffff:127.0.0.1]', ...mine].map(
        (host) => `${host}:${service}`,
      );
      const elsewhere = [
        '169.254.169.254:80',
        '10.0.0.1:80',
        '172.16.0.1:80',
        '192.168.0.1:80',
        '100.64.0.1:80',
        '[fd00:ec2::254]:80',
        'metadata.google.internal:80',
      ];
      const direct = [
        `127.0.0.1:${service}`,
        `::1:${service}`,
        '169.254.169.254:80',
        '10.0.0.1:80',
        '192.168.0.1:80',
        '1.1.1.1:80',
        ...mine.map((host) => `${host.replace(/[[\]]/g, '')}:${service}`),
      ].map((target) => `direct=${target}`);
      for (const rules of [OPEN, { policy: OPEN.policy, named: patterns([`127.0.0.1:${other}`]) }]) {
        const { answers, told } = await reached(rules, [...proxied, ...elsewhere, ...direct]);
        expect(Object.fromEntries([...proxied, ...elsewhere].map((target) => [target, answers[target]]))).toEqual(
          Object.fromEntries([...proxied, ...elsewhere].map((target) => [target, '403'])),
        );
        expect(direct.map((target) => answers[target]).filter((answer) => !/^E[A-Z]+$/.test(answer ?? ''))).toEqual([]);
        expect(told).toContain(`egress denied 127.0.0.1:${service}: `);
        expect(told).toContain('egress denied 169.254.169.254:80: ');
      }
    });

    it('reaches nothing at all without rules, not even a name', async () => {
      const port = await serve('hello');
      const command = await start({
        command: [
          process.execPath,
          '-e',
          `require('node:net').connect(${port}, '127.0.0.1').on('error', ({ code }) => console.log(code)); ` +
            'console.log(process.env.HTTPS_PROXY)',
        ],
      });
      await command.finished;
      expect(command.text('stdout')).toMatch(/undefined\n?E[A-Z]+\n|E[A-Z]+\nundefined\n/);
      expect(command.text('stdout')).not.toContain('hello');
    });

    it('reads neither keys nor other runs, nor the folder of its own socket', async () => {
      await writeFile(join(base, 'master.key'), 'the-master-key', { mode: 0o644 });
      const other = await prepareWorkspace({
        root: join(base, 'runs'),
        runId: '00000000-0000-7000-8000-ffffffffffff',
        epoch: 1,
        prompt: 'of another run',
        owner: sandbox && ownerOf(sandbox, '00000000-0000-7000-8000-ffffffffffff'),
      });
      const script =
        `cat ${base}/master.key ${other.workspace}/prompt.md; ls ${base} ${base}/runs ${base}/runs/*; ls -la ` +
        '/run /run/millwright; echo x > /run/millwright/egress; rm -f /run/millwright/egress ' +
        '/run/millwright/forwarder.mjs; ls /run/millwright; cat /etc/hosts';
      const command = await start({ network: named('a.test'), script });
      await command.finished;
      const said = command.text('stdout') + command.text('stderr');
      expect(said).not.toContain('the-master-key');
      expect(said).not.toContain('of another run');
      expect(said).not.toContain('ffffffffffff\n');
      expect(command.text('stdout')).toContain('egress\nforwarder.mjs\n127.0.0.1 localhost\n');
    });

    it('reaches a web server by name with plain http, as ordinary programs ask for it', async () => {
      const server = createHttpServer((request, response) =>
        response.end(`hello from ${request.headers.host} ${request.url}\n`),
      ).listen(0, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const script = `p=$http_proxy; node -e '
        const { request } = require("node:http"); const proxy = new URL(process.argv[1]);
        const asked = { path: "http://localhost:${port}/x?y", headers: { host: "localhost:${port}" } };
        const { hostname: host, port } = proxy;
        request({ host, port, ...asked }, (answer) => answer.pipe(process.stdout)).end()' "$p"`;
      const command = await start({
        network: named(`localhost:${port}`),
        script: script.replaceAll('node -e', `${process.execPath} -e`),
      });
      await command.finished;
      expect(command.text('stdout')).toBe(`hello from localhost:${port} /x?y\n`);
    });

    it.each([
      { script: 'exit 7', end: { kind: 'exited', code: 7 }, why: 'its exit code' },
      { script: 'kill -SEGV $$', end: { kind: 'signalled', signal: 'SIGSEGV' }, why: 'its signal' },
      { script: 'cat; echo err >&2', end: { kind: 'exited', code: 0 }, why: 'its input and output' },
      {
        script: 'test "$(cat /proc/$$/comm)" = sh && exec sleep 0',
        end: { kind: 'exited', code: 0 },
        why: 'its place: nobody stands between',
      },
    ])('has $why as without a network', async ({ script, end }) => {
      const command = await start({ network: named('a.test'), script, prompt: 'in\n' });
      expect(await command.finished).toEqual(end);
      if (script.startsWith('cat')) expect([command.text('stdout'), command.text('stderr')]).toEqual(['in\n', 'err\n']);
    });

    it('is asked to end once, may clean up over the network, and leaves neither process nor socket', async () => {
      const port = await serve('bye');
      const clean =
        `clean() { ${process.execPath} -e 'require("node:net").connect(${port}, ` +
        `"127.0.0.1").pipe(process.stdout)'; echo " cleaned"; exit 0; }`;
      const command = await start({
        network: named(`127.0.0.1:${port}`),
        script: `${clean}; trap clean TERM; echo ready; while :; do sleep 0.05; done`,
        graceMs: 60_000,
      });
      await command.says('ready');
      const open = connect(join(command.workspace.folder, 'egress-3')).on('error', () => undefined);
      const closed = once(open, 'close');
      await command.cancel();
      expect(await command.finished).toEqual({ kind: 'cancelled' });
      expect(command.text('stdout')).toBe('ready\nbye cleaned\n');
      await closed;
      expect(await readdir(command.workspace.folder)).not.toContain('egress-3');
    });

    it('stays usable for the service while it floods the proxy', async () => {
      const flood = `const { connect } = require('node:net'); const { port } = new URL(process.env.HTTPS_PROXY);
        let made = 0;
        const more = () => {
          if (made++ > 1000) return setTimeout(() => process.exit(), 100);
          const asked = 'CONNECT 10.0.0.' + (made % 250) + ':80 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n';
          connect(port, '127.0.0.1').on('error', () => {}).on('close', more).end(asked).resume();
        };
        for (let index = 0; index < 300; index += 1) more();`;
      const command = await start({
        network: OPEN,
        command: [process.execPath, '-e', flood],
        deadlineMs: 170_000,
      });
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      expect(command.events.length).toBeLessThan(60);
    }, 180_000);

    it('is told what it has: rules where the sandbox has no loopback are none', async () => {
      if (sandbox === undefined) return;
      const without = { ...sandbox, guarantees: { ...sandbox.guarantees, loopback: false } };
      const command = await startSandboxed(without, base, { network: OPEN, script: 'echo "[$HTTPS_PROXY]"' });
      await command.finished;
      expect(command.text('stdout')).toBe('[]\n');
      expect(command.text('status')).toContain('this run has no network');
    });
  });
}

describe('a run where nothing can take the network away', () => {
  it('is told loudly that its policy does not hold', async () => {
    const bare = await sandboxHere('bare');
    if (bare === undefined) throw new Error('bare always works');
    const command = await startSandboxed(bare, base, { network: named('a.test') });
    expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
    expect(command.text('status')).toContain('NOT ISOLATED');
  });
});
