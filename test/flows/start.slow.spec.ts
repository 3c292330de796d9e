/**
 * `millwright start`: one clear line for everything that can be wrong, and words that a newcomer can act on. contract
 * §1, §11.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import 'reflect-metadata';
import { start } from '../../apps/server/start.ts';
import type { Service } from '../../apps/server/bootstrap.ts';
import { patternOf } from '../support/patterns.ts';
import { freePort } from '../support/network/ports.ts';
import { webhookFile, webhookPath } from '../support/factories/factory-files.ts';
import { createRepository } from '../support/git/git-repository.ts';
import { eventually } from '../support/services/service.ts';
import { SUITE_AGENT } from '../support/agents/suite-agent.ts';

const COMMAND = `node ${fileURLToPath(new URL('../../apps/cli/millwright.mjs', import.meta.url))}`;
const EXAMPLE = fileURLToPath(new URL('../../examples/factory-repo', import.meta.url));
let folder: string;
const running: Service[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millwright start's "));
});

afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  code?: number;
  service?: Service;
  stdout: string;
  stderr: string;
  lines: string[];
}

interface How {
  args?: string[];
  environment?: Record<string, string | undefined>;
  tty?: boolean;
}

async function started({ args = [], environment = {}, tty = false }: How = {}): Promise<Started> {
  const heard = { stdout: '', stderr: '' };
  const listening = (name: 'stdout' | 'stderr'): PassThrough => {
    const stream = new PassThrough();
    stream.on('data', (chunk: Buffer) => (heard[name] += chunk.toString()));
    return stream;
  };
  const stdout = Object.assign(listening('stdout'), { isTTY: tty });
  const answer = await start(args, {
    environment: {
      PATH: process.env['PATH'],
      MILLWRIGHT_PORT: String(await freePort()),
      MILLWRIGHT_DATA_DIR: join(folder, 'data'),
      MILLWRIGHT_DISK_RESERVE_MB: '1',
      MILLWRIGHT_LOG_LEVEL: 'error',
      ...environment,
    },
    cwd: folder,
    stdout,
    stderr: listening('stderr'),
    builtInAgent: SUITE_AGENT,
  });
  await new Promise((resolve) => setImmediate(resolve));
  if (typeof answer !== 'number') running.push(answer);
  return {
    ...(typeof answer === 'number' ? { code: answer } : { service: answer }),
    ...heard,
    lines: heard.stderr.trim().split('\n'),
  };
}

function expectOneLine({ code, lines, stdout }: Started, expectedCode: number, words: RegExp): void {
  expect(code).toBe(expectedCode);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^millwright: /);
  expect(lines[0]).toMatch(words);
  expect(lines[0]).not.toMatch(/\bat .+:\d+:\d+/); // no stack: this is for people
  expect(stdout).toBe('');
}

describe('a configuration', () => {
  it('that is wrong in many ways: all named at once, no value printed, nothing touched', async () => {
    const bad = {
      MILLWRIGHT_PORT: 'hidden-1',
      MILLWRIGHT_PUBLIC_URL: 'http://hidden-2.example',
      MILLWRIGHT_INGRESS_URL: 'hidden-3',
      MILLWRIGHT_ADMIN_KEY: 'hidden-4',
      MILLWRIGHT_SYNC_INTERVAL: '-5',
      MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'hidden-6',
      MILLWRIGHT_TRUSTED_PROXIES: 'hidden-7',
      MILLWRIGHT_TLS_CERT_FILE: 'hidden-8',
      MILLWRIGHT_DATABASE_URL: 'mysql://hidden-9',
      MILLWRIGHT_RUN_COMMAND: 'hidden-10',
      MILLWRIGHT_RUN_NETWORK: 'hidden-11',
      MILLWRIGHT_RUN_TIMEOUT: '0',
      MILLWRIGHT_QUEUE_MAX: '1e3',
      MILLWRIGHT_IDENTITY_RETENTION_DAYS: '1',
      MILLWRIGHT_PROT: 'hidden-12',
    };
    const { code, stderr, lines, stdout } = await started({ environment: bad });
    expect(code).toBe(64);
    const named = lines.map((line) => /^millwright: (MILLWRIGHT_\w+): ./.exec(line)?.[1]);
    const expected = [
      ...Object.keys(bad).filter((name) => name !== 'MILLWRIGHT_TLS_CERT_FILE'),
      'MILLWRIGHT_TLS_KEY_FILE',
    ];
    expect([...new Set(named)].sort()).toEqual(expected.sort());
    expect(`${stderr}${stdout}`).not.toContain('hidden');
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it.each([[['--nonsense']], [['positional']], [['--factory']]])(
    'with arguments %j that are none is a usage error',
    async (args) => expectOneLine(await started({ args }), 64, /usage: millwright start/),
  );

  it.each([
    [
      'a role that is none',
      ['--roles', 'api,wroker'],
      {},
      /^millwright: --roles: must be of api, ingress, sync, worker, dashboard, separated by commas$/,
    ],
    ['no role', ['--roles', ' '], {}, /^millwright: --roles: must be of api/],
    ['some roles and SQLite', ['--roles', 'api,worker'], {}, /^millwright: --roles: needs MILLWRIGHT_DATABASE_URL/],
    [
      'the same from the environment',
      [],
      { MILLWRIGHT_ROLES: 'api' },
      /^millwright: MILLWRIGHT_ROLES: needs MILLWRIGHT_DATABASE_URL/,
    ],
  ])('with %s is refused', async (_why, args, environment, words) => {
    expectOneLine(await started({ args, environment }), 64, words);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('with a factory folder that is not there says which', async () =>
    expectOneLine(await started({ args: ['--factory', './nowhere'] }), 64, /--factory.*nowhere/));

  it.each([['http://example.com/repo'], ['https://user:hidden-word@example.com/repo'], ['ext::sh -c id']])(
    'with the factory address %s is refused without repeating a password',
    async (address) => {
      const result = await started({ args: ['--factory', address] });
      expect(result.code).toBe(64);
      expect(result.stderr).not.toContain('hidden-word');
    },
  );
});

describe('a start that cannot be', () => {
  it('because the port is taken', async () => {
    const port = await freePort();
    const other: Server = createServer();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    expectOneLine(await started({ environment: { MILLWRIGHT_PORT: String(port) } }), 3, /port.*MILLWRIGHT_PORT/);
    await new Promise((resolve) => other.close(resolve));
  });

  it('because a file stands where the data folder should be', async () => {
    writeFileSync(join(folder, 'data'), 'a file');
    expectOneLine(await started(), 64, /data folder .*MILLWRIGHT_DATA_DIR/);
    expect(readFileSync(join(folder, 'data'), 'utf8')).toBe('a file');
  });

  it("because the data folder is another process's", async () => {
    const first = await started();
    expect(first.service).toBeDefined();
    expectOneLine(await started(), 64, /data folder .* is used by another millwright process/);
    // the first one is not disturbed
    expect((await fetch(`${first.service?.config.publicUrl}/readyz`)).status).toBe(200);
  });

  it('because the master key is another one', async () => {
    await (await started()).service?.stop();
    running.pop();
    const key = join(folder, 'data', 'master-key');
    const right = readFileSync(key);
    writeFileSync(
      key,
      Buffer.from(right)
        .toString('latin1')
        .replace(/[A-Za-z0-9]/, (character) => (character === 'a' ? 'b' : 'a')),
      'latin1',
    );
    expectOneLine(await started(), 64, /master key is not the one .*MILLWRIGHT_MASTER_KEY_FILE/);
    writeFileSync(key, right);
    expect((await started()).service).toBeDefined();
  });

  it('because the UID key is another one', async () => {
    await (await started()).service?.stop();
    running.pop();
    rmSync(join(folder, 'data', 'uid-key'));
    expectOneLine(
      await started(),
      64,
      /MILLWRIGHT_UID_KEY_FILE: no file at .* put the key of this database back there/,
    );
    writeFileSync(join(folder, 'data', 'uid-key'), 'ab'.repeat(32), { mode: 0o600 });
    expectOneLine(await started(), 64, /UID key is not the one .*MILLWRIGHT_UID_KEY_FILE/);
  });

  it('because the master key file that was named is missing, malformed or open to others', async () => {
    const file = join(folder, 'my-key');
    const environment = { MILLWRIGHT_MASTER_KEY_FILE: file };
    expectOneLine(await started({ environment }), 64, /MILLWRIGHT_MASTER_KEY_FILE/);
    expect(existsSync(file)).toBe(false); // a key that was named is never made up
    writeFileSync(file, 'hidden-word', { mode: 0o600 });
    const malformed = await started({ environment });
    expectOneLine(malformed, 64, /MILLWRIGHT_MASTER_KEY_FILE|my-key/);
    expect(malformed.stderr).not.toContain('hidden-word');
    writeFileSync(file, Buffer.alloc(32, 7).toString('base64'));
    chmodSync(file, 0o644);
    expectOneLine(await started({ environment }), 64, /MILLWRIGHT_MASTER_KEY_FILE|my-key/);
  });

  it('because both key files are bad, each named in a line of its own', async () => {
    const { code, lines } = await started({
      environment: {
        MILLWRIGHT_MASTER_KEY_FILE: join(folder, 'none'),
        MILLWRIGHT_UID_KEY_FILE: join(folder, 'neither'),
      },
    });
    expect([code, lines.length]).toEqual([64, 2]);
    for (const [index, variable] of ['MILLWRIGHT_MASTER_KEY_FILE', 'MILLWRIGHT_UID_KEY_FILE'].entries())
      expect(lines[index]).toMatch(new RegExp(`^millwright: ${variable}: no file at `));
  });

  it('because a certificate file cannot be read', async () => {
    const result = await started({
      environment: {
        MILLWRIGHT_TLS_CERT_FILE: join(folder, 'no.pem'),
        MILLWRIGHT_TLS_KEY_FILE: join(folder, 'no.key'),
      },
    });
    expectOneLine(result, 64, /MILLWRIGHT_TLS_CERT_FILE/);
  });

  it('because the database does not answer', async () => {
    const keys = { MILLWRIGHT_MASTER_KEY_FILE: join(folder, 'master'), MILLWRIGHT_UID_KEY_FILE: join(folder, 'uid') };
    for (const file of Object.values(keys))
      writeFileSync(file, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
    const result = await started({
      environment: {
        ...keys,
        MILLWRIGHT_DATABASE_URL: `postgres://someone:hidden-word@127.0.0.1:${await freePort()}/x`,
      },
    });
    expectOneLine(result, 3, /PostgreSQL at 127\.0\.0\.1:\d+ refuses the connection.*MILLWRIGHT_DATABASE_URL/);
    expect(result.stderr).not.toContain('hidden-word');
  });

  it('leaves the folder to the next one that can', async () => {
    expect((await started({ environment: { MILLWRIGHT_MASTER_KEY_FILE: join(folder, 'none') } })).code).toBe(64);
    expect((await started()).service).toBeDefined();
  });
});

describe('a first start', () => {
  it('says where everything is, and the line to paste really starts a run', async () => {
    const { service, stdout } = await started({ args: ['--factory', EXAMPLE, '--example'] });
    if (service === undefined) throw new Error(stdout);
    const adminFile = join(folder, 'data', 'admin-key');
    expect(stdout).toContain(`Millwright is running at ${service.config.publicUrl}/`);
    expect(stdout).toContain(adminFile);
    expect(stdout).toContain(`described at ${service.config.publicUrl}/docs\n`);
    const file = `'${adminFile.replaceAll("'", `'\\''`)}'`; // the folder has a blank and a quote
    // Outside of the checkout npx would ask a registry for somebody else's package.
    expect(stdout).toContain(
      `${COMMAND} run --prompt "Say hello" --follow --server ${service.config.publicUrl} --key-file ${file}\n`,
    );
    expect(stdout).toContain(
      `MILLWRIGHT_PORT=${service.config.port} MILLWRIGHT_DATA_DIR=${file.replace('/admin-key', '')} ${COMMAND} ` +
        `doctor --server ${service.config.publicUrl} --key-file ${file}\n`,
    );
    const key = readFileSync(adminFile, 'utf8').trim();
    expect(key).toMatch(/^mw_[A-Za-z0-9_-]{43,}$/);
    expect(stdout).not.toContain(key); // this is no terminal
    for (const file of ['admin-key', 'master-key', 'uid-key', 'secrets/ci-events-token'])
      expect([file, statSync(join(folder, 'data', file)).mode & 0o777]).toEqual([file, 0o600]);
    expect(stdout).not.toContain(readFileSync(join(folder, 'data', 'secrets', 'ci-events-token'), 'utf8').trim());
    expect(stdout).toMatch(/webhook ci-events: http:\/\/127\.0\.0\.1:\d+\/webhooks\/w\/wh_[0-9a-z]{26}\n/);

    const line = stdout.split('\n').find((text) => text.trim().startsWith('curl ')) ?? '';
    for (let time = 0; time < 2; time += 1) {
      const answer = await pasted(line);
      expect(JSON.parse(answer)).toEqual({ delivery_id: expect.any(String) });
      // the line carries the second: pasted again, it is another event
      if (time === 0) await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    await eventually(
      'both runs have succeeded',
      async () => {
        const answer = await fetch(`${service.config.publicUrl}/api/v1/agent/runs?state=SUCCEEDED`, {
          headers: { authorization: `Bearer ${key}` },
        });
        return ((await answer.json()) as { runs: unknown[] }).runs.length === 2 ? true : undefined;
      },
      120_000,
    );
  });

  it('shows the admin key to a terminal, once', async () => {
    const first = await started({ tty: true });
    const key = readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim();
    expect(first.stdout).toContain(key);
    await first.service?.stop();
    running.pop();
    expect((await started({ tty: true })).stdout).not.toContain(key);
  });

  it('takes the admin key that is given, writes none and prints none', async () => {
    const key = `mw_${'k'.repeat(43)}`;
    const { service, stdout } = await started({ tty: true, environment: { MILLWRIGHT_ADMIN_KEY: key } });
    expect(stdout).not.toContain(key);
    expect(existsSync(join(folder, 'data', 'admin-key'))).toBe(false);
    const answer = await fetch(`${service?.config.publicUrl}/api/v1/factory`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
  });

  it('runs all the same when its factory cannot be applied, and says why', async () => {
    const repository = createRepository(folder, 'repository');
    repository.commit({ [webhookPath('inurl')]: webhookFile('url-secret', 'authMode: url_token', 'enabled: false') });
    const environment = { MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'true' };
    const first = await started({
      args: ['--factory', `file://${repository.folder.replaceAll(' ', '%20').replaceAll("'", '%27')}#main`],
      environment,
    });
    expect(first.service).toBeDefined();
    expect(first.stdout).toMatch(
      patternOf(
        /Factory main .*blocked: 1 problem in the files of main@sha1:\w+; nothing is served yet\n/,
        / {2}webhooks\/inurl\.yaml:\d+:\d+: .*secret.*\n/,
        / {2}see all of it with: node \S+apps\/cli\/millwright\.mjs status main --server /,
      ),
    ); // its secret is missing
    expect((await fetch(`${first.service?.config.publicUrl}/readyz`)).status).toBe(200);
  });
});

describe('a start with the example alone', () => {
  it('serves the example factory that comes with the command', async () => {
    const { service, stdout } = await started({ args: ['--example'] });
    expect(service).toBeDefined();
    expect(stdout).toMatch(/Factory main .*: serving /);
    expect(stdout).toMatch(/webhook ci-events: http/);
  });

  it('needs a process that reconciles', async () =>
    expectOneLine(
      await started({
        args: ['--example', '--roles', 'api'],
        environment: { MILLWRIGHT_DATABASE_URL: 'postgres://127.0.0.1:1/never-asked' },
      }),
      64,
      /--example needs the role sync/,
    ));
});

describe('a second start', () => {
  it('is the same installation: same URLs, same key, deliveries remembered', async () => {
    const first = await started({ args: ['--factory', EXAMPLE, '--example'] });
    const url = /webhook ci-events: (\S+)/.exec(first.stdout)?.[1] as string;
    const secret = readFileSync(join(folder, 'data', 'secrets', 'ci-events-token'), 'utf8').trim();
    const send = (to: string): Promise<Response> =>
      fetch(to, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'x-millwright-delivery-id': 'once' },
        body: '{"status": "failed"}',
      });
    expect((await send(url)).status).toBe(202);
    const key = readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim();
    await first.service?.stop();
    running.pop();
    const second = await started({ args: ['--factory', EXAMPLE, '--example'] });
    const again = /webhook ci-events: (\S+)/.exec(second.stdout)?.[1] as string;
    expect(new URL(again).pathname).toBe(new URL(url).pathname);
    expect(readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim()).toBe(key);
    expect((await send(again)).status).toBe(202);
    const answer = await fetch(`${second.service?.config.publicUrl}/api/v1/agent/runs`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(((await answer.json()) as { runs: unknown[] }).runs).toHaveLength(1); // the second was a duplicate
  });

  it('with another factory follows that one; the guard holds what would be lost', async () => {
    const first = await started({ args: ['--factory', EXAMPLE, '--example'] });
    const url = /webhook ci-events: (\S+)/.exec(first.stdout)?.[1] as string;
    await first.service?.stop();
    running.pop();
    const repository = createRepository(folder, 'other');
    repository.commit({ [webhookPath('fresh')]: webhookFile('ci-events-token') });
    const second = await started({
      args: ['--factory', `file://${repository.folder.replaceAll(' ', '%20').replaceAll("'", '%27')}#main`],
    });
    expect(second.stdout).toContain('blocked');
    expect(second.stdout).toMatch(/\n {2}held: deletion of webhook ci-events \(\S+\)\n/);
    expect(second.stdout).toMatch(
      /\n {2}let them go with: node \S+apps\/cli\/millwright\.mjs approve main [0-9a-z:]+ --server http/,
    );
    expect(second.stdout).toContain(new URL(url).pathname);
  });
});

/**
 * Runs the line as a person would; the port of a test service answers within this process, so the shell must not block
 * it.
 */
function pasted(line: string): Promise<string> {
  execFileSync('/bin/sh', ['-n', '-c', line]); // it is a sentence of the shell
  return new Promise((resolve, reject) => {
    execFile('/bin/sh', ['-c', line], { cwd: '/', env: { PATH: process.env['PATH'] } }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
}
