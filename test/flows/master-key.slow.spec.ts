/** Another master key beside a service that takes deliveries, and the two keys that nobody changes by accident. */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { backup } from '../../apps/cli/verbs/installation/backup.ts';
import type { Verb } from '../../apps/cli/command.ts';
import { keys } from '../../apps/cli/verbs/keys.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const ADMIN_KEY = `mw_${'k'.repeat(43)}`;
const TOKEN = 'a-bearer-token-of-the-tests';

let dataDir: string;
let folder: FactoryFolder;
let mill: TestService | undefined;
let uid: string;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millwright-keys-'));
  folder = await factoryFolder({ webhooks: { a: { secretName: 'bearer' } }, automations: {} });
  mill = await boot();
  await mill.secret('bearer', TOKEN);
  uid = await mill.factory('shop', folder.source);
});

afterEach(async () => {
  await mill?.stop({ keepData: true });
  await folder.remove();
  rmSync(dataDir, { recursive: true, force: true });
});

const boot = (): Promise<TestService> =>
  bootService({ dataDir, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_ADMIN_KEY: ADMIN_KEY } });

async function stop(): Promise<void> {
  await mill?.stop({ keepData: true });
  mill = undefined;
}

async function send(service: TestService, id: string, token = TOKEN): Promise<number> {
  const answer = await exchange(service.url, {
    target: `/webhooks/w/${service.webhookUid('shop', 'a')}`,
    headers: [
      ['Authorization', `Bearer ${token}`],
      ['X-Webhook-Id', id],
    ],
    body: '{}',
  });
  return answer.status;
}

async function call(verb: Verb, argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let [out, err] = ['', ''];
  stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const environment = { PATH: process.env['PATH'], MILLWRIGHT_DATA_DIR: dataDir };
  const code = await verb([...argv], { stdin: Readable.from([]), stdout, stderr, cwd: dataDir, environment });
  return { code, out, err };
}

const path = (name: string): string => join(dataDir, name);

/** One statement on the database, beside whoever has it open. */
function statement<T>(text: string, ...params: unknown[]): T[] {
  const database = new Sqlite(path('millwright.sqlite'), { timeout: 5_000 });
  try {
    const prepared = database.prepare<unknown[], T>(text);
    if (prepared.reader) return prepared.all(...params);
    prepared.run(...params);
    return [];
  } finally {
    database.close();
  }
}

describe('another master key', () => {
  it('takes over under load: every delivery is accepted, and the key of before opens nothing any more', async () => {
    const before = readFileSync(path('master-key'), 'utf8');
    for (let n = 0; n < 130; n += 1) await mill?.secret(`more-${n}`, `value-number-${n}-of-many`);
    const answers: number[] = [];
    const sending = new AbortController();
    const sender = (async () => {
      for (let n = 0; !sending.signal.aborted && n < 55; n += 1)
        answers.push(await send(mill as TestService, `d-${n}`));
    })();
    const done = await call(keys, ['rotate-master', '--format', 'json']);
    sending.abort();
    await sender;
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(answers.length).toBeGreaterThan(0);
    expect(new Set(answers)).toEqual(new Set([202]));
    const told = JSON.parse(done.out) as { name: string; rewrapped: number; old_key: string };
    expect(told).toMatchObject({ rewrapped: 131, name: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(statement('SELECT DISTINCT wrapped_by FROM secret_value')).toEqual([{ wrapped_by: told.name }]);
    expect(readFileSync(path('master-key'), 'utf8')).not.toBe(before);
    expect(readFileSync(told.old_key, 'utf8')).toBe(before);
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.next'))).toEqual([]);

    // Sealed by the service that has run all the time, opened by one that never had the old key.
    await mill?.secret('bearer', `${TOKEN}-2`);
    await stop();
    rmSync(told.old_key);
    mill = await boot();
    await mill.sync(uid);
    expect(await send(mill, 'after', `${TOKEN}-2`)).toBe(202);
    const trail = await mill.api('GET', '/audit?action=master_key.rotate', undefined, mill.adminKey);
    const states = (trail.body['entries'] as { details: { state: string } }[]).map(({ details }) => details.state);
    expect(states).toEqual(['finished', 'begun']);
  });

  it('goes on where it was ended, also by a service that begins between', async () => {
    for (let n = 0; n < 5; n += 1) await mill?.secret(`more-${n}`, `value-number-${n}-of-many`);
    // Half of it: begun, and two values wrapped anew.
    const first = await call(keys, ['rotate-master', '--format', 'json']);
    const { name } = JSON.parse(first.out) as { name: string };
    const old = readdirSync(dataDir).find((file) => file.startsWith('master-key.')) ?? '';
    copyFileSync(path('master-key'), path('master-key.next'));
    copyFileSync(path(old), path('master-key'));
    const [row] = statement<{ proof: Buffer }>('SELECT master_key_proof AS proof FROM installation');
    expect((row?.proof ?? Buffer.alloc(0)).subarray(0, 8).toString('hex')).toBe(name);
    await stop();
    mill = await boot(); // both files, the database has the next one: nobody moved them here
    expect(await send(mill, 'between')).toBe(202);
    const again = await call(keys, ['rotate-master', '--format', 'json']);
    expect(JSON.parse(again.out)).toMatchObject({ name, rewrapped: 0 });
    expect(existsSync(path('master-key.next'))).toBe(false);
  });

  it('does not end while a value cannot be opened, and names the secret', async () => {
    const ofBearer = "secret_id = (SELECT id FROM secret WHERE name = 'bearer')";
    statement(`UPDATE secret_value SET wrapped_key = zeroblob(60) WHERE ${ofBearer}`);
    await mill?.secret('whole', 'value-of-the-whole-one');
    const done = await call(keys, ['rotate-master']);
    expect(done.code).toBe(1);
    expect(done.err).toContain('the values of these secrets cannot be opened: bearer; set or delete them');
    const refused = await call(backup, [path('b.millwright')]);
    expect(refused.err).toContain('the master key rotates: end that with millwright keys rotate-master');
    await mill?.secret('bearer', TOKEN);
    expect((await call(keys, ['rotate-master'])).code).toBe(0);
    expect((await call(backup, [path('b.millwright')])).code).toBe(0);
  });

  it('is another file than the one that is given by hand, which is refused with the way', async () => {
    await stop();
    writeFileSync(path('master-key'), `${'ab'.repeat(32)}\n`);
    await expect(boot()).rejects.toThrow(/millwright keys rotate-master, never by another file/);
    const done = await call(keys, ['rotate-master']);
    expect([done.code, done.err]).toEqual([1, expect.stringContaining('is not the master key of this database')]);
  });

  it('is refused where there is no database', async () => {
    await stop();
    rmSync(path('millwright.sqlite'));
    expect((await call(keys, ['rotate-master'])).err).toContain('there is no database in');
  });
});

describe('the UID key', () => {
  it('is not changed by another file: the refusal says how it comes back', async () => {
    await stop();
    writeFileSync(path('uid-key'), `${'cd'.repeat(32)}\n`);
    await expect(boot()).rejects.toThrow(/every backup with keys holds as keys\/uid-key\. It is not changed/);
  });

  it.each(['uid-key', 'master-key'])('%s is not made again beside a database that is there', async (name) => {
    await stop();
    rmSync(path(name));
    await expect(boot()).rejects.toThrow(/put the key of this database back there/);
    expect(existsSync(path(name))).toBe(false);
  });
});
