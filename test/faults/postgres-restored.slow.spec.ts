/**
 * A PostgreSQL server that comes back as it was before, while nothing was asked of it: no statement fails, and what it
 * has lost was never accepted. contract §5.7 (Identity), §5.8 (Transaction).
 */
import type { MergePolicy } from '#deliveries';
import type { Database } from '../../apps/server/store/database/database.ts';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { meddle, select, storesOf, type Stores } from '../conformance/backends.ts';
import { arrival, newId, seedServed, servingVersion, unique, type Served } from '../conformance/seeds.ts';
import { canOwnPostgres, ownPostgres, type OwnPostgres } from '../support/databases/own-postgres.ts';
import { eventually } from '../support/services/service.ts';

/** So small that a few deliveries make a run, and that none gets another number by a merge. */
const SMALL_RUNS: MergePolicy = { runKeys: 4, fanout: 1_000, levelMax: 1, chunkKeys: 2 };
const DELIVERIES = 40;

const possible = await canOwnPostgres();
const suite = possible.ok ? describe : describe.skip;
if (!possible.ok) process.stderr.write(`\nA PostgreSQL server that comes back is SKIPPED: ${possible.reason}\n\n`);

suite('a PostgreSQL server that comes back as it was before', () => {
  let server: OwnPostgres;
  let closeServer: () => Promise<void>;
  const databases: Database[] = [];
  let stores: Stores;

  beforeAll(async () => {
    ({ server, close: closeServer } = await ownPostgres());
    await server.ask('CREATE DATABASE mill');
    stores = await opened();
  }, 120_000);

  afterAll(async () => {
    for (const database of databases) await database.close();
    await closeServer?.();
  }, 120_000);

  async function opened(): Promise<Stores> {
    const database = await openDatabase({ url: server.url('mill'), dataDir: '', nowMs: Date.now });
    databases.push(database);
    return storesOf(database, SMALL_RUNS);
  }

  const identities = (): string[] => Array.from({ length: DELIVERIES }, () => unique('id'));

  /** What is answered to deliveries of these identities, each of which is a batch. */
  async function kindsOf(
    wanted: readonly string[],
    { served, version }: Source,
    at: Stores = stores,
  ): Promise<Set<string>> {
    const kinds = new Set<string>();
    for (const identity of wanted) {
      const one = arrival(served, { version, entryId: newId(), identities: [identity] });
      kinds.add((await at.deliveries.acceptOnce(one)).kind);
    }
    return kinds;
  }

  async function sourceOf(): Promise<Source> {
    const served = await seedServed(stores);
    return { served, version: await servingVersion(stores, served.factoryUid) };
  }

  it('has accepted what it holds, and nothing of what it has lost', async () => {
    const [one, other] = [await sourceOf(), await sourceOf()];
    const [remaining, lost] = [identities(), identities()];
    expect(await kindsOf(remaining, one)).toEqual(new Set(['accepted']));
    await inRuns();
    const goBack = await server.snapshot();
    expect(await kindsOf(lost, other)).toEqual(new Set(['accepted']));
    await inRuns();
    await goBack();
    expect(await kindsOf(lost, other)).toEqual(new Set(['accepted']));
    expect(await kindsOf(lost.slice(0, 10), other)).toEqual(new Set(['duplicate']));
    expect(await kindsOf(remaining.slice(0, 10), one)).toEqual(new Set(['duplicate']));
  }, 120_000);

  it('has accepted what another process has stored under the numbers of what was lost', async () => {
    const [one, other] = [await sourceOf(), await sourceOf()];
    const [lost, late] = [identities(), identities()];
    const goBack = await server.snapshot();
    expect(await kindsOf(lost, one)).toEqual(new Set(['accepted']));
    await inRuns();
    await goBack();
    await letGo();
    expect(await kindsOf(late, other, await opened())).toEqual(new Set(['accepted']));
    await inRuns();
    await letGo();
    expect(await kindsOf(late.slice(0, 10), other)).toEqual(new Set(['duplicate']));
    expect(await kindsOf(lost, one)).toEqual(new Set(['accepted']));
  }, 120_000);

  /** No step of their maintenance is due: all identities but a few are in runs. */
  const inRuns = () =>
    eventually('runs', async () => {
      const [found] = await select<{ waiting: number }>(
        stores,
        'SELECT COALESCE(sum(length(keys)) / 16, 0) AS waiting FROM identity_batch',
      );
      return (found?.waiting ?? 0) < SMALL_RUNS.runKeys ? true : undefined;
    });

  /** The next process that accepts comes to own the epoch. */
  const letGo = () => meddle(stores, 'UPDATE rate_owner SET changed_at = 0');
});

/** A webhook, and what its factory serves. */
interface Source {
  served: Served;
  version: number;
}
