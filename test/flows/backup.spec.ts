/** A backup of a service that takes deliveries, its restore into an empty place, and what is refused. contract §1.5. */
import fs, { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import Sqlite from 'better-sqlite3';
import { pack } from 'tar-stream';
import { backup, restore } from '../../apps/cli/verbs/installation/backup.ts';
import { readConfig } from '../../apps/server/config/config.ts';
import { makeBackup } from '../../apps/server/backup/backup.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-bearer-token-of-the-tests';
const PASSPHRASE = 'correct horse battery staple';

let mill: TestService;
let folder: FactoryFolder;
let box: string;
let place: string;

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('bearer', TOKEN);
  folder = await factoryFolder({
    webhooks: Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { secretName: 'bearer' }])),
    automations: { fix: { webhooks: ['a', 'b', 'c', 'd', 'e'], prompt: 'Look at it.' } },
  });
  await mill.factory('shop', folder.source);
  box = await mkdtemp(join(tmpdir(), 'millwright-backup-test-'));
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
  await rm(box, { recursive: true, force: true });
});

beforeEach(async () => {
  place = await mkdtemp(join(box, 'place-'));
});

const sendTo = (service: TestService, webhook: string, id: string): Promise<RawAnswer> =>
  exchange(service.url, {
    target: `/webhooks/w/${service.webhookUid('shop', webhook)}`,
    headers: [
      ['Authorization', `Bearer ${TOKEN}`],
      ['X-Webhook-Id', id],
    ],
    body: JSON.stringify({ id }),
  });

interface Called {
  code: number;
  out: Buffer;
  err: string;
}

/** One call of a verb, with bytes on standard input and output. */
async function call(
  verb: typeof backup,
  argv: readonly string[],
  dataDir: string,
  input: Uint8Array = new Uint8Array(0),
): Promise<Called> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  stdout.on('data', (chunk: Buffer) => out.push(chunk));
  stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const code = await verb([...argv], {
    stdin: Readable.from([input], { objectMode: false }),
    stdout,
    stderr,
    cwd: box,
    environment: { PATH: process.env['PATH'], MILLWRIGHT_DATA_DIR: dataDir },
  });
  return { code, out: Buffer.concat(out), err: Buffer.concat(err).toString() };
}

/** Every row of every table, as text. */
function rowsOf(dataDir: string): Record<string, string[]> {
  const database = new Sqlite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];
    return Object.fromEntries(
      tables.map((name) => [
        name,
        database
          .prepare(`SELECT * FROM "${name}"`)
          .raw()
          .all()
          .map((row) => JSON.stringify(row))
          .sort(),
      ]),
    );
  } finally {
    database.close();
  }
}

describe('a backup beside a running service', () => {
  it('holds everything that was answered before it began, and a service on its restore knows it', async () => {
    const answered: { webhook: string; id: string }[] = [];
    const sending = new AbortController();
    const senders = ['a', 'b', 'c', 'd', 'e'].map(async (webhook) => {
      // Sent once more below, perhaps in the same minute: together no more than a webhook takes.
      for (let n = 0; !sending.signal.aborted && n < 30; n += 1) {
        const id = `${webhook}-${n}`;
        if ((await sendTo(mill, webhook, id)).status === 202) answered.push({ webhook, id });
      }
    });
    await eventually('forty deliveries are answered', () => answered.length >= 40 || undefined);
    const before = [...answered];
    const file = join(box, 'live.millwright');
    const made = await call(backup, [file], mill.dataDir);
    sending.abort();
    await Promise.all(senders);
    expect(made.err).toBe('');
    expect(made.out.toString()).toMatch(/^backed up \d+ rows of \d+ tables as of 20.*Z, with the keys\n$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    expect(await call(restore, [file], place)).toMatchObject({ code: 0, err: '' });
    const restored = await bootService({ dataDir: place, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    try {
      const runs = (await restored.api('GET', '/agent/runs?limit=1', undefined, mill.adminKey)).status;
      expect(runs).toBe(200);
      for (const { webhook, id } of before) {
        const again = await sendTo(restored, webhook, id);
        expect([again.status, id]).toEqual([202, id]);
      }
      const log = new Sqlite(join(place, 'millwright.sqlite'), { readonly: true });
      const outcomes = log.prepare('SELECT outcome FROM delivery ORDER BY rowid DESC LIMIT ?').pluck();
      expect(new Set(outcomes.all(before.length))).toEqual(new Set(['duplicate']));
      log.close();
    } finally {
      await restored.stop({ keepData: true });
    }
  }, 120_000);

  it('is equal row by row after its restore, and opens with any age program', async () => {
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    await mill.service.keyUses.write(); // and not once a minute, between the two
    const archive = await call(backup, ['-', '--recipient', recipient], mill.dataDir);
    expect([archive.code, archive.out.subarray(0, 21).toString()]).toEqual([0, 'age-encryption.org/v1']);
    expect(archive.err).toContain('backed up');
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    expect(Buffer.from(await decrypter.decrypt(archive.out)).includes('manifest.json')).toBe(true);

    const secret = join(box, 'identity');
    await writeFile(secret, `# made by a test\n${identity}\n`, { mode: 0o600 });
    expect(await call(restore, ['-', '--identity', secret], place, archive.out)).toMatchObject({ code: 0, err: '' });
    const [expected, found] = [rowsOf(mill.dataDir), rowsOf(place)];
    // What the service writes of itself all the time.
    for (const volatile of ['replica', 'sweep']) [expected[volatile], found[volatile]] = [[], []];
    expect(found).toEqual(expected);
    expect(await readFile(join(place, 'master-key'))).toEqual(await readFile(join(mill.dataDir, 'master-key')));
  }, 60_000);

  it('leaves no file behind but itself', async () => {
    const before = await readdir(mill.dataDir);
    const file = join(place, 'one.millwright');
    await call(backup, [file], mill.dataDir);
    expect(await readdir(place)).toEqual(['one.millwright']);
    expect((await readdir(mill.dataDir)).filter((name) => !before.includes(name))).toEqual([]);
  });
});

describe('a backup is refused', () => {
  it.each<[what: string, argv: string[], code: number, words: string]>([
    ['to standard output in the clear', ['-'], 64, 'standard output is encrypted only'],
    ['for what is no recipient', ['out.millwright', '--recipient', 'age1nonsense'], 1, 'no public key of age'],
    ['into a folder that is not there', ['nowhere/out.millwright'], 1, 'no file can be written in'],
  ])('%s', async (_what, argv, code, words) => {
    const made = await call(backup, argv, mill.dataDir);
    expect([made.code, made.err]).toEqual([code, expect.stringContaining(words)]);
    expect(existsSync(join(box, argv[0] ?? ''))).toBe(false);
  });

  it('over a file that is there, of no database, and without its keys unless that is said', async () => {
    const file = join(place, 'there');
    await writeFile(file, 'mine');
    expect((await call(backup, [file], mill.dataDir)).err).toContain('nothing is overwritten');
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect((await call(backup, ['x'], place)).err).toContain('there is no database in');
    const keyless = join(box, 'keyless.millwright');
    const config = readConfig({ MILLWRIGHT_DATA_DIR: mill.dataDir, MILLWRIGHT_UID_KEY_FILE: join(place, 'no-key') });
    const options = { config, encryption: undefined, nowMs: 0 } as const;
    await expect(makeBackup({ ...options, to: { file: keyless }, withKeys: true })).rejects.toThrow(
      'there is no key at',
    );
    await makeBackup({ ...options, to: { file: keyless }, withKeys: false });
    const restored = await call(restore, [keyless], place);
    expect([restored.code, restored.err]).toEqual([0, expect.stringContaining('it holds no keys')]);
  });

  it('where it goes has no space left, with nothing left behind', async () => {
    const full = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write'), { code: 'ENOSPC' })),
    });
    const before = await readdir(mill.dataDir);
    const config = readConfig({ MILLWRIGHT_DATA_DIR: mill.dataDir });
    await expect(
      makeBackup({ config, to: { stream: full }, encryption: undefined, withKeys: true, nowMs: 0 }),
    ).rejects.toThrow('the backup cannot be written: there is no space left');
    expect(await readdir(mill.dataDir)).toEqual(before);
  });

  it('with a passphrase that is short or that others can read', async () => {
    const file = join(place, 'passphrase');
    await writeFile(file, 'short\n', { mode: 0o600 });
    expect((await call(backup, ['y', '--passphrase-file', file], mill.dataDir)).err).toContain('needs 12 characters');
    await writeFile(file, PASSPHRASE);
    await chmod(file, 0o644);
    const made = await call(backup, ['y', '--passphrase-file', file], mill.dataDir);
    expect(made.err).toContain('can be read by others');
    expect(made.err).not.toContain(PASSPHRASE);
  });
});

describe('a restore is refused, and leaves its place empty', () => {
  let whole: Buffer;

  beforeAll(async () => {
    const file = join(box, 'whole.millwright');
    await call(backup, [file], mill.dataDir);
    whole = await readFile(file);
  });

  const emptyOf = async (): Promise<string[]> => (await readdir(place)).filter((name) => name !== 'lock.sqlite');

  async function refusal(archive: Uint8Array, ...argv: string[]): Promise<string> {
    const { code, err } = await call(restore, ['-', ...argv], place, archive);
    expect(code).toBe(1);
    expect(await emptyOf()).toEqual([]);
    return err;
  }

  it.each([0.001, 0.1, 0.5, 0.99])('of the first %d of a backup', async (share) => {
    expect(await refusal(whole.subarray(0, Math.floor(whole.length * share)))).toMatch(
      /only the beginning of one|is no backup|is missing/,
    );
  });

  it('of the first half of a backup, where the disk opens files late', async () => {
    const openFile = fs.open;
    const late = jest.spyOn(fs, 'open').mockImplementation((...options: Parameters<typeof fs.open>) => {
      setTimeout(() => openFile(...options), 1);
    });
    try {
      for (let left = 0; left < 20; left += 1)
        expect(await refusal(whole.subarray(0, Math.floor(whole.length * (0.5 + left / 50))))).toContain('damaged');
    } finally {
      late.mockRestore();
    }
  });

  it('of one that ends anywhere around the beginning of its database', async () => {
    const database = whole.indexOf('SQLite format 3');
    for (let end = 512; end < database + 20_480; end += 512)
      expect(await refusal(whole.subarray(0, end))).toMatch(
        /only the beginning|hardly the beginning|is missing|damaged/,
      );
  });

  it('of what is no backup, or nothing', async () => {
    expect(await refusal(Buffer.from('hello'))).toContain('this is no backup of Millwright');
    expect(await refusal(new Uint8Array(0))).toContain('this is no backup of Millwright');
  });

  it('of one whose database was changed by a bit', async () => {
    const changed = Buffer.from(whole);
    const at = changed.lastIndexOf('Look at it.');
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(await refusal(changed)).toContain('database.sqlite is not what its manifest says');
  });

  it.each<[what: string, change: (manifest: Record<string, unknown>) => void, words: string]>([
    ['a newer format', (manifest) => (manifest['format'] = 2), 'it has format 2'],
    [
      'a newer version',
      (manifest) => (manifest['migrations'] = ['Tomorrow1900000000001']),
      'whose migration Tomorrow1900000000001 this version does not know',
    ],
    ['the other database', (manifest) => (manifest['database'] = 'postgres'), 'its manifest is incomplete'],
    [
      'other rows than it says',
      (manifest) =>
        (manifest['tables'] = (manifest['tables'] as object[]).map((table) => ({ ...table, rows: 99_999 }))),
      'rows instead of 99999',
    ],
    [
      'files that it may not hold',
      (manifest) => (manifest['files'] = [{ name: '../x' }]),
      'its manifest is incomplete',
    ],
  ])('of one of %s', async (_what, change, words) => {
    expect(await refusal(await withManifest(whole, change))).toContain(words);
  });

  it('of an encrypted one without its key, or with another', async () => {
    const [mine, other] = [await generateX25519Identity(), await generateX25519Identity()];
    const { out } = await call(backup, ['-', '--recipient', await identityToRecipient(mine)], mill.dataDir);
    expect(await refusal(out)).toContain('give --identity FILE or --passphrase-file FILE');
    const file = join(box, 'other-identity');
    await writeFile(file, other, { mode: 0o600 });
    expect(await refusal(out, '--identity', file)).toContain('was not encrypted for this key');
    await rm(file);
  });

  it('of half an encrypted one', async () => {
    const identity = await generateX25519Identity();
    const file = join(box, 'half-identity');
    await writeFile(file, identity, { mode: 0o600 });
    const { out } = await call(backup, ['-', '--recipient', await identityToRecipient(identity)], mill.dataDir);
    for (const share of [0.5, 0.999])
      expect(await refusal(out.subarray(0, Math.floor(out.length * share)), '--identity', file)).toContain(
        'the backup is damaged, or only the beginning of one',
      );
    await rm(file);
  });

  it('of one of another passphrase', async () => {
    const file = join(box, 'a-passphrase');
    await writeFile(file, `${PASSPHRASE}\n`, { mode: 0o600 });
    const { out } = await call(backup, ['-', '--passphrase-file', file], mill.dataDir);
    await writeFile(file, 'another passphrase than that\n');
    const refused = await refusal(out, '--passphrase-file', file);
    expect(refused).toContain('was not encrypted for this key');
    expect(refused).not.toContain('another passphrase');
    await rm(file);
  });

  it('over a database or another key, and while a service runs there', async () => {
    const file = join(box, 'whole.millwright');
    expect((await call(restore, [file], mill.dataDir)).err).toContain('is used by another millwright process');
    await writeFile(join(place, 'master-key'), 'f'.repeat(64), { mode: 0o600 });
    expect((await call(restore, [file], place)).err).toContain("is another key than the backup's");
    expect(await emptyOf()).toEqual(['master-key']);
    await rm(join(place, 'master-key'));
    expect((await call(restore, [file], place)).code).toBe(0);
    expect((await call(restore, [file], place)).err).toContain('is there already');
  });
});

/** The same archive with another manifest. */
async function withManifest(archive: Buffer, change: (manifest: Record<string, unknown>) => void): Promise<Buffer> {
  const { extract } = await import('tar-stream');
  const [entries, changed] = [extract(), pack()];
  entries.end(archive);
  for await (const entry of entries as unknown as AsyncIterable<AsyncIterable<Buffer> & { header: { name: string } }>) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk);
    let bytes = Buffer.concat(chunks);
    if (entry.header.name === 'manifest.json') {
      const manifest = JSON.parse(bytes.toString()) as Record<string, unknown>;
      change(manifest);
      bytes = Buffer.from(JSON.stringify(manifest));
    }
    changed.entry({ name: entry.header.name }, bytes);
  }
  changed.finalize();
  const all: Buffer[] = [];
  for await (const chunk of changed as unknown as AsyncIterable<Buffer>) all.push(chunk);
  return Buffer.concat(all);
}
