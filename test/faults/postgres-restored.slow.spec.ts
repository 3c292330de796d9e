/**
 * A PostgreSQL server that comes back as it was before, while nothing was asked of it: no statement fails, and what it
 * has lost was never accepted. contract §5.7 (Identity), §5.8 (Transaction).
 */
import type { MergePolicy } from '#deliveries';
import type { Database } from '../../apps/server/store/database/database.ts';
import type { Log } from '../../apps/server/process/log.ts';
import type { Vault } from '../../apps/server/secrets/vault.ts';
import type { SealedSecret } from '../../apps/server/store/secrets/secrets.ts';
import { Serving } from '../../apps/server/webhooks/serving-state.ts';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { count, meddle, select, storesOf, type Stores } from '../conformance/backends.ts';
import {
  apply,
  arrival,
  newId,
  seedServed,
  servingVersion,
  starterOf,
  unique,
  webhookOf,
  type Served,
} from '../conformance/seeds.ts';
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

  it('has the snapshots that runs refer to, of what it has lost as well', async () => {
    const { served, version } = await sourceOf();
    const start = starterOf(served);
    const deliver = async (): Promise<string> => {
      const entryId = newId();
      const one = arrival(served, { version, entryId, runs: start(entryId, entryId) });
      return (await stores.deliveries.acceptOnce(one)).kind;
    };
    const goBack = await server.snapshot();
    expect(await deliver()).toBe('accepted');
    await goBack();
    for (let n = 0; n < 3; n += 1) expect(await deliver()).toBe('accepted');
    expect(await count(stores, 'every_run WHERE factory_uid = ?', served.factoryUid)).toBe(3);
    expect(await count(stores, 'waiting_run WHERE factory_uid = ?', served.factoryUid)).toBe(3);
  }, 120_000);

  it('serves as it says, whatever was served by what it has lost', async () => {
    const { served } = await sourceOf();
    const { factoryUid, webhookUid, secretName, fence } = served;
    const memory = new Serving(
      stores.serving,
      { open: ({ sealed }: SealedSecret) => sealed } as unknown as Vault,
      { nowMs: Date.now, monotonicMs: () => performance.now() },
      { fault: () => undefined } as unknown as Log,
    );
    /** As the ingress does. */
    const deliver = async (): Promise<string> => {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const webhook = memory.webhook(webhookUid);
        if (webhook?.enabled !== true) return 'refused';
        const one = arrival(served, { version: webhook.factory.version, runs: 0 });
        const { kind } = await stores.deliveries.acceptOnce(one);
        if (kind !== 'stale') return kind;
        await memory.refresh();
      }
      return 'stale';
    };
    const edit = (enabled: boolean): Promise<void> =>
      apply(stores, factoryUid, fence, [webhookOf(webhookUid, 'orders', secretName, { enabled })], [], unique('r'));
    await memory.refresh();
    const goBack = await server.snapshot();
    await edit(true);
    await memory.refresh();
    expect(await deliver()).toBe('accepted');
    await goBack();
    expect(await deliver()).toBe('accepted');
    await edit(false);
    expect(await deliver()).toBe('refused');
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
