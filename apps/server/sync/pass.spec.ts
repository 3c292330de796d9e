/** One pass over real stores and a source that does what the test says. contract §9. */
import { jest } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TreeFile } from '#definitions';
import { storesOf, type Stores } from '../../../test/conformance/backends.ts';
import { newId, sealing, seedFactory } from '../../../test/conformance/seeds.ts';
import { eventually } from '../../../test/support/services/service.ts';
import { conditionsOf, factoryStateOf, type SyncPolicy } from '#reconcile';
import type { Access } from '../store/access/access.ts';
import { openDatabase } from '../store/open-database.ts';
import { type Factory } from '../store/factories/factory-rows.ts';
import { FenceLostError } from '../store/database/store-errors.ts';
import { FactoryHistory } from '../factories/factory-history.service.ts';
import { ReplicaStore } from '../store/database/replicas.ts';
import { Metrics } from '../process/metrics.ts';
import type { PassContext } from './pass-context.ts';
import { FactoryPass } from './pass.ts';
import { PASS_LEASE_MS } from './pass-lease.ts';
import type { History, KnownRevisions, Snapshot, Source } from './sources/source.ts';

let stores: Stores;
let folder: string;
let nowMs: number;
let published: number;
let reported: unknown[];
const signal = new AbortController().signal;

beforeEach(async () => {
  nowMs = 1_800_000_000_000;
  [published, reported] = [0, []];
  folder = await mkdtemp(join(tmpdir(), 'millwright-pass-'));
  stores = storesOf(await openDatabase({ dataDir: folder, nowMs: () => nowMs }));
  await stores.secrets.put({ id: newId(), owner: 'team', name: 'hook', value: sealing('value') }, undefined);
});

afterEach(async () => {
  await stores.database.close();
  await rm(folder, { recursive: true });
});

const context = (): PassContext => ({
  owner: 'this-process',
  metrics: new Metrics(),
  uidKey: new Uint8Array(32),
  factories: stores.factories,
  definitions: stores.definitions,
  secrets: stores.secrets,
  publish: async () => void (published += 1),
  nowMs: () => nowMs,
  newId: () => newId(nowMs),
  logEnd: () => undefined,
  report: (fault) => void reported.push(fault),
});

const text = (path: string, content: string): TreeFile => ({ path, content: Buffer.from(content) });
const tree = (...names: string[]): TreeFile[] =>
  names.map((name) => text(`webhooks/${name}.yaml`, 'secretName: hook\n'));

/** A source that answers from a list; `unchanged` when it is asked for what is known. */
function scripted(
  ...answers: (Snapshot | ((ended: AbortSignal) => Promise<Snapshot> | Snapshot))[]
): Source & { asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  return {
    asked,
    async snapshot({ atHand: known }, ended) {
      asked.push(known);
      const next = answers.length > 1 ? answers.shift() : answers[0];
      const snapshot = typeof next === 'function' ? await next(ended) : (next as Snapshot);
      return snapshot.ok && snapshot.revision === known ? { ok: true, revision: known, unchanged: true } : snapshot;
    },
    close: async () => undefined,
  };
}
const at = (revision: string, ...names: string[]): Snapshot => ({
  ok: true,
  revision,
  unchanged: false,
  files: tree(...names),
});
const away: Snapshot = { ok: false, reason: 'unreachable', message: 'away', retry: 'backoff' };

async function factory(): Promise<string> {
  const { uid, fence } = await seedFactory(stores);
  await stores.factories.releaseLease(uid, fence);
  nowMs += 1;
  return uid;
}

const webhooksOf = async (uid: string) => (await stores.webhooks.list(uid)).map(({ slug }) => slug);

const approve = (uid: string, digest = '') =>
  stores.factories.approve(uid, { digest, principalUid: 'user_admin', isAdmin: true });

/** A pass whose process dies when it has applied, before it has recorded that. */
async function killedBehindApplying(pass: FactoryPass, uid: string, triggers: readonly string[] = []): Promise<void> {
  const write = stores.factories.recordPass.bind(stores.factories);
  stores.factories.recordPass = () => Promise.reject(new Error('killed'));
  await expect(pass.run(uid, triggers, signal)).rejects.toThrow('killed');
  stores.factories.recordPass = write;
}

describe('a pass', () => {
  it('reads, applies, publishes once and records', async () => {
    const uid = await factory();
    const result = await new FactoryPass(context(), scripted(at('r1', 'a'))).run(uid, ['start'], signal);
    expect(result).toMatchObject({ ending: { kind: 'applied', revision: 'r1' }, retryInMs: undefined });
    expect(published).toBe(1);
    expect(await stores.factories.find(uid)).toMatchObject({
      revisionSeen: 'r1',
      revisionAttempted: 'r1',
      revisionApplied: 'r1',
      failures: 0,
      condition: { ending: 'applied' },
    });
    expect(await stores.factories.passes(uid, 9)).toMatchObject([
      { triggers: ['start'], ending: 'applied', revision: 'r1' },
    ]);
  });

  it('asks for what it knows and writes nothing when that has not changed', async () => {
    const uid = await factory();
    const source = scripted(at('r1', 'a'));
    const pass = new FactoryPass(context(), source);
    await pass.run(uid, [], signal);
    const before = await stores.factories.find(uid);
    await pass.run(uid, [], signal);
    expect(source.asked).toEqual([undefined, 'r1']);
    expect(published).toBe(1);
    expect(await stores.factories.find(uid)).toMatchObject({
      servingVersion: before?.servingVersion,
      updatedAtMs: before?.updatedAtMs,
    });
    expect(await stores.factories.passes(uid, 9)).toHaveLength(1);
  });

  it('checks a blocked tree again against new facts without reading it again', async () => {
    const uid = await factory();
    const source = scripted({
      ok: true,
      revision: 'r1',
      unchanged: false,
      files: [text('webhooks/a.yaml', 'secretName: later\n')],
    });
    const pass = new FactoryPass(context(), source);
    expect((await pass.run(uid, [], signal))?.ending.kind).toBe('blocked');
    await stores.secrets.put({ id: newId(), owner: 'team', name: 'later', value: sealing('value') }, undefined);
    expect((await pass.run(uid, ['secret'], signal))?.ending.kind).toBe('applied');
    expect(source.asked).toEqual([undefined, 'r1']);
  });

  it('that fails is tried again later and later, and the first success forgets that', async () => {
    const uid = await factory();
    const pass = new FactoryPass(context(), scripted(away, away, away, at('r1', 'a')));
    const delays = [];
    for (let time = 0; time < 3; time += 1) delays.push((await pass.run(uid, [], signal))?.retryInMs ?? 0);
    for (const [n, base] of [1_000, 2_000, 4_000].entries())
      expect(Math.abs((delays[n] as number) - base)).toBeLessThanOrEqual(base / 10);
    expect(await stores.factories.find(uid)).toMatchObject({
      failures: 3,
      condition: { ending: 'failed', reason: 'unreachable' },
    });
    expect(await stores.factories.passes(uid, 9)).toHaveLength(1); // the same end is news once
    expect((await pass.run(uid, [], signal))?.retryInMs).toBeUndefined();
    expect((await stores.factories.find(uid))?.failures).toBe(0);
  });

  it('that applies what waited while the source is away still says that it is away, and tells it once', async () => {
    const uid = await factory();
    const waiting: Snapshot = {
      ok: true,
      revision: 'r1',
      unchanged: false,
      files: [text('webhooks/a.yaml', 'secretName: later\n')],
    };
    const pass = new FactoryPass(context(), scripted(waiting, away, away, away, waiting));
    await pass.run(uid, [], signal);
    await pass.run(uid, [], signal);
    await stores.secrets.put({ id: newId(), owner: 'team', name: 'later', value: sealing('value') }, undefined);
    const result = await pass.run(uid, ['secret'], signal);
    expect(result?.ending).toMatchObject({ kind: 'applied', revision: 'r1' });
    expect(Math.abs((result?.retryInMs ?? 0) - 2_000)).toBeLessThanOrEqual(200);
    const since = (await stores.factories.find(uid))?.conditions.FetchFailed?.sinceMs;
    expect(await stores.factories.find(uid)).toMatchObject({
      failures: 2,
      revisionApplied: 'r1',
      conditions: {
        FetchFailed: { status: 'True', reason: 'unreachable' },
        Ready: { status: 'False', reason: 'unreachable' },
      },
    });
    nowMs += 60_000;
    expect((await pass.run(uid, [], signal))?.ending).toMatchObject({ kind: 'failed', reason: 'unreachable' });
    expect(await stores.factories.find(uid)).toMatchObject({
      failures: 3,
      conditions: { FetchFailed: { status: 'True', sinceMs: since } },
    });
    await pass.run(uid, [], signal);
    expect(await stores.factories.find(uid)).toMatchObject({
      failures: 0,
      conditions: { FetchFailed: { status: 'False' }, Ready: { status: 'True' } },
    });
    const told = (await stores.events.list(uid, 9)).map(({ reason }) => reason).toReversed();
    expect(told).toEqual(['definitions-invalid', 'unreachable', 'definitions-valid', 'applied', 'fetch-recovered']);
  });

  describe('of a revision that applied, while the source is away,', () => {
    const perFile = (revision: string, ...files: TreeFile[]): Snapshot => ({
      ok: true,
      revision,
      unchanged: false,
      files: [text('factory.yaml', 'applyMode: perFile\n'), ...files],
    });
    const unreachable = { kind: 'failed', reason: 'unreachable' };

    it('prunes what was held, once that is approved', async () => {
      const uid = await factory();
      const pass = new FactoryPass(
        context(),
        scripted(perFile('r1', ...tree('a', 'b', 'c')), perFile('r2', ...tree('a')), perFile('r3'), away),
      );
      for (let time = 0; time < 3; time += 1) await pass.run(uid, [], signal);
      const held = (await stores.factories.find(uid))?.condition.heldDigest;
      expect(held).toMatch(/^sha256:/);
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject(unreachable);
      expect((await stores.factories.find(uid))?.condition.heldDigest).toBe(held);
      expect(await approve(uid, held)).toBe('approved');
      expect((await pass.run(uid, ['approval'], signal))?.ending).toMatchObject({ kind: 'applied', revision: 'r3' });
      expect(await webhooksOf(uid)).toEqual([]);
      const after = await stores.factories.find(uid);
      expect(after?.condition.heldDigest).toBeUndefined();
      expect(after?.conditions).toMatchObject({ FetchFailed: { status: 'True' }, PruneHeld: { status: 'False' } });
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject(unreachable);
    });

    it('applies a file whose secret was missing, and says no more than that it is away until then', async () => {
      const uid = await factory();
      const waiting = text('webhooks/b.yaml', 'secretName: later\n');
      const pass = new FactoryPass(context(), scripted(perFile('r1', ...tree('a')), perFile('r2', waiting), away));
      await pass.run(uid, [], signal);
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject({ kind: 'applied', revision: 'r2' });
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject(unreachable);
      await stores.secrets.put({ id: newId(), owner: 'team', name: 'later', value: sealing('value') }, undefined);
      expect((await pass.run(uid, ['secret'], signal))?.ending).toMatchObject({ kind: 'applied', revision: 'r2' });
      expect(await webhooksOf(uid)).toContain('b');
    });

    it('has growth approved that a secret brings', async () => {
      const uid = await factory();
      await stores.factories.edit(uid, { syncPolicy: { growthApproval: 'admin' } });
      const starts = text(
        'automations/z/automation.md',
        '---\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhooks: [z]\n---\nDo it.\n',
      );
      const waiting = [text('webhooks/z.yaml', 'secretName: later\n'), starts];
      const pass = new FactoryPass(
        context(),
        scripted(perFile('r1', ...tree('a')), perFile('r2', ...tree('a'), ...waiting), away),
      );
      for (let time = 0; time < 3; time += 1) await pass.run(uid, [], signal);
      await stores.secrets.put({ id: newId(), owner: 'team', name: 'later', value: sealing('value') }, undefined);
      const held = (await pass.run(uid, ['secret'], signal))?.ending;
      expect(held).toMatchObject({ kind: 'blocked', reason: 'growth-held', digest: expect.any(String) });
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject(unreachable);
      expect(await stores.factories.find(uid)).toMatchObject({
        condition: { heldDigest: held?.digest, heldForGrowth: true },
        conditions: { FetchFailed: { status: 'True' } },
      });
      expect(await approve(uid, held?.digest)).toBe('approved');
      expect((await pass.run(uid, ['approval'], signal))?.ending).toMatchObject({ kind: 'applied', revision: 'r2' });
      expect(await webhooksOf(uid)).toContain('z');
    });

    it('does not say that deletions wait which were approved and applied, but not recorded', async () => {
      const uid = await factory();
      const pass = new FactoryPass(context(), scripted(at('r1', 'a', 'b'), at('r2', 'c'), away));
      await pass.run(uid, [], signal);
      const held = await pass.run(uid, [], signal);
      expect(await approve(uid, held?.ending.digest)).toBe('approved');
      await killedBehindApplying(pass, uid, ['approval']);
      expect(await webhooksOf(uid)).toEqual(['c']);
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject({ kind: 'applied', revision: 'r2', changes: [] });
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject(unreachable);
      expect((await stores.factories.find(uid))?.condition.heldDigest).toBeUndefined();
    });
  });

  it('keeps the time since when it stands as it stands', async () => {
    const uid = await factory();
    const pass = new FactoryPass(context(), scripted(away));
    await pass.run(uid, [], signal);
    const since = (await stores.factories.find(uid))?.condition.sinceMs;
    nowMs += 60_000;
    await pass.run(uid, [], signal);
    expect((await stores.factories.find(uid))?.condition).toMatchObject({ sinceMs: since, checkedMs: nowMs });
  });

  it('in which something breaks that should not is failed, reported, and says nothing of it', async () => {
    const uid = await factory();
    const broken = scripted(() => {
      throw new Error('hidden-word of a file');
    });
    const result = await new FactoryPass(context(), broken).run(uid, [], signal);
    expect(result?.ending).toMatchObject({ kind: 'failed', reason: 'internal' });
    expect(reported).toHaveLength(1);
    expect(JSON.stringify(await stores.factories.passes(uid, 9))).not.toContain('hidden-word');
  });

  it('whose end cannot be written down is failed and reported', async () => {
    const uid = await factory();
    const write = stores.factories.recordPass.bind(stores.factories);
    let isFirst = true;
    stores.factories.recordPass = async (...given) => {
      if (!isFirst) return write(...given);
      isFirst = false;
      throw new Error('hidden-word');
    };
    const result = await new FactoryPass(context(), scripted(at('r1', 'a'))).run(uid, [], signal);
    expect(result).toMatchObject({ ending: { kind: 'failed', reason: 'internal' } });
    expect(result?.retryInMs).toBeGreaterThan(0);
    expect(reported).toHaveLength(1);
    expect(await stores.factories.find(uid)).toMatchObject({ failures: 1, condition: { ending: 'failed' } });
    expect(JSON.stringify(await stores.factories.passes(uid, 9))).not.toContain('hidden-word');
  });

  it('moves secrets before it reads anything, whatever the reading brings', async () => {
    const uid = await factory();
    const source = scripted(at('r1', 'a'), async () => {
      const [bound] = await stores.webhooks.list(uid);
      expect(bound?.secret_version).toBe(2); // when the source is asked, the rotation has been taken over
      return away;
    });
    const pass = new FactoryPass(context(), source);
    await pass.run(uid, [], signal);
    await stores.secrets.put({ id: newId(), owner: 'team', name: 'hook', value: sealing('next') }, undefined);
    const result = await pass.run(uid, ['secret'], signal);
    expect(result?.ending).toMatchObject({ kind: 'failed', rebound: [{ slug: 'a', secretName: 'hook', version: 2 }] });
    expect((await stores.factories.passes(uid, 1))[0]?.changes).toEqual([
      expect.objectContaining({ changes: ['secretVersion'], secretVersion: 2 }),
    ]);
  });

  it(
    'whose secrets cannot be looked after goes on without them, says since when, and is tried again until they ' +
      'can',
    async () => {
      const uid = await factory();
      const rebind = stores.definitions.rebindSecrets.bind(stores.definitions);
      stores.definitions.rebindSecrets = () => Promise.reject(new Error('the backend does not answer'));
      const since = nowMs;
      const pass = new FactoryPass(context(), scripted(at('r1', 'a'), at('r2', 'a', 'b')));
      const degraded = {
        SecretsDegraded: {
          status: 'True',
          reason: 'secrets-unavailable',
          message: expect.stringContaining(new Date(since).toISOString()),
        },
        Ready: { status: 'True' },
      };
      for (const [n, revision] of ['r1', 'r2'].entries()) {
        await stores.factories.requestSync(uid);
        const result = await pass.run(uid, [], signal);
        expect(result).toMatchObject({ ending: { kind: 'applied', revision }, retryInMs: expect.any(Number) });
        expect(Math.abs((result?.retryInMs ?? 0) - 1_000 * 2 ** n)).toBeLessThanOrEqual(100 * 2 ** n);
        const after = await stores.factories.find(uid);
        expect(after).toMatchObject({ failures: n + 1, conditions: degraded });
        expect(after?.generationHandled).toBe(after?.generationRequested);
        expect(reported).toHaveLength(n + 1);
        nowMs += 60_000;
      }
      await stores.factories.setSuspended(uid, true);
      // secrets are looked after then, too
      expect(await pass.run(uid, [], signal)).toMatchObject({ retryInMs: expect.any(Number) });
      stores.definitions.rebindSecrets = rebind;
      expect((await pass.run(uid, [], signal))?.retryInMs).toBeUndefined();
      expect(await stores.factories.find(uid)).toMatchObject({
        failures: 0,
        conditions: { SecretsDegraded: { status: 'False' } },
      });
      const told = (await stores.events.list(uid, 9)).map(({ reason }) => reason).toReversed();
      expect(told.filter((reason) => reason.startsWith('secrets'))).toEqual(['secrets-unavailable', 'secrets-usable']);
    },
  );

  it('that lost its lease before it looked after secrets writes nothing', async () => {
    const uid = await factory();
    stores.definitions.rebindSecrets = () => Promise.reject(new FenceLostError('taken over'));
    await expect(new FactoryPass(context(), scripted(at('r1', 'a'))).run(uid, [], signal)).rejects.toThrow(
      FenceLostError,
    );
    expect(await stores.factories.passes(uid, 9)).toEqual([]);
  });

  it('whose factory another replica takes over while its source hangs ends there and writes nothing', async () => {
    const uid = await factory();
    const calledOff = (ended: AbortSignal): Promise<Snapshot> =>
      new Promise((resolve) => ended.addEventListener('abort', () => resolve(away)));
    const pass = new FactoryPass(context(), scripted(at('r1', 'a'), calledOff));
    await pass.run(uid, [], signal);
    const before = await stores.factories.passes(uid, 9);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    try {
      const running = pass.run(uid, [], signal);
      const refused = running.catch((error: unknown) => error);
      await new Promise(setImmediate);
      nowMs += PASS_LEASE_MS + 1;
      const another = await stores.factories.acquireLease(uid, 'another', PASS_LEASE_MS);
      expect(another).toBeDefined();
      await jest.advanceTimersByTimeAsync(PASS_LEASE_MS);
      expect(await refused).toBeInstanceOf(FenceLostError);
    } finally {
      jest.useRealTimers();
    }
    expect(reported).toEqual([]);
    expect(await stores.factories.passes(uid, 9)).toEqual(before);
  });

  it('is not told as serving between the commit and its publication', async () => {
    const uid = await factory();
    const replicas = new ReplicaStore(stores.database);
    const me = { owner: 'this-process', version: '1', roles: ['ingress'], host: 'here' };
    const history = new FactoryHistory(stores.factories, stores.events, stores.revisions, replicas);
    const files = at(`sha256:${'a'.repeat(64)}`, 'a') as Extract<Snapshot, { unchanged: false }>;
    const versionOf = async (): Promise<number> => (await stores.factories.find(uid))?.servingVersion ?? 0;
    const look = async () => (await history.revision(uid, files.revision, { role: 'admin' } as Access)).state;
    await replicas.beat(me, await versionOf());
    const between: [string, string | undefined][] = [];
    const publish = async (): Promise<void> => {
      between.push([await look(), (await stores.factories.find(uid))?.revisionApplied]);
      await replicas.beat(me, await versionOf());
    };
    await new FactoryPass({ ...context(), publish }, scripted(files)).run(uid, [], signal);
    expect(between).toEqual([['waiting', files.revision]]);
    expect(await look()).toBe('serving');
  });

  it('that waits long for its source takes a rotation over meanwhile', async () => {
    const uid = await factory();
    let answer: (snapshot: Snapshot) => void = () => undefined;
    const pass = new FactoryPass(
      context(),
      scripted(at('r1', 'a'), () => new Promise<Snapshot>((resolve) => (answer = resolve))),
    );
    await pass.run(uid, [], signal);
    const running = pass.run(uid, [], signal);
    await stores.secrets.put({ id: newId(), owner: 'team', name: 'hook', value: sealing('next') }, undefined);
    await eventually('the webhook has the new version', async () =>
      (await stores.webhooks.list(uid))[0]?.secret_version === 2 ? true : undefined,
    );
    answer(away);
    expect((await running)?.ending.rebound).toMatchObject([{ slug: 'a', version: 2 }]);
  });

  it('of a suspended factory moves secrets and reads nothing', async () => {
    const uid = await factory();
    const source = scripted(at('r1', 'a'), at('r2', 'b'));
    const pass = new FactoryPass(context(), source);
    await pass.run(uid, [], signal);
    await stores.factories.setSuspended(uid, true);
    await stores.secrets.put({ id: newId(), owner: 'team', name: 'hook', value: sealing('next') }, undefined);
    expect((await pass.run(uid, [], signal))?.ending.rebound).toHaveLength(1);
    expect(source.asked).toHaveLength(1);
    expect(await stores.factories.find(uid)).toMatchObject({ revisionApplied: 'r1', condition: { ending: 'applied' } });
  });

  it('answers only the generation that it began with', async () => {
    const uid = await factory();
    const source = scripted(async () => {
      await stores.factories.requestSync(uid);
      return at('r1', 'a');
    });
    const result = await new FactoryPass(context(), source).run(uid, [], signal);
    const after = await stores.factories.find(uid);
    expect(after?.generationHandled).toBe(result?.generationHandled);
    expect(after?.generationRequested).toBe((after?.generationHandled ?? 0) + 1);
  });

  it('is not begun while another holds the factory, nor when it is gone', async () => {
    const uid = await factory();
    const lease = await stores.factories.acquireLease(uid, 'another', PASS_LEASE_MS);
    const source = scripted(at('r1', 'a'));
    const pass = new FactoryPass(context(), source);
    expect(await pass.run(uid, [], signal)).toBeUndefined();
    expect(source.asked).toEqual([]);
    nowMs += PASS_LEASE_MS + 1; // the other one died
    expect((await pass.run(uid, [], signal))?.ending.kind).toBe('applied');
    await expect(
      stores.factories.recordPass(uid, lease?.fence ?? 0, {
        generationHandled: 0,
        condition: { ending: 'failed', sinceMs: 0, checkedMs: 0 },
        failures: 9,
      }),
    ).rejects.toThrow('taken over');
    await stores.factories.remove(uid);
    expect(await pass.run(uid, [], signal)).toBeUndefined();
  });
});

describe('the history of a branch', () => {
  const ID = (digit: string): string => digit.repeat(40);
  const R = (digit: string): string => `main@sha1:${ID(digit)}`;
  let known: KnownRevisions[];
  let tip: Snapshot;

  /** A git source at `tip`, which tells its history as git would: against what is accepted. */
  const branch = (historyOf: (accepted: string | undefined) => History | undefined): Source => ({
    async snapshot(given) {
      known.push(given);
      if (!tip.ok) return tip;
      if (tip.revision === given.atHand) return { ok: true, revision: tip.revision, unchanged: true };
      const history = historyOf(given.accepted);
      return history === undefined ? tip : { ...tip, history };
    },
    close: async () => undefined,
  });
  const move = (digit: string, ...names: string[]): void => void (tip = at(R(digit), ...names));
  const linear = (_accepted?: string): History => ({ commits: [tip.ok ? tip.revision.slice(-40) : ''], lost: [] });
  /** Whatever was accepted is not part of the branch any more. */
  const rewriting = (accepted: string | undefined): History =>
    accepted === undefined ? linear() : { ...linear(), lost: [accepted.slice(-40)], rewrittenFrom: accepted };

  async function gitFactory(syncPolicy: SyncPolicy = {}): Promise<string> {
    const uid = await factory();
    await stores.factories.edit(uid, {
      source: { kind: 'git', url: 'https://git.example/r', branch: 'main' },
      syncPolicy,
    });
    return uid;
  }
  const standing = async (uid: string) => {
    const { revisionSeen, revisionAttempted, revisionApplied, condition, rewrite } =
      (await stores.factories.find(uid)) ?? {};
    return {
      seen: revisionSeen?.slice(-1),
      attempted: revisionAttempted?.slice(-1),
      applied: revisionApplied?.slice(-1),
      reason: condition?.reason,
      rewrite: rewrite && [rewrite.from.slice(-1), rewrite.to.slice(-1)],
    };
  };
  const told = async (uid: string) => (await stores.events.list(uid, 50)).map(({ reason }) => reason).toReversed();

  beforeEach(() => {
    known = [];
    move('a', 'a');
  });

  it('that was rewritten is accepted, recorded and told, until a tip descends from it', async () => {
    const uid = await gitFactory();
    let history = linear;
    const pass = new FactoryPass(
      context(),
      branch((accepted) => history(accepted)),
    );
    await pass.run(uid, [], signal);
    history = rewriting;
    move('b', 'a', 'b');
    await pass.run(uid, [], signal);
    await pass.run(uid, [], signal);
    expect(await standing(uid)).toEqual({
      seen: 'b',
      attempted: 'b',
      applied: 'b',
      reason: undefined,
      rewrite: ['a', 'b'],
    });
    expect(await stores.factories.passes(uid, 1)).toMatchObject([{ rewrittenFrom: R('a'), revision: R('b') }]);
    history = linear;
    move('c', 'a', 'b');
    await pass.run(uid, [], signal);
    expect((await standing(uid)).rewrite).toBeUndefined();
    expect(await told(uid)).toEqual(['applied', 'history-rewritten', 'applied', 'history-continued', 'applied']);
    expect((await stores.revisions.find(uid, ['a', 'b', 'c'].map(ID))).get(ID('a'))).toMatchObject({ lost: 2 });
  });

  it(
    'that was rewritten waits where fast-forwards are asked for, as long as it takes, and applies when it is ' +
      'approved',
    async () => {
      const uid = await gitFactory({ fastForwardOnly: true });
      let history = linear;
      const pass = new FactoryPass(
        context(),
        branch((accepted) => history(accepted)),
      );
      await pass.run(uid, [], signal);
      history = rewriting;
      move('b', 'a', 'b');
      await pass.run(uid, [], signal);
      const result = await pass.run(uid, [], signal); // the tree is at hand, and so is how it came
      expect(known.at(-1)).toEqual({ atHand: R('b'), accepted: R('a') });
      const held = { seen: 'b', attempted: 'a', applied: 'a', reason: 'history-rewritten', rewrite: undefined };
      expect(await standing(uid)).toEqual(held);
      await new FactoryPass(context(), branch(rewriting)).run(uid, [], signal); // another process knows nothing of it
      expect(await standing(uid)).toEqual(held);
      expect(await webhooksOf(uid)).toEqual(['a']);
      expect(await stores.factories.passes(uid, 9)).toHaveLength(2);
      expect(await told(uid)).toEqual(['applied', 'history-rewritten']);
      expect(await approve(uid, `sha256:${'0'.repeat(64)}`)).toBe('not-held');
      expect((await pass.run(uid, [], signal))?.ending.kind).toBe('blocked');
      expect(await approve(uid, result?.ending.digest)).toBe('approved');
      tip = away;
      // the host is not needed for that
      expect((await pass.run(uid, ['approval'], signal))?.ending.kind).toBe('applied');
      expect(await standing(uid)).toEqual({
        seen: 'b',
        attempted: 'b',
        applied: 'b',
        reason: undefined,
        rewrite: ['a', 'b'],
      });
      expect(await webhooksOf(uid)).toEqual(['a', 'b']);
    },
  );

  it('that was put back after a held rewriting goes on as if nothing had been', async () => {
    const uid = await gitFactory({ fastForwardOnly: true });
    let history = linear;
    const pass = new FactoryPass(
      context(),
      branch((accepted) => history(accepted)),
    );
    await pass.run(uid, [], signal);
    history = rewriting;
    move('b', 'a', 'b');
    await pass.run(uid, [], signal);
    history = () => undefined as unknown as History; // the accepted one again
    move('a', 'a');
    await pass.run(uid, [], signal);
    expect(await standing(uid)).toEqual({
      seen: 'a',
      attempted: 'a',
      applied: 'a',
      reason: undefined,
      rewrite: undefined,
    });
    expect((await told(uid)).at(-1)).toBe('history-continued');
  });

  it('whose tip nobody signed serves what was verified last, and never what lies between', async () => {
    const uid = await gitFactory({ verifyCommits: { keys: ['a key'] } });
    const pass = new FactoryPass(context(), branch(linear));
    tip = { ok: true, revision: R('a'), unchanged: false, files: [text('webhooks/a.yaml', 'secretName: later\n')] };
    await pass.run(uid, [], signal); // verified, and blocked by its files
    tip = { ok: false, refused: true, reason: 'source-unverified', message: 'no key signed it', revision: R('b') };
    await stores.secrets.put({ id: newId(), owner: 'team', name: 'later', value: sealing('value') }, undefined);
    for (let time = 0; time < 3; time += 1)
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject({
        kind: 'blocked',
        reason: 'source-unverified',
        revision: R('b'),
      });
    expect(await standing(uid)).toEqual({
      seen: 'b',
      attempted: 'a',
      applied: undefined,
      reason: 'source-unverified',
      rewrite: undefined,
    });
    tip = away;
    expect((await pass.run(uid, [], signal))?.ending.kind).toBe('failed');
    expect(await webhooksOf(uid)).toEqual([]);
    expect(await told(uid)).toEqual(['definitions-invalid', 'source-unverified', 'unreachable']);
  });

  describe('after a restart while the host is away', () => {
    const blocked = text('webhooks/a.yaml', 'secretName: later\n');
    /** A source that cannot be reached, and what it says of what it has fetched before. */
    const remembering = (cached: Snapshot) => {
      const asked: string[] = [];
      const source: Source = {
        snapshot: async () => away,
        cached: async (revision) => (asked.push(revision), cached),
        close: async () => undefined,
      };
      return { asked, pass: new FactoryPass(context(), source) };
    };
    const kept = (revision: string): Snapshot => ({ ok: true, revision, unchanged: false, files: [blocked] });

    async function waiting(): Promise<string> {
      const uid = await gitFactory({ verifyCommits: { keys: ['a key'] } });
      tip = { ok: true, revision: R('a'), unchanged: false, files: [blocked] };
      await new FactoryPass(context(), branch(linear)).run(uid, [], signal);
      await stores.secrets.put({ id: newId(), owner: 'team', name: 'later', value: sealing('value') }, undefined);
      return uid;
    }

    it('what was accepted and waits is read from the cache, once, and applies', async () => {
      const uid = await waiting();
      const { asked, pass } = remembering(kept(R('a')));
      expect((await pass.run(uid, ['secret'], signal))?.ending.kind).toBe('applied');
      expect((await pass.run(uid, [], signal))?.ending).toMatchObject({ kind: 'failed', reason: 'unreachable' });
      expect(asked).toEqual([R('a')]);
      expect(await standing(uid)).toMatchObject({ seen: 'a', attempted: 'a', applied: 'a' });
      expect(await webhooksOf(uid)).toEqual(['a']);
    });

    it.each<[string, Snapshot]>([
      [
        'the policy refuses it now',
        { ok: false, refused: true, reason: 'source-unverified', message: 'no key signed it', revision: R('a') },
      ],
      ['it cannot be read any more', { ok: false, reason: 'corrupt', message: 'm', retry: 'backoff' }],
      ['another one is answered', kept(R('f'))],
    ])('nothing applies where %s', async (_why, answer) => {
      const uid = await waiting();
      const { asked, pass } = remembering(answer);
      expect((await pass.run(uid, ['secret'], signal))?.ending).toMatchObject({
        kind: 'failed',
        reason: 'unreachable',
      });
      expect(asked).toEqual([R('a')]);
      expect(await webhooksOf(uid)).toEqual([]);
    });

    it('the parent of a tip that was refused stays where it is', async () => {
      const uid = await waiting();
      tip = { ok: false, refused: true, reason: 'source-unverified', message: 'no key signed it', revision: R('b') };
      await new FactoryPass(context(), branch(linear)).run(uid, [], signal);
      const { asked, pass } = remembering(kept(R('a')));
      expect((await pass.run(uid, ['secret'], signal))?.ending.kind).toBe('failed');
      expect([asked, await webhooksOf(uid)]).toEqual([[], []]);
    });

    it('what was accepted before does not come back after what applied and was not recorded', async () => {
      const uid = await waiting();
      move('b', 'a', 'b');
      await killedBehindApplying(new FactoryPass(context(), branch(linear)), uid);
      const { asked, pass } = remembering(kept(R('a')));
      expect((await pass.run(uid, [], signal))?.ending.kind).toBe('failed');
      expect(asked).toEqual([]);
      expect(await standing(uid)).toMatchObject({ seen: 'b', attempted: 'a', applied: 'b' });
      expect(await webhooksOf(uid)).toEqual(['a', 'b']);
    });
  });

  it('whose policy names other keys is not called verified before a pass has looked', async () => {
    const verification = async (uid: string) => {
      const found = await stores.factories.find(uid);
      return conditionsOf(factoryStateOf(found as Factory, [])).find(({ type }) => type === 'SourceVerificationFailed');
    };
    const uid = await gitFactory();
    await new FactoryPass(context(), branch(linear)).run(uid, [], signal);
    await stores.factories.setSuspended(uid, true);
    await stores.factories.edit(uid, { syncPolicy: { verifyCommits: { keys: ['one', 'two'] } } });
    const refused: Snapshot = {
      ok: false,
      refused: true,
      reason: 'source-unverified',
      message: 'no key signed it',
      revision: R('a'),
    };
    const suspended = new FactoryPass(context(), branch(linear));
    expect(await verification(uid)).toMatchObject({ status: 'Unknown', reason: 'not-verified-yet' });
    await suspended.run(uid, [], signal);
    // for as long as it is suspended
    expect(await verification(uid)).toMatchObject({ status: 'Unknown', reason: 'not-verified-yet' });
    await stores.factories.setSuspended(uid, false);
    await suspended.run(uid, [], signal);
    expect(await verification(uid)).toMatchObject({ status: 'False', reason: 'verified' });
    await stores.factories.edit(uid, { syncPolicy: { verifyCommits: { keys: ['two', 'one'] } } });
    expect(await verification(uid)).toMatchObject({ status: 'False', reason: 'verified' }); // the same keys
    tip = refused;
    await suspended.run(uid, [], signal);
    expect(await verification(uid)).toMatchObject({ status: 'True', reason: 'source-unverified' });
    await stores.factories.edit(uid, { syncPolicy: { verifyCommits: { keys: ['two', 'three'] } } });
    expect(await verification(uid)).toMatchObject({ status: 'Unknown', reason: 'not-verified-yet' });
    expect((await told(uid)).filter((reason) => reason.startsWith('source'))).toEqual(['source-unverified']);
  });

  it('is recorded whole when the service died after applying and before recording', async () => {
    const uid = await gitFactory();
    const history = (accepted: string | undefined): History =>
      accepted === R('a') ? { commits: ['c', 'b'].map(ID), lost: [] } : linear();
    await new FactoryPass(context(), branch(history)).run(uid, [], signal);
    move('c', 'a', 'b');
    await killedBehindApplying(new FactoryPass(context(), branch(history)), uid);
    expect(await standing(uid)).toMatchObject({ attempted: 'a', applied: 'c' });
    await new FactoryPass(context(), branch(history)).run(uid, [], signal);
    expect(await standing(uid)).toMatchObject({ seen: 'c', attempted: 'c', applied: 'c' });
    expect([...(await stores.revisions.find(uid, ['a', 'b', 'c'].map(ID))).keys()].toSorted()).toEqual(
      ['a', 'b', 'c'].map(ID),
    );
    expect(await stores.factories.passes(uid, 1)).toMatchObject([{ superseded: 1, revision: R('c') }]);
    expect(await told(uid)).toEqual(['applied', 'applied']);
  });

  it('is read again when another replica has accepted something meanwhile', async () => {
    const uid = await gitFactory({ fastForwardOnly: true });
    const [one, two] = [new FactoryPass(context(), branch(linear)), new FactoryPass(context(), branch(linear))];
    await one.run(uid, [], signal);
    move('b', 'a', 'b');
    await two.run(uid, [], signal);
    move('a', 'a'); // pushed back
    await one.run(uid, [], signal);
    expect(known.at(-1)).toEqual({ atHand: undefined, accepted: R('b') }); // at hand, but as the first of all
  });
});

describe('sync windows', () => {
  const minute = 60_000;
  // 2027-01-15 is when these tests are; everything is allowed for an hour from the next midnight on.
  const syncPolicy: SyncPolicy = { windows: [{ kind: 'allow', schedule: '0 0 * * *', durationMinutes: 60 }] };

  it('keep definitions, not secrets, and wake the loop when they open', async () => {
    const uid = await factory();
    const pass = new FactoryPass(context(), scripted(at('r1', 'a'), at('r2', 'a', 'b')));
    await pass.run(uid, [], signal);
    await stores.factories.edit(uid, { syncPolicy });
    nowMs = Date.parse('2027-01-15T23:00:00Z');
    await stores.secrets.put({ id: newId(), owner: 'team', name: 'hook', value: sealing('next') }, undefined);
    const result = await pass.run(uid, [], signal);
    expect(result).toMatchObject({
      opensInMs: 60 * minute,
      retryInMs: undefined,
      ending: {
        kind: 'blocked',
        reason: 'outside-sync-window',
        revision: 'r2',
        changes: [],
        rebound: [{ version: 2 }],
      },
    });
    expect(result?.ending.message).toContain('2027-01-16T00:00:00.000Z');
    expect(await stores.factories.find(uid)).toMatchObject({
      revisionAttempted: 'r2',
      revisionApplied: 'r1',
      conditions: { Ready: { status: 'False', reason: 'outside-sync-window' }, Stalled: { status: 'False' } },
    });
    nowMs += 60 * minute;
    expect(await pass.run(uid, [], signal)).toMatchObject({
      opensInMs: undefined,
      ending: { kind: 'applied', revision: 'r2' },
    });
  });

  it('let through what changes nothing, and show what is wrong', async () => {
    const uid = await factory();
    const bad: Snapshot = {
      ok: true,
      revision: 'r3',
      unchanged: false,
      files: [text('webhooks/a.yaml', 'secretName: 5\n')],
    };
    const pass = new FactoryPass(context(), scripted(at('r1', 'a'), at('r2', 'a'), bad));
    await pass.run(uid, [], signal);
    await stores.factories.edit(uid, { syncPolicy });
    nowMs = Date.parse('2027-01-15T12:00:00Z');
    expect((await pass.run(uid, [], signal))?.ending).toMatchObject({ kind: 'applied', revision: 'r2' });
    expect((await pass.run(uid, [], signal))?.ending).toMatchObject({ kind: 'blocked', reason: 'definitions-invalid' });
  });
});
