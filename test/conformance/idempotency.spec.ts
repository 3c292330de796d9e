/**
 * Idempotency keys on every database: one request runs, its answer is kept with what it did, and a key that was left
 * behind can be used again. contract §3.2 (Create).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import {
  ClaimLostError,
  IDEMPOTENCY_MS,
  IdempotencyStore,
  storeAnswer,
  type IdempotencyClaim,
  type Claimed,
  type KeyedRequest,
  type StoredAnswer,
} from '../../apps/server/store/access/idempotency.ts';
import { toRunRow } from '../../apps/server/store/runs/new-run.ts';
import { RUN } from '../../apps/server/store/runs/run.entities.ts';
import { IDEMPOTENCY } from '../../apps/server/store/access/access.entities.ts';
import { insertInto } from '../../apps/server/store/database/table.ts';
import { startProgram } from '../support/processes/child-program.ts';
import { count, select, meddle, onEachBackend, storesOf, type Stores } from './backends.ts';
import { runOf, unique } from './seeds.ts';

const LEASE_MS = 60_000;
const ANSWER: StoredAnswer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"made":true}' };
const hash = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.padEnd(32, '.')));

function keyed(more: Partial<KeyedRequest> = {}): KeyedRequest {
  return {
    principalUid: 'user_a',
    scope: 'POST /api/v1/agent/runs',
    key: unique('k'),
    requestHash: hash('one'),
    ...more,
  };
}

function claimOf(claimed: Claimed): IdempotencyClaim {
  if (claimed.kind !== 'claimed') throw new Error(`the key was not free: ${claimed.kind}`);
  return claimed.claim;
}

/** Ends the lease of a claim. */
const abandon = (stores: Stores, { key }: KeyedRequest): Promise<number> =>
  meddle(stores, 'UPDATE idempotency SET lease_until = 1 WHERE idempotency_key = ?', key);
const age = (stores: Stores, { key }: KeyedRequest, byMs: number): Promise<number> =>
  meddle(stores, 'UPDATE idempotency SET at = at - ? WHERE idempotency_key = ?', byMs, key);

await onEachBackend('idempotency keys', (world) => {
  let store: IdempotencyStore;
  beforeAll(() => {
    store = new IdempotencyStore(world.stores.database);
  });

  describe('a key', () => {
    it('belongs to the first request until it is answered, then to its answer', async () => {
      const request = keyed();
      const claim = claimOf(await store.claim(request, LEASE_MS));
      expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'under-way' });
      expect(await store.isUnderWay(request)).toBe(true);
      await store.complete(claim, ANSWER);
      expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'answered', answer: ANSWER });
      expect(await store.isUnderWay(request)).toBe(false);
    });

    it('stands for one request only, under way and afterwards', async () => {
      const request = keyed();
      const claim = claimOf(await store.claim(request, LEASE_MS));
      expect(await store.claim({ ...request, requestHash: hash('two') }, LEASE_MS)).toEqual({ kind: 'other-request' });
      await store.complete(claim, ANSWER);
      expect(await store.claim({ ...request, requestHash: hash('two') }, LEASE_MS)).toEqual({ kind: 'other-request' });
    });

    it.each<{ why: string; other: (request: KeyedRequest) => Partial<KeyedRequest> }>([
      { why: 'another principal', other: () => ({ principalUid: 'user_b' }) },
      { why: 'another path', other: () => ({ scope: 'POST /api/v1/agent/run' }) },
      { why: 'other capitals', other: ({ key }) => ({ key: key.toUpperCase() }) },
    ])('is free under $why', async ({ other }) => {
      const request = keyed();
      claimOf(await store.claim(request, LEASE_MS));
      expect((await store.claim({ ...request, ...other(request) }, LEASE_MS)).kind).toBe('claimed');
    });

    it('that was given up is free', async () => {
      const request = keyed();
      await store.release(claimOf(await store.claim(request, LEASE_MS)));
      expect((await store.claim({ ...request, requestHash: hash('two') }, LEASE_MS)).kind).toBe('claimed');
    });

    it('is free a day later, and not a moment before', async () => {
      const request = keyed();
      await store.complete(claimOf(await store.claim(request, LEASE_MS)), ANSWER);
      await age(world.stores, request, IDEMPOTENCY_MS - 60_000);
      expect((await store.claim(request, LEASE_MS)).kind).toBe('answered');
      await age(world.stores, request, 60_000);
      expect((await store.claim({ ...request, requestHash: hash('two') }, LEASE_MS)).kind).toBe('claimed');
      expect((await store.claim(request, LEASE_MS)).kind).toBe('other-request');
    });

    it('keeps any answer as it was', async () => {
      const answers: StoredAnswer[] = [
        { status: 204, headers: {}, body: '' },
        {
          status: 409,
          headers: { 'x-should-retry': 'false', etag: '"a\\"b"' },
          body: 'nul \0, half a pair \ud83d, a line\n, "quotes", 漢字',
        },
        { status: 200, secretOf: 'API key key_1' },
      ];
      for (const answer of answers) {
        const request = keyed();
        await store.complete(claimOf(await store.claim(request, LEASE_MS)), answer);
        expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'answered', answer });
      }
    });
  });

  describe('a claim whose process is gone', () => {
    it('is taken over by the next request, whatever that is', async () => {
      const request = keyed();
      claimOf(await store.claim(request, LEASE_MS));
      await abandon(world.stores, request);
      expect(await store.isUnderWay(request)).toBe(false);
      const second = claimOf(await store.claim({ ...request, requestHash: hash('two') }, LEASE_MS));
      expect(await store.claim({ ...request, requestHash: hash('two') }, LEASE_MS)).toEqual({ kind: 'under-way' });
      await store.complete(second, ANSWER);
      expect((await store.claim({ ...request, requestHash: hash('two') }, LEASE_MS)).kind).toBe('answered');
    });

    it('and yet lives can neither answer, nor give up, nor renew what is another’s now', async () => {
      const request = keyed();
      const late = claimOf(await store.claim(request, LEASE_MS));
      await abandon(world.stores, request);
      await new Promise((resolve) => setTimeout(resolve, 2)); // claims are told apart by their time
      claimOf(await store.claim(request, LEASE_MS));
      await store.complete(late, { ...ANSWER, status: 201 });
      await store.release(late);
      await store.renew(late, 1);
      expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'under-way' });
    });

    it('cannot commit what it did', async () => {
      const request = keyed();
      const late = claimOf(await store.claim(request, LEASE_MS));
      await abandon(world.stores, request);
      await new Promise((resolve) => setTimeout(resolve, 2));
      claimOf(await store.claim(request, LEASE_MS));
      const run = runOf({});
      const creating = world.stores.database.run(function* () {
        yield* insertInto(RUN, [toRunRow(run)]);
        yield* storeAnswer(late, ANSWER);
      });
      await expect(creating).rejects.toThrow(ClaimLostError);
      expect(await count(world.stores, 'run WHERE run_id = ?', run.runId)).toBe(0);
    });

    it('lives on while it is renewed', async () => {
      const request = keyed();
      const claim = claimOf(await store.claim(request, LEASE_MS));
      await abandon(world.stores, request);
      await store.renew(claim, LEASE_MS);
      expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'under-way' });
    });

    it('is over at once where no other process can be', async () => {
      const [open, answered] = [keyed(), keyed()];
      claimOf(await store.claim(open, LEASE_MS));
      await store.complete(claimOf(await store.claim(answered, LEASE_MS)), ANSWER);
      await store.releaseAll();
      expect((await store.claim(open, LEASE_MS)).kind).toBe('claimed');
      expect((await store.claim(answered, LEASE_MS)).kind).toBe('answered');
    });
  });

  it('twenty requests at once on two replicas: one runs', async () => {
    const other = new IdempotencyStore((await world.another()).database);
    const request = keyed();
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, number) => (number % 2 === 0 ? store : other).claim(request, LEASE_MS)),
    );
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect(claims.filter(({ kind }) => kind === 'under-way')).toHaveLength(19);
  });

  it('twenty requests at once for a key that was left behind: one takes it over', async () => {
    const other = new IdempotencyStore((await world.another()).database);
    const request = keyed();
    claimOf(await store.claim(request, LEASE_MS));
    await abandon(world.stores, request);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, number) => (number % 2 === 0 ? store : other).claim(request, LEASE_MS)),
    );
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  });

  it('an answer in the transaction of its run stands and falls with it', async () => {
    const request = keyed();
    const claim = claimOf(await store.claim(request, LEASE_MS));
    const run = runOf({});
    const failing = world.stores.database.run(function* () {
      yield* insertInto(RUN, [toRunRow(run)]);
      yield* storeAnswer(claim, ANSWER);
      throw new Error('after both');
    });
    await expect(failing).rejects.toThrow('after both');
    expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'under-way' });
    await world.stores.database.run(function* () {
      yield* insertInto(RUN, [toRunRow(run)]);
      yield* storeAnswer(claim, ANSWER);
    });
    // What comes after can complete it, and neither undo it nor make it another.
    await store.complete(claim, { ...ANSWER, status: 500 });
    await store.release(claim);
    expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'answered', answer: ANSWER });
    const complete = { ...ANSWER, headers: { ...ANSWER.headers, etag: '"1"' } };
    await store.complete(claim, complete);
    expect(await store.claim(request, LEASE_MS)).toEqual({ kind: 'answered', answer: complete });
  });

  it('forgets what is a day old, a few hundred at a time, and nothing else', async () => {
    await meddle(world.stores, 'DELETE FROM idempotency');
    const kept = keyed();
    await store.complete(claimOf(await store.claim(kept, LEASE_MS)), ANSWER);
    const old = Array.from({ length: 700 }, (_, number) => ({
      principal_uid: 'user_a',
      scope: 'POST /x',
      idempotency_key: `old-${number}`,
      request_hash: hash('one'),
      at: number + 1,
      lease_until: 0,
    }));
    await world.stores.database.run(() => insertInto(IDEMPOTENCY, old));
    expect(await store.prune()).toBe(500);
    expect(await store.prune()).toBe(200);
    expect(await store.prune()).toBe(0);
    expect(await select(world.stores, 'SELECT idempotency_key FROM idempotency')).toEqual([
      { idempotency_key: kept.key },
    ]);
  });
});

describe('a process killed among creates on SQLite', () => {
  it('leaves each key either free and without a run, or answered with its run', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millwright-killed-'));
    const program = startProgram('test/conformance/programs/create-until-killed.ts', [dataDir]);
    await program.line(300);
    program.process.kill('SIGKILL');
    expect(await program.ended).toBe('SIGKILL');

    const stores = storesOf(await openDatabase({ dataDir, nowMs: Date.now }));
    const store = new IdempotencyStore(stores.database);
    await store.releaseAll();
    const keys = await select<{ idempotency_key: string; status: number | null; run_id: string | null }>(
      stores,
      'SELECT i.idempotency_key, i.status, r.run_id FROM idempotency i LEFT JOIN run r ON r.run_id = i.idempotency_key',
    );
    expect(keys.filter(({ status, run_id: runId }) => (status === null) !== (runId === null))).toEqual([]);
    expect(await count(stores, 'run')).toBe(keys.filter(({ status }) => status !== null).length);
    const answered = new Set(keys.flatMap(({ idempotency_key: key, status }) => (status === null ? [] : [key])));
    expect(program.lines.filter((key) => !answered.has(key))).toEqual([]);
    for (const { idempotency_key: key, status } of keys) {
      const { kind } = await store.claim(
        { principalUid: 'user_a', scope: 'POST /runs', key, requestHash: hash('one') },
        LEASE_MS,
      );
      expect([key, kind]).toEqual([key, status === null ? 'claimed' : 'answered']);
    }
    await stores.database.close();
    await rm(dataDir, { recursive: true });
  });
});
