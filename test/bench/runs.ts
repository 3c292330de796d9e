/**
 * What lists of runs cost in a store of a million: `npm run bench:runs [-- --runs 100000] [--on sqlite|postgres]
 * [--calls 200]`.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { encodeCursor, RUN_STATES } from '#runs';
import type { Database } from '../../apps/server/store/database/database.ts';
import type { RunOrder } from '../../apps/server/store/runs/run-branches.ts';
import type { RunFilter } from '../../apps/server/store/runs/run-filters.ts';
import { RunLists, type RunListKey } from '../../apps/server/store/runs/run-lists.ts';
import { row } from '../../apps/server/store/database/transactions.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { seedRuns } from './seeds/run-seeds.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    on: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    calls: { type: 'string', default: '200' },
  },
});
const RUNS = Number(options.runs);
const CALLS = Number(options.calls);
/** Before the timed ones. */
const WARMING_CALLS = 20;
const PAGE = 20;
/** The page that is called deep, or the last but some where there are not so many. */
const DEEP_PAGE = Math.min(20_000, Math.floor(RUNS / PAGE) - 100);

/** One list to be timed; `limit`: how many times the unfiltered first page it may take. */
interface Case {
  name: string;
  limit?: number;
  call(): Promise<number>;
}

interface Timing {
  name: string;
  limit?: number;
  rows: number;
  p50Ms: number;
  p99Ms: number;
}

const newest: RunOrder = { by: 'updated_at', direction: 'desc' };
process.stdout.write(
  `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ` +
    `${process.version}; ${RUNS} runs, pages of ${PAGE}, ${CALLS} calls of each, in turn\n`,
);
if (options.on.includes('sqlite')) await onSqlite();
if (options.on.includes('postgres')) await onPostgres();

async function onSqlite(): Promise<void> {
  await inBox((box) => measure('SQLite', { MILLWRIGHT_DATA_DIR: box }, box));
}

async function onPostgres(): Promise<void> {
  const server = await postgresServer();
  if (!server.ok) return void process.stdout.write(`\nPostgreSQL is SKIPPED: ${server.reason}\n`);
  const { url, drop } = await freshDatabase(server.url);
  try {
    await inBox(async (box) => {
      const keys = {
        MILLWRIGHT_MASTER_KEY_FILE: await keyFile(box, 'master'),
        MILLWRIGHT_UID_KEY_FILE: await keyFile(box, 'uid'),
      };
      await measure('PostgreSQL', { MILLWRIGHT_DATABASE_URL: url, ...keys }, box);
    });
  } finally {
    await drop();
  }
}

async function inBox(work: (box: string) => Promise<void>): Promise<void> {
  const box = await mkdtemp(join(tmpdir(), 'millwright-bench-runs-'));
  try {
    await work(box);
  } finally {
    await rm(box, { recursive: true, force: true });
  }
}

/** With PostgreSQL the keys must be given. */
async function keyFile(box: string, name: string): Promise<string> {
  const path = join(box, `${name}-key`);
  await writeFile(path, randomBytes(32).toString('hex'), { mode: 0o600 });
  return path;
}

async function measure(backend: string, environment: Record<string, string>, dataDir: string): Promise<void> {
  // Nobody works on the runs, and no request is one too many.
  const service = await bootService({
    dataDir,
    environment: { ...environment, MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_API_RATE: '1000000' },
  });
  try {
    const { database } = service.service;
    const startedAt = performance.now();
    await seedRuns(database, RUNS);
    process.stdout.write(
      `\n${backend} ${await versionOf(database)}, filled in ` +
        `${((performance.now() - startedAt) / 1_000).toFixed(0)} s\n`,
    );
    const deep = await keyOfPage(database);
    report('store', await time(storeCases(database, deep)));
    report('HTTP', await time(await httpCases(service, deep)));
  } finally {
    await service.stop();
  }
}

async function versionOf(database: Database): Promise<string> {
  if (database.dialect === 'sqlite')
    return (await database.read(() => row<{ version: string }>('SELECT sqlite_version() AS version')))?.version ?? '';
  const found = await database.read(() =>
    row<{ version: string; buffers: string }>(
      "SELECT current_setting('server_version') AS version, current_setting('shared_buffers') AS buffers",
    ),
  );
  return `${found?.version} (shared_buffers ${found?.buffers})`;
}

/** Where the deep page begins: what walking there page by page would have led to. */
async function keyOfPage(database: Database): Promise<RunListKey> {
  const found = await database.longRead(() =>
    row<{ value: number; id: string }>(
      'SELECT updated_at AS value, run_id AS id FROM run ORDER BY updated_at DESC, run_id DESC LIMIT 1 OFFSET ?',
      (DEEP_PAGE - 1) * PAGE - 1,
    ),
  );
  if (found === undefined) throw new Error('there are too few runs');
  return { value: found.value, runId: found.id };
}

function storeCases(database: Database, deep: RunListKey): Case[] {
  const lists = new RunLists(database);
  const of = (
    name: string,
    limit: number | undefined,
    filter: RunFilter,
    order: RunOrder = newest,
    after?: RunListKey,
  ): Case => ({ name, limit, call: async () => (await lists.page(filter, order, PAGE, after)).runs.length });
  const day = 86_400_000;
  return [
    of('first page', undefined, {}),
    of(`page ${DEEP_PAGE}`, 2, {}, newest, deep),
    of('state SUCCEEDED (80 %)', 3, { states: ['SUCCEEDED'] }),
    of('state ERROR (0.2 %)', 3, { states: ['ERROR'] }),
    of('state BLOCKED (some, open)', 3, { states: ['BLOCKED'] }),
    of('all nine states', 3, { states: RUN_STATES }),
    of('config name (2 %)', 3, { exact: { config_name: 'config-17' } }),
    of('factory (0.5 %)', 3, { factoryUids: ['fac_42'] }),
    of('20 factories', 3, { factoryUids: Array.from({ length: 20 }, (_, n) => `fac_${n}`) }),
    of('metadata team (2 %)', 3, { metadata: { team: 'team-3' } }),
    of('metadata ticket (10 runs)', 3, { metadata: { ticket: 'ticket-777' } }),
    of('state and factory', 3, { states: ['FAILED'], factoryUids: ['fac_42'] }),
    of('name and factory', 3, { exact: { config_name: 'config-17' }, factoryUids: ['fac_42'] }),
    of('creator', 3, { exact: { creator_uid: 'sa_42' } }),
    of('delivery (1 run)', 3, { exact: { delivery_id: `delivery-${Math.floor(RUNS / 20) * 10}` } }),
    of('updated in the last day', 3, { updatedAfterMs: Date.now() - day }),
    of('created in the last day', 3, { createdAfterMs: Date.now() - day }),
    of('by created_at', 3, {}, { by: 'created_at', direction: 'desc' }),
    of('by created_at, factory', 3, { factoryUids: ['fac_42'] }, { by: 'created_at', direction: 'desc' }),
    of('by title', 3, {}, { by: 'title', direction: 'asc' }),
    of('no match', 3, { exact: { config_name: 'nothing' } }),
    of('q that many match', undefined, { words: ['build', '9'] }),
    of('q in one factory, none', undefined, { words: ['zzzz'], factoryUids: ['fac_42'] }),
  ];
}

async function httpCases({ url, adminKey }: TestService, deep: RunListKey): Promise<Case[]> {
  const list = async (query: string): Promise<{ runs: unknown[]; page_info: { next_cursor?: string } }> => {
    const answer = await fetch(`${url}/api/v1/agent/runs?limit=${PAGE}${query}`, {
      headers: { authorization: `Bearer ${adminKey}` },
    });
    if (answer.status !== 200) throw new Error(`a list was answered ${answer.status}`);
    return (await answer.json()) as Awaited<ReturnType<typeof list>>;
  };
  const of = (name: string, limit: number | undefined, query: string): Case => ({
    name,
    limit,
    call: async () => (await list(query)).runs.length,
  });
  const [, digest] = JSON.parse(
    Buffer.from(String((await list('')).page_info.next_cursor), 'base64url').toString(),
  ) as [number, string];
  return [
    of('first page', undefined, ''),
    of(`page ${DEEP_PAGE}`, 2, `&cursor=${encodeCursor({ query: digest, key: [deep.value, deep.runId] })}`),
    of('state SUCCEEDED', 3, '&state=SUCCEEDED'),
    of('config name', 3, '&name=config-17'),
    of('factory', 3, '&factory_uid=fac_42'),
    of('metadata', 3, '&metadata[team]=team-3'),
  ];
}

/** Each case as often, in turn: what the machine does besides falls on all of them alike. */
async function time(cases: readonly Case[]): Promise<Timing[]> {
  const times = cases.map((): number[] => []);
  const found = cases.map(() => 0);
  for (let round = -WARMING_CALLS; round < CALLS; round += 1) {
    for (const [at, one] of cases.entries()) {
      const startedAt = performance.now();
      found[at] = await one.call();
      if (round >= 0) times[at]?.push(performance.now() - startedAt);
    }
  }
  return cases.map(({ name, limit }, at) => {
    const sorted = (times[at] ?? []).toSorted((a, b) => a - b);
    return { name, limit, rows: found[at] ?? 0, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
  });
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function report(level: string, timings: readonly Timing[]): void {
  const base = timings[0]?.p50Ms ?? 1;
  process.stdout.write(`${level.padEnd(28)} rows    p50 ms    p99 ms   ratio\n`);
  for (const { name, limit, rows, p50Ms, p99Ms } of timings) {
    const ratio = p50Ms / base;
    const verdict = limit === undefined ? '' : `${ratio <= limit ? 'within' : 'ABOVE'} ${limit}`;
    process.stdout.write(
      `${name.padEnd(28)} ${String(rows).padStart(4)} ${p50Ms.toFixed(2).padStart(9)} ` +
        `${p99Ms.toFixed(2).padStart(9)} ${ratio.toFixed(2).padStart(7)}   ${verdict}\n`,
    );
  }
}
