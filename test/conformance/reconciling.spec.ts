/**
 * What passes leave behind beside definitions, on every database: conditions, events, revisions, policies, blobs,
 * replicas. contract §9.
 */
import { bySystem } from '../../apps/server/store/access/audit.ts';
import { EVENTS_RETAINED_MAX } from '../../apps/server/store/factories/events.ts';
import type { PassOutcome, PassRecord } from '#reconcile';
import { REVISIONS_RETAINED_MAX, RevisionStore } from '../../apps/server/store/factories/revisions.ts';
import type { Database } from '../../apps/server/store/database/database.ts';
import { PASSES_NAMED } from '../../apps/server/store/migrations/0001-0010/0004-reconciling.ts';
import { runSteps, type Statement, type Transaction } from '../../apps/server/store/database/transactions.ts';
import { count, select, meddle, onEachBackend, type Stores } from './backends.ts';
import { newId, seedFactory, seedServed, servingVersion, unique, webhookOf } from './seeds.ts';
import { approve, hold } from './held-digests.ts';
import { VersionMismatchError } from '../../apps/server/store/database/replicas.ts';
import { patternOf } from '../support/patterns.ts';

const commit = (text: string): string => text.padEnd(40, '0');
const revision = (text: string): string => `main@sha1:${commit(text)}`;

await onEachBackend('reconciling', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const outcome = (more: Partial<PassOutcome> = {}): PassOutcome => ({
    generationHandled: 1,
    condition: { ending: 'applied', sinceMs: 1, checkedMs: 2 },
    failures: 0,
    ...more,
  });
  const record = (more: Partial<PassRecord> = {}): PassRecord => ({
    id: newId(),
    triggers: ['api'],
    startedAtMs: 1,
    finishedAtMs: 2,
    ending: 'applied',
    problems: [],
    changes: [],
    held: [],
    superseded: 0,
    timings: {},
    ...more,
  });
  /** A pass that accepts `tip` with these commits. */
  const accepts = async (
    uid: string,
    fence: number,
    tip: string,
    commits: string[],
    lost: string[] = [],
    anew = false,
  ): Promise<PassRecord> => {
    const written = record({ revision: revision(tip) });
    await stores.factories.recordPass(
      uid,
      fence,
      outcome({
        revisionSeen: revision(tip),
        revisionAttempted: revision(tip),
        delta: { commits: commits.map(commit), lost: lost.map(commit), isReset: anew },
        record: written,
      }),
    );
    return written;
  };
  const places = async (uid: string, ...names: string[]) => {
    const found = await stores.revisions.find(uid, names.map(commit));
    return names.map((name) => {
      const { ordinal, tip, lost } = found.get(commit(name)) ?? { ordinal: -1, tip: -1, lost: -1 };
      return [ordinal, tip, lost];
    });
  };

  it('keeps conditions and the last rewriting with the factory, past passes that say nothing of them', async () => {
    const { uid, fence } = await seedFactory(stores);
    const conditions = { Ready: { status: 'True' as const, reason: 'applied', message: 'ünï', sinceMs: 5 } };
    const rewrite = { from: 'r1', to: 'r2', atMs: 3 };
    await stores.factories.recordPass(uid, fence, outcome({ conditions, rewrite }));
    await stores.factories.recordPass(uid, fence, outcome());
    expect(await stores.factories.find(uid)).toMatchObject({ conditions, rewrite });
    await stores.factories.recordPass(uid, fence, outcome({ rewrite: null }));
    const after = await stores.factories.find(uid);
    expect([after?.conditions, after?.rewrite]).toEqual([conditions, undefined]);
  });

  it('keeps what a pass says of its history', async () => {
    const { uid, fence } = await seedFactory(stores);
    const written = record({ rewrittenFrom: revision('a'), superseded: 7 });
    await stores.factories.recordPass(uid, fence, outcome({ record: written }));
    expect(await stores.factories.pass(uid, written.id)).toEqual(written);
  });

  it('tells events of passes and of what people asked for, newest first, in pages', async () => {
    const { uid, fence } = await seedFactory(stores);
    const written = record();
    const events = [
      { id: newId(), type: 'Warning' as const, reason: 'unreachable', message: 'm' },
      { id: newId(), type: 'Normal' as const, reason: 'applied', message: 'n', revision: 'r' },
    ];
    await stores.factories.recordPass(uid, fence, outcome({ events, record: written }));
    await stores.factories.setSuspended(uid, true, bySystem(newId()));
    await stores.factories.setSuspended(uid, false, bySystem(newId()));
    await stores.factories.setSuspended(uid, false); // nobody asked
    await hold(stores, { uid, fence }, 'sha256:d');
    await approve(stores, uid, 'sha256:d', bySystem(newId()));
    await stores.factories.edit(uid, { syncPolicy: { windows: [] } }, bySystem(newId()));
    await stores.factories.edit(uid, { source: { kind: 'dashboard' } }, bySystem(newId()));
    const first = await stores.events.list(uid, 4);
    const rest = await stores.events.list(uid, 10, first.at(-1)?.id);
    expect([...first, ...rest].map(({ reason }) => reason)).toEqual([
      'source-changed',
      'policy-changed',
      'approved',
      'resumed',
      'suspended',
      'applied',
      'unreachable',
    ]);
    expect(rest.at(-1)).toEqual({ ...events[0], revision: undefined, atMs: expect.any(Number), passId: written.id });
    expect(await stores.events.list('fac_other', 10)).toEqual([]);
    await stores.factories.remove(uid);
    expect(await stores.events.list(uid, 10)).toEqual([]);
  });

  it('lets go of old events, of that factory only', async () => {
    const [{ uid, fence }, other] = [await seedFactory(stores), await seedFactory(stores)];
    const event = () => ({ id: newId(), type: 'Normal' as const, reason: 'x', message: 'm' });
    await stores.factories.recordPass(other.uid, other.fence, outcome({ events: [event()] }));
    const [first, ...many] = Array.from({ length: EVENTS_RETAINED_MAX + 5 }, event);
    await stores.factories.recordPass(uid, fence, outcome({ events: many }));
    expect(await count(stores, 'factory_event WHERE factory_uid = ?', uid)).toBe(EVENTS_RETAINED_MAX);
    expect(
      await select(stores, 'SELECT id FROM factory_event WHERE id = ? OR id = ?', first?.id ?? '', many[0]?.id ?? ''),
    ).toEqual([]);
    expect(await count(stores, 'factory_event WHERE factory_uid = ?', other.uid)).toBe(1);
  });

  it('writes nothing of a pass whose lease was lost', async () => {
    const { uid, fence } = await seedFactory(stores);
    const late = outcome({
      events: [{ id: newId(), type: 'Normal', reason: 'x', message: 'm' }],
      revisionAttempted: revision('a'),
      delta: { commits: [commit('a')], lost: [], isReset: true },
      conditions: {},
      rewrite: { from: 'a', to: 'b', atMs: 1 },
    });
    await expect(stores.factories.recordPass(uid, fence - 1, late)).rejects.toThrow('taken over');
    expect([
      await stores.events.list(uid, 1),
      await places(uid, 'a'),
      (await stores.factories.find(uid))?.rewrite,
    ]).toEqual([[], [[-1, -1, -1]], undefined]);
  });

  it('knows of every accepted revision when it came, whose tip it was and what lost it', async () => {
    const { uid, fence } = await seedFactory(stores);
    await accepts(uid, fence, 'a', ['a'], [], true);
    const push = await accepts(uid, fence, 'c', ['c', 'b']);
    expect(await places(uid, 'a', 'b', 'c')).toEqual([
      [1, 1, 0],
      [2, 0, 0],
      [2, 2, 0],
    ]);
    await accepts(uid, fence, 'e', ['e'], ['c', 'b']); // a force push
    expect(await places(uid, 'a', 'b', 'c', 'e')).toEqual([
      [1, 1, 0],
      [2, 0, 3],
      [2, 2, 3],
      [3, 3, 0],
    ]);
    await accepts(uid, fence, 'c', ['c', 'b'], ['e']); // and back
    expect(await places(uid, 'a', 'b', 'c', 'e')).toEqual([
      [1, 1, 0],
      [4, 0, 0],
      [4, 4, 0],
      [3, 3, 4],
    ]);
    await accepts(uid, fence, 'b', [], ['c']); // back by one: b is no news, and a tip
    expect(await places(uid, 'b', 'c')).toEqual([
      [4, 5, 0],
      [4, 4, 5],
    ]);
    await accepts(uid, fence, 'f', ['f', 'a'], [], true); // another branch that shares a
    expect(await places(uid, 'a', 'b', 'f')).toEqual([
      [1, 1, 0],
      [4, 5, 6],
      [6, 6, 0],
    ]);
    expect((await stores.factories.find(uid))?.revisionAttempted).toBe(revision('f'));
    expect(await stores.revisions.passOf(uid, commit('c'))).toBeDefined();
    expect(await stores.revisions.passOf('fac_other', commit('c'))).toBeUndefined();
    expect(push.id).not.toBe(await stores.revisions.passOf(uid, commit('c'))); // it was judged again when it came back
  });

  it('forgets what a rewritten history may have lost or kept, and spends the approval that let it in', async () => {
    const { uid, fence } = await seedFactory(stores);
    await accepts(uid, fence, 'a', ['a'], [], true);
    await accepts(uid, fence, 'c', ['c', 'b']);
    for (const digest of ['sha256:let-in', 'sha256:another']) {
      await hold(stores, { uid, fence }, digest);
      await approve(stores, uid, digest);
    }
    const brought = {
      commits: [commit('d'), commit('a')],
      lost: [commit('c')],
      isReset: false,
      forgetsOthers: true,
      spent: 'sha256:let-in',
    };
    await stores.factories.recordPass(uid, fence, outcome({ revisionAttempted: revision('d'), delta: brought }));
    expect(await places(uid, 'a', 'b', 'c', 'd')).toEqual([
      [1, 1, 0],
      [-1, -1, -1],
      [2, 2, 3],
      [3, 3, 0],
    ]);
    expect(await stores.factories.approvals(uid)).toEqual(new Set(['sha256:another']));
  });

  it('finds the pass that judged a commit: of the tip that it came with', async () => {
    const { uid, fence } = await seedFactory(stores);
    const push = await accepts(uid, fence, 'c', ['c', 'b', 'a']);
    expect([await stores.revisions.passOf(uid, commit('c')), await stores.revisions.passOf(uid, commit('b'))]).toEqual([
      push.id,
      push.id,
    ]);
    const again = record({ revision: revision('c'), ending: 'blocked' });
    await stores.factories.recordPass(uid, fence, outcome({ record: again }));
    expect([await stores.revisions.passOf(uid, commit('c')), await stores.revisions.passOf(uid, commit('b'))]).toEqual([
      again.id,
      again.id,
    ]);
    expect(await stores.revisions.passOf(uid, commit('d'))).toBeUndefined();
  });

  it('finds the pass of a revision by its ID alone, whatever names it, and reads no other pass for that', async () => {
    const { uid, fence } = await seedFactory(stores);
    const ids = ['1'.repeat(40), '2'.repeat(64), `sha256:${'3'.repeat(64)}`];
    const written = [`f/x@sha1:y@sha1:${ids[0]}`, `main@sha256:${ids[1]}`, ids[2]].map((named) =>
      record({ revision: named, ending: 'blocked' }),
    );
    for (const pass of written) await stores.factories.recordPass(uid, fence, outcome({ record: pass }));
    for (const [n, id] of ids.entries()) expect(await stores.revisions.passOf(uid, id)).toBe(written[n]?.id);
    if (world.dialect !== 'sqlite') return;
    const asked: Statement[] = [];
    const listening = {
      read: (body: () => Transaction<unknown>) =>
        runSteps(body(), (statement) => Promise.resolve((asked.push(statement), { rows: [], changes: 0 }))),
    };
    await new RevisionStore(listening as unknown as Database).passOf(uid, ids[0] ?? '');
    const plans = await Promise.all(
      asked.flatMap((statement) =>
        statement.kind === 'query'
          ? [select<{ detail: string }>(stores, `EXPLAIN QUERY PLAN ${statement.text}`, ...statement.params)]
          : [],
      ),
    );
    const passes = plans
      .flat()
      .map(({ detail }) => detail)
      .filter((detail) => /\bp\b/.test(detail));
    expect(passes).toHaveLength(2);
    for (const detail of passes) expect(detail).toMatch(/sync_pass_revision \(factory_uid=\? AND revision_id=\?\)/);
  });

  it('gives passes that are older than their IDs those, as they would be written today', async () => {
    const { uid, fence } = await seedFactory(stores);
    const written = [
      `f/x@sha1:y@sha1:${'4'.repeat(40)}`,
      `main@sha256:${'5'.repeat(64)}`,
      `sha256:${'6'.repeat(64)}`,
      undefined,
    ].map((named) => record({ revision: named }));
    for (const pass of written) await stores.factories.recordPass(uid, fence, outcome({ record: pass }));
    const idsOf = () => select(stores, 'SELECT id, revision_id FROM sync_pass WHERE factory_uid = ? ORDER BY id', uid);
    const before = await idsOf();
    await meddle(stores, 'UPDATE sync_pass SET revision_id = NULL WHERE factory_uid = ?', uid);
    await meddle(stores, PASSES_NAMED);
    expect(await idsOf()).toEqual(before);
  });

  it('finds commits by how they begin, and says when it is several', async () => {
    const { uid, fence } = await seedFactory(stores);
    await accepts(uid, fence, 'abcdef01', ['abcdef01', 'abcdef02', 'abcdeff']);
    expect(await stores.revisions.beginningWith(uid, 'abcdef01')).toEqual([commit('abcdef01')]);
    expect(await stores.revisions.beginningWith(uid, 'abcdef')).toHaveLength(2);
    expect(await stores.revisions.beginningWith(uid, 'abcdeff')).toEqual([commit('abcdeff')]);
    expect(await stores.revisions.beginningWith(uid, 'fffffff')).toEqual([]);
    expect(await stores.revisions.beginningWith('fac_other', 'abcdef01')).toEqual([]);
  });

  it('lets go of old revisions, and forgets them with their repository', async () => {
    const { uid, fence } = await seedFactory(stores);
    await stores.factories.edit(uid, { source: { kind: 'git', url: 'https://git.example/a', branch: 'main' } });
    const { fence: renewed } = (await stores.factories.acquireLease(uid, 'seeds', 60_000)) ?? { fence };
    await accepts(uid, renewed, 'a', ['a', 'b']);
    await meddle(stores, 'UPDATE revision SET ordinal = 0, tip = 0 WHERE factory_uid = ?', uid);
    const many = Array.from({ length: REVISIONS_RETAINED_MAX }, (_, n) => n.toString(16).padStart(40, '0'));
    await stores.factories.recordPass(
      uid,
      renewed,
      outcome({ revisionAttempted: `main@sha1:${many[0]}`, delta: { commits: many, lost: [], isReset: false } }),
    );
    expect(await count(stores, 'revision WHERE factory_uid = ?', uid)).toBe(REVISIONS_RETAINED_MAX);
    await stores.factories.edit(uid, {
      source: { kind: 'git', url: 'https://git.example/a', branch: 'main', interval: 30 },
    });
    expect(await count(stores, 'revision WHERE factory_uid = ?', uid)).toBe(REVISIONS_RETAINED_MAX); // the same place
    await stores.factories.edit(uid, { source: { kind: 'git', url: 'https://git.example/b', branch: 'main' } });
    expect([
      await count(stores, 'revision WHERE factory_uid = ?', uid),
      (await stores.factories.find(uid))?.revisionAttempted,
    ]).toEqual([0, undefined]);
  });

  it(
    'changes a policy with an audit entry that names its members only, ends the pass under way, and asks for ' +
      'another',
    async () => {
      const { uid, fence } = await seedFactory(stores);
      const syncPolicy = { verifyCommits: { keys: ['ssh-ed25519 hidden-word'] }, fastForwardOnly: true, windows: [] };
      expect(await stores.factories.edit(uid, { syncPolicy })).toBe('policy-needs-git'); // it is a directory
      expect(
        await stores.factories.edit(
          uid,
          { syncPolicy, source: { kind: 'git', url: 'https://git.example/a' } },
          bySystem(newId()),
        ),
      ).toBe('done');
      expect(await stores.factories.find(uid)).toMatchObject({ syncPolicy, generationRequested: 2 });
      await expect(stores.factories.recordPass(uid, fence, outcome())).rejects.toThrow('taken over');
      expect(await stores.factories.edit(uid, { syncPolicy })).toBe('done');
      expect((await stores.factories.find(uid))?.generationRequested).toBe(2); // nothing new
      expect(await stores.factories.edit(uid, { source: { kind: 'dashboard' } })).toBe('policy-needs-git');
      const [entry] = await stores.audit.list({ factoryUid: uid }, 1);
      expect(entry).toMatchObject({
        action: 'factory.change',
        details: {
          changed: ['source', 'sync_policy'],
          source: 'git',
          policy: ['verify_commits', 'fast_forward_only', 'windows'],
          policy_changes: ['+verify_commits', '+fast_forward_only', '+windows'],
        },
      });
      // What is asked no longer is said as loudly as what is.
      await stores.factories.edit(
        uid,
        {
          syncPolicy: { fastForwardOnly: true, windows: [{ kind: 'deny', schedule: '* * * * *', durationMinutes: 1 }] },
        },
        bySystem(newId()),
      );
      const [less] = await stores.audit.list({ factoryUid: uid }, 1);
      const [event] = await stores.events.list(uid, 1);
      expect([less, event]).toMatchObject([
        { details: { policy: ['fast_forward_only', 'windows'], policy_changes: ['−verify_commits', '~windows'] } },
        { reason: 'policy-changed', message: 'the sync policy was changed: −verify_commits ~windows' },
      ]);
      await stores.factories.edit(uid, { syncPolicy: {} }, bySystem(newId()));
      expect((await stores.events.list(uid, 1))[0]?.message).toBe(
        'the sync policy was changed: −fast_forward_only −windows; it asks nothing now',
      );
      expect(JSON.stringify([entry, less, await stores.events.list(uid, 9)])).not.toContain('hidden-word');
    },
  );

  it('keeps the blob of every file that applies, also when only a comment in it changes', async () => {
    const { factoryUid, fence, webhookUid, secretName } = await seedServed(stores);
    const blobs = async () =>
      Object.fromEntries((await stores.inventory.list(factoryUid)).map(({ slug, blob }) => [slug, blob]));
    expect(await blobs()).toEqual({ orders: undefined, triage: undefined });
    const change = { factoryUid, fence, revision: 'r2', factory: { applyMode: 'atomic' as const }, deletions: [] };
    const skill = {
      kind: 'skill' as const,
      uid: unique('skill_'),
      slug: 'fix',
      path: 'skills/fix/SKILL.md',
      definition: { name: 'fix', path: 'skills/fix/SKILL.md', text: '#', files: [] },
    };
    await stores.definitions.apply({
      ...change,
      upserts: [skill],
      blobs: new Map([
        ['webhooks/orders.yaml', 'b1'],
        ['automations/triage/automation.md', 'b2'],
        [skill.path, 'b3'],
      ]),
    });
    expect(await blobs()).toEqual({ orders: 'b1', triage: 'b2', fix: 'b3' });
    await stores.definitions.apply({ ...change, upserts: [], blobs: new Map([['webhooks/orders.yaml', 'b4']]) });
    expect(await blobs()).toEqual({ orders: 'b4', triage: 'b2', fix: 'b3' });
    await stores.definitions.apply({
      ...change,
      upserts: [webhookOf(webhookUid, 'orders', secretName, { enabled: false })],
    }); // as an edit over the API: no file
    expect((await blobs())['orders']).toBeUndefined();
    expect(await stores.definitions.webhooksWithoutSecret(factoryUid)).toEqual([]);
    await meddle(stores, 'UPDATE webhook SET secret_version = NULL, enabled = 1 WHERE uid = ?', webhookUid);
    expect(await stores.definitions.webhooksWithoutSecret(factoryUid)).toEqual(['orders']);
  });

  it('lets only versions begin that can use what the others leave', async () => {
    const called = (owner: string, version: string) => ({ owner, version, roles: ['api'], host: 'here' });
    const [found] = await select<{ oldest: number }>(stores, 'SELECT oldest FROM schema_reader');
    await meddle(stores, 'UPDATE schema_reader SET oldest = 13');
    await stores.replicas.forgetAll();
    await stores.replicas.join(called('old', '1'));
    await stores.replicas.join(called('beside', '1'));
    await expect(stores.replicas.join(called('new', '2'))).rejects.toThrow(
      patternOf(
        /^this is version 2, and process (old|beside) of version 1 /,
        /was heard of on the same database \d+ s ago: stop all processes/,
      ),
    );
    await meddle(stores, 'UPDATE replica SET seen_at = seen_at - 15001');
    await stores.replicas.forgetAll();
    await stores.replicas.join(called('of before', '1/Any1700000000013'));
    await stores.replicas.join(called('of now', '2/Next1700000000014')); // each can use what the other one leaves
    await meddle(stores, 'UPDATE schema_reader SET oldest = 14');
    await expect(stores.replicas.join(called('again', '1/Any1700000000013'))).rejects.toThrow(VersionMismatchError);
    await expect(stores.replicas.join(called('later', '3/Next1700000000015'))).rejects.toThrow(/of before/);
    await meddle(stores, 'UPDATE schema_reader SET oldest = 13');
    await stores.replicas.forgetAll();
    await stores.replicas.join(called('new', '2'));
    await expect(stores.replicas.join(called('late', '1'))).rejects.toThrow(VersionMismatchError);
    await meddle(stores, `UPDATE schema_reader SET oldest = ${found?.oldest ?? 0}`);
    await stores.replicas.forgetAll();
  });

  it('knows who lives and what each has loaded', async () => {
    const served = await seedServed(stores);
    const version = await servingVersion(stores, served.factoryUid);
    const names = async () =>
      (await stores.replicas.of(served.factoryUid)).replicas.map(({ name, servingVersion: loaded }) => [name, loaded]);
    const called = (owner: string, ...roles: string[]) => ({ owner, version: '1', roles, host: 'here' });
    await stores.replicas.forgetAll();
    await stores.replicas.beat(called('worker', 'worker', 'sync'), version); // takes no deliveries: nobody waits for it
    await stores.replicas.beat(called('one', 'api', 'ingress'), 1);
    await stores.replicas.beat(called('two', 'api', 'ingress'), version);
    await stores.replicas.beat(called('one', 'api', 'ingress'), version);
    expect(await stores.replicas.of(served.factoryUid)).toMatchObject({ servingVersion: version });
    expect(await names()).toEqual([
      ['one', version],
      ['two', version],
    ]);
    await meddle(stores, "UPDATE replica SET seen_at = seen_at - 16000 WHERE owner = 'one'");
    expect(await names()).toEqual([['two', version]]);
    await meddle(stores, "UPDATE replica SET seen_at = seen_at - 60000 WHERE owner = 'one'");
    await stores.replicas.beat(called('three', 'api', 'ingress'), 0);
    expect(await select(stores, "SELECT owner FROM replica WHERE owner <> 'worker' ORDER BY owner")).toEqual([
      { owner: 'three' },
      { owner: 'two' },
    ]);
    await stores.replicas.leave('worker');
    await stores.replicas.leave('two');
    expect(await names()).toEqual([['three', 0]]);
    expect(await stores.replicas.living()).toMatchObject([
      { owner: 'three', version: '1', roles: ['api', 'ingress'], host: 'here' },
    ]);
    await stores.replicas.retire('three'); // takes nothing more, and is there until it leaves
    expect(await names()).toEqual([]);
    expect(await stores.replicas.living()).toMatchObject([{ owner: 'three', roles: [] }]);
  });
});
