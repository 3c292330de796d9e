/**
 * `millwright doctor`: says what a machine lacks and how to mend it, prints no secret, and changes nothing. contract
 * §11.
 */
import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { Client } from 'pg';
import { doctorOf } from '../../apps/cli/verbs/installation/doctor.ts';
import type { BuiltInAgent } from '../../apps/server/execution/agent/agents.ts';
import type { Level } from '../../apps/server/doctor/findings.ts';
import { patternOf } from '../support/patterns.ts';
import { call } from '../support/services/recorded-io.ts';
import { freePort } from '../support/network/ports.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { bootService } from '../support/services/service.ts';
import { SUITE_AGENT } from '../support/agents/suite-agent.ts';

interface ReportedFinding {
  check: string;
  level: Level;
  message: string;
  way_out?: string;
}

interface Visit {
  code: number;
  text: string;
  findings: ReportedFinding[];
  /** Messages of one check, each behind its level. */
  of(check: string): string;
}

let box: string;
let outerTmp: string | undefined;

beforeEach(() => {
  box = realpathSync(mkdtempSync(join(tmpdir(), 'doctor-')));
  outerTmp = process.env['TMPDIR'];
  mkdirSync(join(box, 'tmp'));
  process.env['TMPDIR'] = join(box, 'tmp'); // sandboxes are tried there
});

afterEach(() => {
  if (outerTmp === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = outerTmp;
  rmSync(box, { recursive: true, force: true });
});

const data = (): string => join(box, 'data');

async function visit(
  environment: Record<string, string> = {},
  argv: string[] = [],
  isText = false,
  { agent = SUITE_AGENT, cwd = box }: { agent?: BuiltInAgent; cwd?: string } = {},
): Promise<Visit> {
  let text = '';
  const sink = (): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        done();
      },
    });
  const all = {
    PATH: process.env['PATH'],
    MILLWRIGHT_PORT: String(await freePort()),
    MILLWRIGHT_DATA_DIR: data(),
    MILLWRIGHT_DISK_RESERVE_MB: '1',
    ...environment,
  };
  const io = { stdin: Readable.from([]), stdout: sink(), stderr: sink(), cwd, environment: all };
  const code = await doctorOf(agent)([...argv, ...(isText ? [] : ['--format', 'json'])], io);
  const findings =
    isText || !text.startsWith('{') ? [] : (JSON.parse(text) as { findings: ReportedFinding[] }).findings;
  return {
    code,
    text,
    findings,
    of: (check) =>
      findings
        .filter((found) => found.check === check)
        .map(({ level, message, way_out: way }) => `${level}: ${message}${way === undefined ? '' : ` → ${way}`}`)
        .join('\n'),
  };
}

/** Every file with its contents, every folder with its mode. */
function pictureOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const found = statSync(join(folder, name));
      return `${name} ${found.mode.toString(8)} ${
        found.isFile()
          ? createHash('sha256')
              .update(readFileSync(join(folder, name)))
              .digest('hex')
          : ''
      }`;
    });
}

describe('a machine before its first start', () => {
  it('is fine, and stays as it was', async () => {
    const before = pictureOf(box);
    const { code, findings, of } = await visit();
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
    expect(code).toBe(0);
    for (const check of [
      'configuration',
      'node',
      'git',
      'files',
      'data folder',
      'disk',
      'service',
      'database',
      'clock',
      'agents',
    ])
      expect([check, of(check)]).toEqual([check, expect.stringMatching(/^ok: /)]);
    expect(of('data folder')).toContain('will be made at the first start');
    expect(of('agents')).toMatch(/ok: builtin: the built-in agent starts, as runs start it \(/);
    expect(of('model')).toMatch(
      /^warning: no model is configured: the demo model answers.* → set MILLWRIGHT_AGENT_BASE_URL/,
    );
    expect(pictureOf(box)).toEqual(before);
    expect(existsSync(data())).toBe(false);
  }, 300_000);

  it('is told to people in lines, with a sum', async () => {
    const { code, text } = await visit({}, [], true);
    expect(code).toBe(0);
    expect(text).toMatch(
      /^ok {7}looked at {6}this machine alone: .*\nok {7}configuration {2}every MILLWRIGHT_ variable can be read\n/,
    );
    expect(text).toMatch(/\nwarning {2}model {10}no model is configured.*\n +→ set MILLWRIGHT_AGENT_BASE_URL/);
    expect(text).toMatch(/\n\n0 problems, \d+ warnings?\n$/);
  }, 300_000);

  it('without git, bubblewrap or any other tool: each is named with its way out', async () => {
    const { code, of } = await visit({ PATH: '/nowhere' });
    expect(code).toBe(1);
    expect(of('git')).toMatch(/^problem: git is not found.* → install git/);
    expect(of('sandbox')).toMatch(
      patternOf(
        /^warning: bare .*agents that take commands do not start here, the demo model .* → install bubblewrap /,
        /and util-linux and iproute2 \(Debian: apt-get install bubblewrap util-linux iproute2\)/,
      ),
    );
    const model = { PATH: '/nowhere', MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:9/v1', MILLWRIGHT_AGENT_MODEL: 'm' };
    expect((await visit(model)).of('sandbox')).toMatch(
      /^problem: bare .*agents that take commands do not start here → /,
    );
    const allowed = await visit({ ...model, MILLWRIGHT_ALLOW_UNSANDBOXED: 'true' });
    expect(allowed.of('sandbox')).toMatch(/^warning: bare .*agents start all the same/);
  }, 300_000);

  it.each<[argv: string[], words: string]>([
    [['a', 'b'], 'takes nothing besides'],
    [['--format', 'xml'], '--format must be text, json or yaml'],
    [['--server', 'nonsense'], '--server must be an address'],
    [['--colour'], 'there is no option --colour'],
  ])('called with %j: 64', async (argv, words) => {
    expect(await call(['doctor', ...argv])).toMatchObject({ code: 64, out: '', err: expect.stringContaining(words) });
  });
});

describe('what is wrong', () => {
  it('is all named at once, and nothing secret is printed', async () => {
    const port = await freePort();
    writeFileSync(join(box, 'master'), 'hidden-1', { mode: 0o600 });
    const environment = {
      MILLWRIGHT_SYNC_INTERVAL: 'hidden-2',
      MILLWRIGHT_PUBLIC_URL: 'http://hidden-3.example',
      MILLWRIGHT_ADMIN_KEY: 'hidden-4',
      MILLWRIGHT_PROT: 'hidden-5',
      MILLWRIGHT_DATABASE_URL: `postgres://hidden-6:hidden-7@127.0.0.1:${port}/hidden-8?application_name=hidden-9`,
      MILLWRIGHT_MASTER_KEY_FILE: join(box, 'master'),
      MILLWRIGHT_UID_KEY_FILE: join(box, 'none'),
      MILLWRIGHT_AGENT_BASE_URL: `http://127.0.0.1:${port}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'm',
      MILLWRIGHT_AGENT_API_KEY: 'hidden-10',
      MILLWRIGHT_AGENT_STEPS_MAX: 'hidden-11',
      MILLWRIGHT_DISK_RESERVE_MB: '1000000',
    };
    const before = pictureOf(box);
    const { code, text, of } = await visit(environment);
    expect(code).toBe(1);
    expect(text).not.toContain('hidden');
    for (const name of ['SYNC_INTERVAL', 'PUBLIC_URL', 'ADMIN_KEY', 'PROT'])
      expect(of('configuration')).toContain(`problem: MILLWRIGHT_${name} `);
    expect(of('files')).toMatch(
      patternOf(
        /MILLWRIGHT_MASTER_KEY_FILE: \S+ does not hold a key.*\n.*MILLWRIGHT_UID_KEY_FILE: no file at.*\n/,
        /warning: not looked at as a whole, because the configuration cannot be read/,
      ),
    );
    expect(of('database')).toMatch(
      new RegExp(`^problem: PostgreSQL at 127\\.0\\.0\\.1:${port} refuses the connection → start the server`),
    );
    expect(of('disk')).toMatch(/^problem: .* are free, less than the reserve/);
    expect(of('agents')).toContain('problem: MILLWRIGHT_AGENT_STEPS_MAX must be a whole number');
    expect(of('model')).toMatch(/^problem: http:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/);
    const { text: asText } = await visit(environment, [], true);
    expect(asText).not.toContain('hidden');
    expect(asText).toMatch(/\d+ problems, \d+ warnings?\n$/);
    expect(pictureOf(box)).toEqual(before);
  }, 300_000);

  it('a wrong address of the database: SQLite is not looked at in its place', async () => {
    expect((await visit({ MILLWRIGHT_DATABASE_URL: 'mysql://hidden' })).of('database')).toMatch(
      /^problem: not looked at, because MILLWRIGHT_DATABASE_URL is wrong/,
    );
  }, 300_000);

  it(
    'a file in the place of the folder, a folder that cannot be made, a port that is taken, a file of profiles ' +
      'that is none',
    async () => {
      writeFileSync(data(), 'a file');
      const other = createServer();
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      writeFileSync(join(box, 'profiles.yaml'), 'profiles: 7');
      const { of } = await visit({
        MILLWRIGHT_PORT: String((other.address() as AddressInfo).port),
        MILLWRIGHT_AGENT_PROFILES_FILE: join(box, 'profiles.yaml'),
      });
      other.close();
      expect(of('data folder')).toMatch(/^problem: .* is no folder → set MILLWRIGHT_DATA_DIR/);
      expect(of('service')).toMatch(/^problem: .*another program has port/);
      expect(of('agents')).toContain('problem: MILLWRIGHT_AGENT_PROFILES_FILE: ');
      expect((await visit({ MILLWRIGHT_DATA_DIR: join(data(), 'below') })).of('data folder')).toMatch(
        /^problem: .* cannot be made, because .* is no folder/,
      );
    },
    300_000,
  );
});

it('an agent that starts, but not where runs see it, is a problem', async () => {
  mkdirSync(data(), { mode: 0o700 });
  const file = join(data(), 'agent.mjs');
  writeFileSync(file, 'process.stdin.resume();\n');
  const before = pictureOf(box);
  const { of } = await visit({ MILLWRIGHT_RUN_COMMAND: '["/bin/true"]' }, [], false, {
    agent: { command: [process.execPath, file], readOnly: [file] },
  });
  // Where nothing can be hidden from a run, it starts.
  const notStarted = patternOf(
    /problem: the built-in agent does not start inside the sandbox \(.*exit code 1\).* → /,
    /install the service in a folder of its own/,
  );
  expect(of('agents')).toMatch(of('sandbox').startsWith('ok') ? notStarted : /ok: builtin/);
  expect(of('agents')).toContain('ok: command is the command of MILLWRIGHT_RUN_COMMAND');
  expect(pictureOf(box)).toEqual(before);
  const broken = await visit({}, [], false, {
    agent: { command: [process.execPath, join(box, 'nothing.mjs')], readOnly: [] },
  });
  expect(broken.of('agents')).toMatch(/problem: the built-in agent does not start \(1\) → install the service anew/);
}, 300_000);

it('agents of this machine are found on PATH', async () => {
  const bin = join(box, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'opencode'), '#!/bin/sh\n', { mode: 0o755 });
  const { of } = await visit({ PATH: `${bin}:${process.env['PATH'] ?? ''}` });
  expect(of('agents')).toContain(`ok: opencode is installed: ${join(bin, 'opencode')}`);
  expect(of('agents')).toMatch(
    /ok: qwen is not installed; runs that name it need: npm install -g @qwen-code\/qwen-code/,
  );
}, 300_000);

describe('a data folder in use', () => {
  it('is recognised, open folders are said, newer and damaged databases too, and all stays as it is', async () => {
    mkdirSync(data(), { mode: 0o700 });
    const mill = await bootService({ dataDir: data() });
    const keyed = { MILLWRIGHT_API_KEY: mill.adminKey, MILLWRIGHT_PORT: new URL(mill.url).port };
    try {
      const running = await visit(keyed, ['--server', mill.url]);
      expect([running.code, running.of('service'), running.of('server'), running.of('database')]).toEqual([
        0,
        expect.stringMatching(/^ok: a service runs on this data folder/),
        'ok: the service is ready and knows the API key',
        expect.stringMatching(/^ok: SQLite .* up to date$/),
      ]);
      const stranger = await visit({ ...keyed, MILLWRIGHT_API_KEY: `mw_${'x'.repeat(43)}` }, ['--server', mill.url]);
      expect([stranger.code, stranger.of('server')]).toEqual([
        1,
        expect.stringMatching(/^problem: the service is ready, but does not know the API key in MILLWRIGHT_API_KEY/),
      ]);
      const ready = (await (
        await fetch(`${mill.url}/readyz`, { headers: { authorization: `Bearer ${mill.adminKey}` } })
      ).json()) as { status: string; agents: unknown[] };
      expect(ready.status).toBe('ready'); // nobody took its lock
      expect(ready.agents.slice(0, 2)).toEqual([
        { id: 'builtin', installed: true },
        { id: 'command', installed: true },
      ]);
    } finally {
      await mill.stop({ keepData: true });
    }
    chmodSync(data(), 0o755);
    const before = pictureOf(box);
    const stopped = await visit(keyed, ['--server', mill.url]);
    expect(stopped.of('server')).toMatch(/^problem: .* cannot be reached: connection refused/);
    expect(stopped.of('service')).toMatch(/^ok: no service runs on this data folder/);
    expect(stopped.of('database')).toMatch(/^ok: SQLite .* up to date$/);
    expect(stopped.of('data folder')).toMatch(/^warning: .* is open to other users .* → run: chmod 700/);
    expect(pictureOf(box)).toEqual(before);

    const file = join(data(), 'millwright.sqlite');
    change(file, 'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)');
    expect((await visit()).of('database')).toMatch(/^ok: SQLite .*; the next start runs 1 migration$/);
    change(file, "INSERT INTO migrations (timestamp, name) VALUES (1, 'FromTheFuture')");
    expect((await visit()).of('database')).toMatch(/^ok: SQLite .*; the next start runs 1 migration$/);
    change(file, 'UPDATE schema_reader SET oldest = 999');
    expect((await visit()).of('database')).toMatch(
      /^problem: .* a newer version of Millwright has migrated it \(1 unknown migration\) → start that version/,
    );
    writeFileSync(file, Buffer.alloc(8_192, 7));
    expect((await visit()).of('database')).toMatch(
      /^problem: .* cannot be used \(SQLITE_NOTADB\) → restore it from a backup/,
    );
  }, 300_000);
});

/** As another program would. */
function change(file: string, statement: string): void {
  const connection = new Database(file);
  connection.exec(statement);
  connection.close();
}

const server = await postgresServer();

(server.ok ? describe : describe.skip)(`PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  it('is looked at without making anything, and its refusals are told apart', async () => {
    if (!server.ok) return;
    const { url, drop } = await freshDatabase(server.url);
    const keys = Object.fromEntries(['MASTER', 'UID'].map((name) => [`MILLWRIGHT_${name}_KEY_FILE`, join(box, name)]));
    for (const path of Object.values(keys)) writeFileSync(path, 'ab'.repeat(32), { mode: 0o600 });
    const client = new Client(url);
    await client.connect();
    try {
      const asked = async (address: string): Promise<string> =>
        (await visit({ ...keys, MILLWRIGHT_DATABASE_URL: address })).of('database');
      expect(await asked(url)).toMatch(
        patternOf(
          /^ok: PostgreSQL \S+ at 127\.0\.0\.1:\d+; the next start runs \d+ migrations\n/,
          /ok: the clocks .* differ by 0\.\d s$/,
        ),
      );
      expect(
        (await client.query("SELECT * FROM information_schema.tables WHERE table_schema = 'public'")).rows,
      ).toEqual([]);
      await client.query(
        'CREATE TABLE migrations (id serial, timestamp bigint, name text); INSERT INTO migrations (timestamp, ' +
          "name) VALUES (1, 'FromTheFuture')",
      );
      expect(await asked(url)).toMatch(/^problem: .* a newer version of Millwright has migrated it/);
      const wrong = (change: (address: URL) => void): string => {
        const address = new URL(url);
        change(address);
        return address.href;
      };
      expect(await asked(wrong((address) => (address.pathname = '/nowhere')))).toMatch(
        /^problem: .* has no database of that name → make it/,
      );
      expect(await asked(wrong((address) => (address.username = 'hidden')))).toMatch(
        /^problem: .* does not let this user in → /,
      );
      await client.query('DROP TABLE migrations; REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE reader LOGIN');
      expect(await asked(wrong((address) => (address.username = 'reader')))).toMatch(
        /^problem: .* migrations, and this user may not → grant CREATE/,
      );
      await client.query('DROP ROLE reader');
    } finally {
      await client.end();
      await drop();
    }
  }, 300_000);
});

describe('definitions', () => {
  const factory = (files: Record<string, string>): string => {
    const folder = join(box, 'factory');
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  };
  const automation = (keys: string): string =>
    `---\n${keys}triggers:\n  - {provider: schedule, event: cron_fired, schedule: {cron: "@daily"}}\n---\nLook.\n`;

  it('name a harness and a model that no run can have here', async () => {
    const folder = factory({
      'automations/one/automation.md': automation('harness: {type: command}\n'),
      'automations/two/automation.md': automation('model: large\n'),
      'automations/three/automation.md': automation('model: auto\nharness: {type: oz}\n'),
    });
    const { code, of } = await visit({ MILLWRIGHT_AGENT_MODEL: '' }, [folder]);
    expect(of('definitions')).toMatch(
      /^warning: automations\/one\/automation\.md:2: .*"command" is not to be had here/m,
    );
    expect(of('definitions')).toMatch(
      /^warning: automations\/two\/automation\.md:2: the model "large" is not to be had/m,
    );
    expect(of('definitions')).not.toContain('three');
    expect(code).toBe(0);
    const { of: ofAnother } = await visit({ MILLWRIGHT_RUN_COMMAND: '["/bin/cat"]', MILLWRIGHT_AGENT_MODEL: '' }, [
      folder,
    ]);
    expect(ofAnother('definitions')).not.toContain('automations/one');
  }, 300_000);

  it('of the current folder are looked at where nothing is named, and it says so', async () => {
    const folder = factory({ 'automations/two/automation.md': automation('model: large\n') });
    const here = await visit({ MILLWRIGHT_AGENT_MODEL: '' }, [], false, { cwd: folder });
    expect(here.of('looked at')).toBe(`ok: this machine, 1 definition file of the current folder, ${folder}`);
    expect(here.of('definitions')).toMatch(/^warning: automations\/two\/automation\.md:2: the model "large"/);
    const skills = factory({ '../tools/skills/count/SKILL.md': '---\nname: count\n---\nCount.\n' });
    const elsewhere = await visit({}, [], false, { cwd: join(skills, '../tools') });
    expect(elsewhere.of('looked at')).toMatch(/^ok: this machine alone: the current folder is no factory repository/);
    expect([elsewhere.code, elsewhere.of('definitions')]).toEqual([0, '']);
  }, 300_000);

  it('of the connected service are asked for outside of a repository, and what hinders it is a problem', async () => {
    const folder = factory({ 'automations/two/automation.md': automation('model: large\n') });
    const mill = await bootService({ environment: { MILLWRIGHT_RUN_COMMAND: '' } });
    const contexts = (server: string, key: string, mode = 0o600): Record<string, string> => {
      const file = join(box, 'config.json');
      writeFileSync(file, JSON.stringify({ current: 'mill', contexts: { mill: { server, key } } }));
      chmodSync(file, mode);
      return { MILLWRIGHT_CONFIG: file };
    };
    try {
      const quiet = await visit(contexts(mill.url, mill.adminKey));
      expect([quiet.code, quiet.of('looked at'), quiet.of('server'), quiet.of('definitions')]).toEqual([
        0,
        `ok: this machine, the service at ${mill.url}/ (the context mill)`,
        'ok: the service is ready and knows the API key',
        'ok: 0 factories there name no harness or model that runs cannot have',
      ]);
      await mill.factory('birds', { kind: 'directory', path: folder });
      const named = await visit(contexts(mill.url, mill.adminKey));
      expect(named.of('definitions')).toMatch(/^warning: birds: automations\/two\/automation\.md:2: the model "large"/);
      expect(named.code).toBe(0);
      const stranger = await visit(contexts(mill.url, `mw_${'x'.repeat(43)}`));
      expect([stranger.code, stranger.of('definitions')]).toEqual([1, expect.stringMatching(/^problem: /)]);
      expect(stranger.text).not.toContain('xxxx');
      const open = await visit(contexts(mill.url, mill.adminKey, 0o644));
      expect([open.code, open.of('looked at'), open.of('server')]).toEqual([
        0,
        expect.stringMatching(/^warning: this machine alone: others may read the keys in /),
        '',
      ]);
    } finally {
      await mill.stop();
    }
    const gone = await visit(contexts(mill.url, mill.adminKey));
    expect([gone.code, gone.of('server')]).toEqual([1, expect.stringMatching(/^problem: .* cannot be reached/)]);
  }, 300_000);

  it('that are in order are said to be', async () => {
    const folder = factory({ 'automations/one/automation.md': automation('model: auto\n') });
    expect((await visit({}, [folder])).of('definitions')).toMatch(/^ok: .*is to be had here$/);
    const wrong = factory({ 'factory.yaml': 'bogus: 1\n' });
    expect((await visit({}, [wrong])).of('definitions')).toMatch(/^warning: 1 error in the definition files/);
  }, 300_000);
});
