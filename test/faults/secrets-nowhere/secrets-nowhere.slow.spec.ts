/**
 * No secret in the clear anywhere: through a whole story with failures nothing that was planted stands in an answer, a
 * log, the audit, the database, its journal, the data folder or the arguments of a process. contract §2; invariants.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startGitServer, type GitServer } from '../../support/git/git-server.ts';
import { formsOf, secretsIn } from '../../support/ledger/plain-secrets.ts';
import { freshDatabase, postgresServer } from '../../support/databases/postgres.ts';
import { eventually } from '../../support/services/service.ts';
import { startServiceProcess } from '../../support/services/service-process.ts';
import { plainMark, Story } from './story.ts';

/** What holds keys because that is what it is for. */
const KEY_FILES = ['master-key', 'uid-key', 'admin-key'];

let story: Story | undefined;
let git: GitServer | undefined;
let root = '';
let dropDatabase: (() => Promise<void>) | undefined;

afterEach(async () => {
  await story?.end();
  await git?.close();
  await dropDatabase?.();
  await rm(root, { recursive: true, force: true });
  [story, git, dropDatabase] = [undefined, undefined, undefined];
});

async function tell(environment: Record<string, string> = {}, also: readonly [string, string][] = []): Promise<Story> {
  git = await startGitServer();
  const told = new Story(join(root, 'data'), git, environment);
  story = told;
  for (const [what, value] of also) told.planted.set(what, value);
  await told.tell();
  return told;
}

/** Nothing that was said holds a secret. */
function expectNoSecrets(told: Story): void {
  expect(told.planted.size).toBeGreaterThan(15);
  expect(told.logged().length).toBeGreaterThan(1_000); // there is a log to look at
  expect(secretsIn(told.logged(), told.planted)).toEqual([]);
  for (const answer of told.answers)
    expect([answer.slice(0, 60), secretsIn(answer, told.planted)]).toEqual([answer.slice(0, 60), []]);
  expect([...told.told]).toEqual([]);
  // The run had its secret and told of it: somebody has taken it out.
  expect(told.answers.some((answer) => /it is (?!\$)/.test(answer))).toBe(true);
}

async function expectCleanFolder(told: Story): Promise<void> {
  const files = (await readdir(told.dataDir, { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile() && !KEY_FILES.includes(basename(entry.name)),
  );
  expect(files.length).toBeGreaterThan(1);
  for (const file of files)
    expect([file.name, secretsIn(await readFile(join(file.parentPath, file.name)), told.planted)]).toEqual([
      file.name,
      [],
    ]);
}

describe('the search itself', () => {
  const planted = new Map([['it', 'mark/it+0123456789abcdef=']]);
  it.each([
    { form: 'in the clear', of: (secret: Buffer) => secret.toString() },
    { form: 'as base64 by itself', of: (secret: Buffer) => secret.toString('base64') },
    {
      form: 'as base64 behind one byte',
      of: (secret: Buffer) => Buffer.concat([Buffer.from('x'), secret, Buffer.from('yz')]).toString('base64'),
    },
    {
      form: 'as base64 behind two bytes',
      of: (secret: Buffer) => Buffer.concat([Buffer.from('xx'), secret, Buffer.from('y')]).toString('base64url'),
    },
    { form: 'as base64url', of: (secret: Buffer) => secret.toString('base64url') },
    { form: 'as hexadecimal digits', of: (secret: Buffer) => secret.toString('hex').toUpperCase() },
    { form: 'percent-encoded where it must be', of: (secret: Buffer) => encodeURIComponent(secret.toString()) },
    { form: 'percent-encoded', of: (secret: Buffer) => secret.toString('hex').replace(/../g, '%$&') },
  ])('finds it $form', ({ of }) =>
    expect(secretsIn(`before ${of(Buffer.from('mark/it+0123456789abcdef='))} behind`, planted)).toEqual(['it']),
  );

  it('finds nothing where nothing is', () => {
    expect(secretsIn('mark/it+0123456789abcde', planted)).toEqual([]);
    expect(formsOf('a-token').every((form) => form.length >= 7)).toBe(true);
  });
});

it('on SQLite: not in answers, logs, arguments, the database, its journal or the data folder', async () => {
  root = await mkdtemp(join(tmpdir(), 'millwright-nowhere-'));
  const told = await tell();
  await told.end(); // as it stands: the journal is not copied back
  expectNoSecrets(told);
  await expectCleanFolder(told);
}, 300_000);

const server = await postgresServer();
const onPostgres = server.ok ? describe : describe.skip;

onPostgres('on PostgreSQL', () => {
  it('nor in any row, nor the password of its URL when it fails', async () => {
    root = await mkdtemp(join(tmpdir(), 'millwright-nowhere-'));
    const keys = Object.fromEntries(
      await Promise.all(
        ['master-key', 'uid-key'].map(async (name) => {
          await writeFile(join(root, name), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
          return [`MILLWRIGHT_${name.toUpperCase().replace('-', '_')}_FILE`, join(root, name)] as const;
        }),
      ),
    );
    const database = await freshDatabase(server.ok ? server.url : '');
    dropDatabase = database.drop;
    const url = new URL(database.url);
    url.password = plainMark('database');
    const told = await tell({ ...keys, MILLWRIGHT_DATABASE_URL: url.href }, [['database password', url.password]]);
    const rows = await everyRow(database.url);
    expect(rows.size).toBeGreaterThan(15);
    for (const [table, text] of rows) expect([table, secretsIn(text, told.planted)]).toEqual([table, []]);
    // The database goes away under it.
    await database.drop();
    await eventually(
      'it says that it is not ready',
      async () => ((await fetch(`${told.service.url}/readyz`)).status === 503 ? true : undefined),
      60_000,
    );
    told.answers.push(
      await (
        await fetch(`${told.service.url}/api/v1/agent`, { headers: { authorization: `Bearer mw_${'k'.repeat(43)}` } })
      ).text(),
    );
    const again = await startServiceProcess(join(root, 'second'), { ...keys, MILLWRIGHT_DATABASE_URL: url.href }).then(
      (service) => service.errors(),
      (error: unknown) => String(error),
    );
    expect(secretsIn(again, told.planted)).toEqual([]);
    await told.end();
    expectNoSecrets(told);
    await expectCleanFolder(told);
  }, 300_000);
});

/** Everything that is stored, by table; bytes as hexadecimal digits. */
async function everyRow(databaseUrl: string): Promise<Map<string, string>> {
  const client = new Client(databaseUrl);
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    const found = new Map<string, string>();
    for (const { name } of tables)
      found.set(
        name,
        (await client.query<{ line: string }>(`SELECT t::text AS line FROM "${name}" AS t`)).rows
          .map(({ line }) => line)
          .join('\n'),
      );
    return found;
  } finally {
    await client.end();
  }
}
