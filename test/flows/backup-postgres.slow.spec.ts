/** A backup of PostgreSQL under load by its own pg_dump, and its restore into an empty database. contract §1.5. */
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canOwnPostgres, ownPostgres, type OwnPostgres } from '../support/databases/own-postgres.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { deliver } from '../support/factories/factory-files.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-bearer-token-of-the-tests';
const TOOLS = ['pg_dump', 'pg_restore'];
const PASSWORD = 'canary-of-the-database-password';

const found = await canOwnPostgres(TOOLS);
if (!found.ok && process.env['REQUIRE_PG_DUMP'] === '1') throw new Error('REQUIRE_PG_DUMP=1, and there is no pg_dump');
if (!found.ok) process.stderr.write('\nBackups of PostgreSQL are SKIPPED: no server with its own pg_dump\n\n');

let postgres: { server: OwnPostgres; close(): Promise<void> } | undefined;
let mill: TestService | undefined;
let folder: FactoryFolder | undefined;
let box: string;
let environment: Record<string, string>;

beforeAll(async () => {
  box = await mkdtemp(join(tmpdir(), 'millwright-backup-postgres-'));
  if (!found.ok) return;
  postgres = await ownPostgres({}, TOOLS);
  const { server } = postgres;
  await server.ask(`CREATE ROLE millwright LOGIN PASSWORD '${PASSWORD}'`);
  for (const name of ['live', 'place', 'other']) await server.ask(`CREATE DATABASE ${name} OWNER millwright`);
  server.allow('host all millwright 127.0.0.1/32 scram-sha-256');
  await server.ask('SELECT pg_reload_conf()');
  for (const name of ['master', 'uid'])
    await writeFile(join(box, name), randomBytes(32).toString('hex'), { mode: 0o600 });
  environment = {
    MILLWRIGHT_DATABASE_URL: urlOf('live'),
    MILLWRIGHT_MASTER_KEY_FILE: join(box, 'master'),
    MILLWRIGHT_UID_KEY_FILE: join(box, 'uid'),
    MILLWRIGHT_RUN_CONCURRENCY: '0',
  };
  mill = await bootService({ environment });
  await mill.secret('bearer', TOKEN);
  folder = await factoryFolder({
    webhooks: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { secretName: 'bearer' }])),
    automations: { fix: { webhooks: ['a', 'b', 'c', 'd'] } },
  });
  await mill.factory('shop', folder.source);
}, 180_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
  await postgres?.close();
  await rm(box, { recursive: true, force: true });
});

const urlOf = (database: string): string => {
  const url = new URL(postgres?.server.url(database) ?? '');
  [url.username, url.password] = ['millwright', PASSWORD];
  return url.href;
};

/** A call of the command on a database, with the keys at these places. */
async function command(argv: string[], database: string, keys = box): Promise<Call> {
  return call(argv, {
    cwd: box,
    environment: {
      ...environment,
      PATH: process.env['PATH'],
      MILLWRIGHT_DATA_DIR: join(box, 'data'),
      MILLWRIGHT_DATABASE_URL: urlOf(database),
      MILLWRIGHT_MASTER_KEY_FILE: join(keys, 'master'),
      MILLWRIGHT_UID_KEY_FILE: join(keys, 'uid'),
    },
  });
}

const age = spawnSync('age', ['--version']).status === 0;
if (!age && process.env['REQUIRE_AGE'] === '1') throw new Error('REQUIRE_AGE=1, and there is no age');

(found.ok ? describe : describe.skip)('a backup of PostgreSQL', () => {
  it('holds what was answered before it began; its restore knows every delivery, and says no password', async () => {
    const answered: { webhook: string; id: string }[] = [];
    const service = mill as TestService;
    const send = (to: TestService, webhook: string, id: string) =>
      deliver(to.ingressUrl('shop', webhook), TOKEN, { id }, { 'x-webhook-id': id });
    const sending = new AbortController();
    const senders = ['a', 'b', 'c', 'd'].map(async (webhook) => {
      // Sent once more below, perhaps in the same minute: together no more than a webhook takes.
      for (let n = 0; !sending.signal.aborted && n < 30; n += 1)
        if ((await send(service, webhook, `${webhook}-${n}`)).status === 202)
          answered.push({ webhook, id: `${webhook}-${n}` });
    });
    await eventually('forty deliveries are answered', () => answered.length >= 40 || undefined);
    const before = [...answered];
    const made = await command(['backup', 'live.millwright'], 'live');
    sending.abort();
    await Promise.all(senders);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toMatch(/^backed up \d+ rows of \d+ tables/);
    expect((await readFile(join(box, 'live.millwright'))).includes(PASSWORD)).toBe(false);

    const keys = await mkdtemp(join(box, 'keys-'));
    const restored = await command(['restore', 'live.millwright'], 'place', keys);
    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(await readFile(join(keys, 'master'))).toEqual(await readFile(join(box, 'master')));
    const other = await bootService({
      environment: {
        ...environment,
        MILLWRIGHT_DATABASE_URL: urlOf('place'),
        MILLWRIGHT_MASTER_KEY_FILE: join(keys, 'master'),
        MILLWRIGHT_UID_KEY_FILE: join(keys, 'uid'),
      },
    });
    try {
      for (const { webhook, id } of before) expect((await send(other, webhook, id)).status).toBe(202);
      const outcomes = await postgres?.server.ask<{ outcome: string; n: number }>(
        `SELECT outcome, count(*) AS n FROM delivery WHERE received_at > ${Date.now() - 600_000} GROUP BY outcome`,
        'place',
      );
      expect(outcomes?.find(({ outcome }) => outcome === 'duplicate')?.n).toBe(before.length);
    } finally {
      await other.stop();
    }
    expect((await command(['restore', 'live.millwright'], 'place', keys)).err).toContain('the database is not empty');
  }, 180_000);

  it('leaves an empty database empty where the archive is damaged, of another key, or pg_restore fails', async () => {
    expect((await command(['backup', 'second.millwright'], 'live')).code).toBe(0);
    const tables = async (): Promise<unknown> =>
      postgres?.server.ask(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
        'other',
      );
    const whole = await readFile(join(box, 'second.millwright'));
    await writeFile(join(box, 'half.millwright'), whole.subarray(0, whole.length / 2));
    const keys = await mkdtemp(join(box, 'keys-'));
    expect((await command(['restore', 'half.millwright'], 'other', keys)).err).toContain('only the beginning of one');
    expect(await tables()).toEqual([]);

    await writeFile(join(keys, 'master'), 'f'.repeat(64), { mode: 0o600 });
    expect((await command(['restore', 'second.millwright'], 'other', keys)).err).toContain(
      "another key than the backup's",
    );
    expect(await tables()).toEqual([]);
    await rm(join(keys, 'master'));

    // Without keys of its own: those of the place have to be the database's.
    expect((await command(['backup', 'keyless.millwright', '--without-keys'], 'live')).code).toBe(0);
    for (const name of ['master', 'uid']) await writeFile(join(keys, name), 'e'.repeat(64), { mode: 0o600 });
    expect((await command(['restore', 'keyless.millwright'], 'other', keys)).err).toContain(
      'is not the one that the database was made with',
    );
    expect(await tables()).toEqual([]);
    for (const name of ['master', 'uid']) await rm(join(keys, name));

    const tools = await mkdtemp(join(box, 'tools-'));
    await writeFile(join(tools, 'pg_restore'), '#!/bin/sh\necho "pg_restore: error: out of luck" >&2\nexit 1\n');
    chmodSync(join(tools, 'pg_restore'), 0o755);
    const path = process.env['PATH'];
    process.env['PATH'] = `${tools}:${path}`;
    const failed = await command(['restore', 'second.millwright'], 'other', keys);
    process.env['PATH'] = path;
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('pg_restore failed: out of luck') });
    expect(await tables()).toEqual([]);
    expect(await command(['restore', 'second.millwright'], 'other', keys)).toMatchObject({ code: 0, err: '' });
  }, 180_000);
});

(found.ok && age ? describe : describe.skip)('an encrypted backup', () => {
  it('is opened by the published age, and what that made is restored', async () => {
    expect(spawnSync('age-keygen', ['-o', join(box, 'identity')]).status).toBe(0);
    chmodSync(join(box, 'identity'), 0o600);
    const recipient = spawnSync('age-keygen', ['-y', join(box, 'identity')], { encoding: 'utf8' }).stdout.trim();
    expect((await command(['backup', 'sealed.age', '--recipient', recipient], 'live')).code).toBe(0);
    const opened = spawnSync('age', ['--decrypt', '-i', join(box, 'identity'), join(box, 'sealed.age')], {
      maxBuffer: 1 << 28,
    });
    await writeFile(join(box, 'opened.tar'), opened.stdout);
    const listed = spawnSync('tar', ['--list', '-f', join(box, 'opened.tar')], { encoding: 'utf8' }).stdout;
    expect(listed.trim().split('\n')).toEqual(['manifest.json', 'keys/master-key', 'keys/uid-key', 'database.pgdump']);
    const sealed = spawnSync('age', ['-r', recipient, '-o', join(box, 'again.age'), join(box, 'opened.tar')]);
    expect(sealed.status).toBe(0);
    await postgres?.server.ask('CREATE DATABASE again OWNER millwright');
    const keys = await mkdtemp(join(box, 'keys-'));
    const restored = await command(['restore', '--identity', join(box, 'identity'), 'again.age'], 'again', keys);
    expect(restored).toMatchObject({ code: 0, err: '' });
  }, 120_000);
});
