/**
 * One machine, SQLite: another version takes over the listening socket under load, or fails to and the one of before
 * comes back. contract §1.8 (Upgrades).
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { upgrade } from '../../apps/cli/verbs/installation/upgrade.ts';
import type { FactoryFolder } from '../support/factories/factory-folder.ts';
import { nextVersion, type NextVersion } from '../support/processes/next-version.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';
import { eventually } from '../support/services/service.ts';
import { manyWebhooks, TOKEN } from '../support/services/services-on-postgres.ts';
import { programFile, REPOSITORY } from '../support/processes/node-arguments.ts';

const PROGRAM = 'test/support/services/supervised-program.ts';
/** Below what sixty webhooks may take in a minute. */
const PER_SECOND = 40;

let box: string;
let folder: FactoryFolder;
let adding: NextVersion;
let failing: NextVersion;
let mill: ServiceProcess;
let clock: string;
let uids: string[];
const loads: Load[] = [];

beforeAll(async () => {
  folder = await manyWebhooks();
  adding = nextVersion(['CREATE TABLE next_table (id INTEGER PRIMARY KEY)']);
  failing = nextVersion(['CREATE TABLE next_table (id INTEGER PRIMARY KEY)', 'THIS IS NO STATEMENT']);
}, 120_000);

afterAll(async () => {
  adding?.remove();
  failing?.remove();
  await folder?.remove();
});

beforeEach(async () => {
  box = mkdtempSync(join(tmpdir(), 'mw-up-'));
  clock = join(box, 'clock');
  writeFileSync(clock, '0');
  mill = await startServiceProcess(
    join(box, 'data'),
    {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      FAULT_CLOCK_FILE: clock,
      NODE_OPTIONS: `--import=${join(REPOSITORY, 'test/support/processes/shifted-clock.mjs')}`,
    },
    PROGRAM,
  );
  await mill.api('PUT', '/secrets/bearer', { value: TOKEN });
  uids = [];
  for (const slug of ['one', 'two', 'three']) {
    const source = { kind: 'directory', path: folder.path };
    const made = await mill.api('POST', '/factory', { slug, name: slug, source });
    await mill.api('POST', `/factory/${String(made['uid'])}/sync?wait=true`);
    const { webhooks } = await mill.api('GET', `/factory/${String(made['uid'])}/webhooks`);
    uids.push(...(webhooks as { uid: string }[]).map(({ uid }) => uid));
  }
}, 120_000);

afterEach(async () => {
  for (const load of loads.splice(0)) await load.stop();
  mill.signal('SIGTERM');
  const code = await mill.ended;
  if (code !== 0) throw new Error(`the service ended with ${code}: ${mill.errors()}`);
  rmSync(box, { recursive: true, force: true });
});

/** Senders that come at their own pace, half of them on connections that they keep. */
class Load {
  readonly bad: string[] = [];
  timesMs: number[] = [];
  sent = 0;
  private readonly kept = new Agent({ keepAlive: true, maxSockets: 8 });
  private readonly open = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;

  constructor() {
    loads.push(this);
    this.timer = setInterval(() => {
      const one = this.send((this.sent += 1)).finally(() => this.open.delete(one));
      this.open.add(one);
    }, 1_000 / PER_SECOND);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.open);
    this.kept.destroy();
  }

  private send(n: number): Promise<void> {
    const began = performance.now();
    return new Promise((resolve) => {
      const end = (what: number | string): void => {
        if (what !== 202) this.bad.push(`${n}: ${what}`);
        this.timesMs.push(performance.now() - began);
        resolve();
      };
      const sent = request(`${mill.url}/webhooks/w/${uids[n % uids.length] ?? ''}`, {
        method: 'POST',
        agent: n % 2 === 0 ? this.kept : new Agent(),
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'x-millwright-delivery-id': `d-${n}`,
          'content-type': 'application/json',
        },
      });
      sent.on('response', (answer) => {
        answer.resume().on('end', () => end(answer.statusCode ?? 0));
      });
      sent.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => end(code));
      sent.end('{}');
    });
  }
}

/** `onStep`: called when it says that something of it is done. */
async function upgradeTo(
  root: string,
  { onStep }: { onStep?: () => void } = {},
): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let [out, err] = ['', ''];
  stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
    onStep?.();
  });
  const environment = { PATH: process.env['PATH'], MILLWRIGHT_DATA_DIR: join(box, 'data') };
  const argv = ['--program', programFile(PROGRAM, root), '--format', 'json'];
  const code = await upgrade(argv, { stdin: Readable.from([]), stdout, stderr, cwd: root, environment });
  return { code, out, err };
}

/** Asks for an upgrade as the command does, and is gone at a step of it. */
function asked({ until }: { until: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(join(box, 'data', 'upgrade.sock'));
    socket.on('error', reject);
    socket.write(`${JSON.stringify({ node: process.execPath, program: programFile(PROGRAM) })}\n`);
    socket.on('data', (line: Buffer) => {
      if (line.includes(until)) resolve(void socket.destroy());
    });
  });
}

/** Processes that a process has started and that run. */
function children(pid: number): number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return listed
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}

/** Whether any thread of a process is there, other than as what its parent has not asked for. */
function isRunning(pid: number): boolean {
  try {
    const isOver = readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
    return !isOver || readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}

interface Stored {
  all: number;
  ids: number;
}

function stored(): Stored {
  const database = new Sqlite(join(box, 'data', 'millwright.sqlite'), { readonly: true });
  try {
    return database
      .prepare("SELECT count(*) AS 'all', count(DISTINCT delivery_id) AS ids FROM delivery")
      .get() as Stored;
  } finally {
    database.close();
  }
}

const seconds = (n: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, n * 1_000));

function p99(timesMs: readonly number[]): number {
  const sorted = timesMs.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}

describe('an upgrade under load', () => {
  it('refuses no sender, loses nothing and doubles nothing, several times', async () => {
    const load = new Load();
    await seconds(3);
    const normal = p99(load.timesMs);
    load.timesMs = [];
    const paused: number[] = [];
    for (const root of [REPOSITORY, adding.root, adding.root]) {
      const done = await upgradeTo(root);
      expect(done).toMatchObject({ code: 0 });
      paused.push((JSON.parse(done.out) as { pausedMs: number }).pausedMs);
      await seconds(2);
    }
    await load.stop();
    console.log(
      `upgrades: ${load.sent} deliveries, p99 ${p99(load.timesMs)} ms beside ${normal} ms, ` +
        `connections waited ${paused.join(', ')} ms`,
    );
    expect(load.bad).toEqual([]);
    expect(stored()).toEqual({ all: load.sent, ids: load.sent });
    expect((await mill.ask('GET', '/agent/runs?limit=1')).status).toBe(200);
  }, 300_000);

  it('to a version that cannot migrate brings the one of before back, and nothing is lost', async () => {
    const load = new Load();
    await seconds(1);
    const done = await upgradeTo(failing.root);
    expect(done.code).toBe(1);
    expect(done.err).toMatch(/not upgraded; the version of before serves again/);
    await seconds(1);
    // It is whole: the next one takes over from it.
    expect(await upgradeTo(REPOSITORY)).toMatchObject({ code: 0 });
    await seconds(1);
    await load.stop();
    expect(load.bad).toEqual([]);
    expect(stored()).toEqual({ all: load.sent, ids: load.sent });
  }, 300_000);

  it('to a program that is none leaves the one that runs undisturbed', async () => {
    const load = new Load();
    const done = await upgradeTo(join(box, 'nowhere'));
    await load.stop();
    expect([done.code, done.err]).toEqual([1, expect.stringContaining('the running version has not noticed')]);
    expect(load.bad).toEqual([]);
  }, 120_000);

  it('whose new version is killed while it loads leaves the one that runs undisturbed', async () => {
    const load = new Load();
    const [before] = children(mill.pid);
    const upgrading = upgradeTo(REPOSITORY);
    const next = await eventually('the new version', async () => children(mill.pid).find((pid) => pid !== before));
    process.kill(next, 'SIGKILL');
    const done = await upgrading;
    await load.stop();
    expect([done.code, done.err]).toEqual([1, expect.stringContaining('the running version has not noticed')]);
    expect(children(mill.pid)).toEqual([before]);
    expect(load.bad).toEqual([]);
  }, 120_000);

  it('goes on when whoever asked for it is gone', async () => {
    const load = new Load();
    const [before] = children(mill.pid);
    await asked({ until: 'the new version is loaded' });
    await eventually('the new version alone', async () => {
      const running = children(mill.pid);
      return running.length === 1 && running[0] !== before;
    });
    await seconds(1);
    await load.stop();
    expect(load.bad).toEqual([]);
    expect(stored()).toEqual({ all: load.sent, ids: load.sent });
  }, 120_000);

  it('ends in order when the service is stopped half-way, with all that was answered', async () => {
    const load = new Load();
    await seconds(1);
    await asked({ until: 'the new version is loaded' });
    mill.signal('SIGTERM');
    expect(await mill.ended).toBe(0);
    await load.stop();
    expect(load.bad.filter((what) => !/ECONN|socket/.test(what))).toEqual([]);
    const answered = load.sent - load.bad.length;
    expect(stored().ids).toBeGreaterThanOrEqual(answered);
    expect(stored().all).toBe(stored().ids);
  }, 120_000);

  it.each<[where: string, byMs: number]>([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])(
    'stands a clock that jumps %s by an hour between the two versions',
    async (_where, byMs) => {
      const load = new Load();
      const done = await upgradeTo(REPOSITORY, { onStep: () => writeFileSync(clock, String(byMs)) });
      expect(done).toMatchObject({ code: 0 });
      await seconds(1);
      await load.stop();
      expect(load.bad).toEqual([]);
      expect(stored()).toEqual({ all: load.sent, ids: load.sent });
    },
    120_000,
  );

  it.each<[when: string, until: string | undefined]>([
    ['while the new version is being loaded', undefined],
    ['when the new version is loaded', 'the new version is loaded'],
    ['when the old version has stepped aside', 'the old version has stepped aside'],
  ])(
    'whose supervisor is killed %s leaves no process behind, and all that was answered',
    async (_when, until) => {
      const load = new Load();
      const began = asked({ until: until ?? 'never' });
      const both = await eventually('both versions', async () => {
        const running = children(mill.pid);
        return running.length === 2 ? running : undefined;
      });
      if (until !== undefined) await began;
      mill.signal('SIGKILL');
      await mill.ended;
      await load.stop();
      await eventually('both versions have ended', async () => both.every((pid) => !isRunning(pid)) || undefined);
      mill = await startServiceProcess(join(box, 'data'), { MILLWRIGHT_RUN_CONCURRENCY: '0' }, PROGRAM);
      expect(load.bad.filter((what) => !/ECONN|socket/.test(what))).toEqual([]);
      const { all, ids } = stored();
      expect([all, ids >= load.sent - load.bad.length]).toEqual([ids, true]);
      expect((await mill.ask('GET', '/agent/runs?limit=1')).status).toBe(200);
    },
    240_000,
  );
});

describe('the socket of the supervisor', () => {
  it('is for nobody else, and an upgrade without one says what to do', async () => {
    const path = join(box, 'data', 'upgrade.sock');
    expect([existsSync(path), statSync(path).mode & 0o777]).toEqual([true, 0o600]);
    const elsewhere = { PATH: process.env['PATH'], MILLWRIGHT_DATA_DIR: join(box, 'other') };
    const stderr = new PassThrough();
    let err = '';
    stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const io = { stdin: Readable.from([]), stdout: new PassThrough(), stderr, cwd: box, environment: elsewhere };
    expect(await upgrade([], io)).toBe(1);
    expect(err).toContain('no service with --supervised runs on this data folder (ENOENT)');
  });
});
