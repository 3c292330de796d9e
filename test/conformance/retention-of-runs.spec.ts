/**
 * What goes of runs that ended long ago, and what stays; histories of factories; the audit trail: on every database.
 * contract §2, §3, §9.
 */
import { RETAINED_ENTRIES_MIN } from '#deliveries';
import { auditSweep, historySweep } from '../../apps/server/store/retention/history-sweeps.ts';
import { artifactSweep, eventSweep } from '../../apps/server/store/retention/run-sweeps.ts';
import { change, insert } from '../../apps/server/store/database/transactions.ts';
import { count, select, meddle, onEachBackend, type Stores } from './backends.ts';
import { begin, claimRun, newId, runOf, seedFactory, seedServed, unique } from './seeds.ts';
import { DAY_MS, idAt, sweepState, sweepAll, sweeperOf } from './sweep-runs.ts';

const NOW_MS = Date.now();

await onEachBackend('retention of runs', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const events = () => eventSweep(90, world.dialect);
  const artifacts = () => artifactSweep(90, world.dialect);
  const seqs = async (runId: string): Promise<number[]> =>
    (await select<{ seq: number }>(stores, 'SELECT seq FROM run_event WHERE run_id = ? ORDER BY seq', runId)).map(
      ({ seq }) => seq,
    );

  /** A run that ended, with this many entries in its log, a question, an artifact and an attachment. */
  async function endedRun(ageDays: number, entries: number): Promise<string> {
    const run = runOf({});
    await stores.runs.create(run, {
      attachments: [{ fileName: 'a.txt', mimeType: 'text/plain', content: Buffer.from('a') }],
    });
    const claim = await claimRun(stores, run.runId);
    await begin(stores, claim);
    await stores.runs.append(
      claim,
      Array.from({ length: entries - 3 }, (_, n) => ({ kind: 'message', atMs: n, body: '{"text":"word"}' })),
    );
    await stores.permissions.ask(claim, newId(), { title: 'may I', options: [] });
    await stores.artifacts.save(claim, {
      artifactUid: unique('art'),
      type: 'FILE',
      details: { filePath: 'x', digest: unique('d'), fileName: 'x' },
      content: Buffer.from('bytes'),
    } as never);
    await stores.runs.finish(claim, { state: 'SUCCEEDED', message: 'all done' });
    await age(run.runId, ageDays);
    return run.runId;
  }

  const age = (runId: string, days: number) =>
    meddle(
      stores,
      'UPDATE run SET updated_at = ?, finished_at = ? WHERE run_id = ?',
      NOW_MS - days * DAY_MS,
      NOW_MS - days * DAY_MS,
      runId,
    );

  it(
    'removes events and questions of runs that ended long ago, and keeps the last word, so that no number is ' +
      'given twice',
    async () => {
      const [old, young] = [await endedRun(91, 250), await endedRun(89, 20)];
      const last = (await seqs(old)).at(-1) as number;
      await sweepAll(stores, events());
      expect(await seqs(old)).toEqual([last]);
      expect(await stores.permissions.ofRun(old)).toEqual([]);
      expect((await seqs(young)).length).toBeGreaterThan(15);
      expect(await stores.permissions.ofRun(young)).toHaveLength(1);
      const [event] = await stores.runs.events(old, 0, 10);
      expect(JSON.parse(event?.body ?? '')).toEqual({ state: 'SUCCEEDED', message: 'all done' });
      expect(await stores.runs.find(old)).toMatchObject({ state: 'SUCCEEDED', status_message: 'all done' });
    },
  );

  it('keeps the timeline, and what was asked', async () => {
    const runId = await endedRun(91, 20);
    const before = [await stores.histories.history(runId), await stores.histories.spoken(runId)];
    await sweepAll(stores, events(), artifacts());
    expect([await stores.histories.history(runId), await stores.histories.spoken(runId)]).toEqual(before);
  });

  it('leaves a run alone that goes on, however old it is, and goes on counting where its log was', async () => {
    const runId = await endedRun(91, 30);
    const last = (await seqs(runId)).at(-1) as number;
    await sweepAll(stores, events());
    await meddle(stores, "UPDATE run SET state = 'QUEUED' WHERE run_id = ?", runId);
    const claim = await claimRun(stores, runId);
    await begin(stores, claim);
    expect(await stores.runs.append(claim, [{ kind: 'message', atMs: 1, body: '{}' }])).toBe(last + 1);
    await age(runId, 91);
    await sweepAll(stores, events(), artifacts());
    expect(await seqs(runId)).toEqual([last, last + 1]);
    await stores.runs.finish(claim, { state: 'FAILED', message: 'no' });
    await sweepAll(stores, events());
    expect((await seqs(runId)).length).toBe(3);
  });

  it('does not touch a run that was queued again after it was found', async () => {
    const runId = await endedRun(91, 30);
    const before = await seqs(runId);
    const sweep = events();
    const requeuing = {
      ...sweep,
      *remove(targets: Parameters<typeof sweep.remove>[0], nowMs: number) {
        yield* change("UPDATE run SET state = 'QUEUED' WHERE run_id = ?", runId);
        return yield* sweep.remove(targets, nowMs);
      },
    };
    await sweepAll(stores, requeuing);
    expect(await seqs(runId)).toEqual(before);
    await meddle(stores, "UPDATE run SET state = 'CANCELLED' WHERE run_id = ?", runId);
  });

  it('gets through a log of any length, and through one that keeps the ends before its executions', async () => {
    const runId = await endedRun(92, 10);
    const last = (await seqs(runId)).at(-1) as number;
    const more = Array.from({ length: 6_000 }, (_, n) => [
      runId,
      last + n + 1,
      n % 1_000 === 0 ? null : 'exec',
      1,
      'status',
      '{}',
    ]);
    await stores.database.run(() => insert('run_event', ['run_id', 'seq', 'execution_id', 'at', 'kind', 'body'], more));
    await sweepAll(stores, events());
    expect(await seqs(runId)).toEqual([1, 1_001, 2_001, 3_001, 4_001, 5_001, 6_000].map((n) => last + n));
  });

  it('removes what old runs made and were given, with the bytes, by its own time', async () => {
    const [old, young] = [await endedRun(91, 5), await endedRun(89, 5)];
    await sweepAll(stores, artifacts());
    for (const table of ['artifact', 'attachment']) {
      expect(await count(stores, `${table} WHERE run_id = ?`, old)).toBe(0);
      expect(await count(stores, `${table} WHERE run_id = ?`, young)).toBe(1);
    }
    expect(await stores.artifacts.ofRuns([old], 10)).toEqual(new Map());
    expect((await seqs(old)).length).toBeGreaterThan(2);
  });

  it('looks at each end once, and again from the cutoff on where a clock had run ahead', async () => {
    const again = async (place: string) => {
      await meddle(stores, 'UPDATE sweep SET done_at = 0, place = ? WHERE name = ?', place, events().name);
      await sweeperOf(stores, [events()]).ask();
    };
    const runId = await endedRun(91, 10);
    await again(`${NOW_MS - 91 * DAY_MS} ~`);
    expect((await seqs(runId)).length).toBeGreaterThan(3);
    await again(`${NOW_MS + 400 * DAY_MS} x`);
    expect(Number((await sweepState(stores, events()))?.place.split(' ')[0])).toBeLessThanOrEqual(
      Date.now() - 90 * DAY_MS,
    );
    await again(`${NOW_MS - 92 * DAY_MS} x`);
    expect(await seqs(runId)).toHaveLength(1);
  });
});

await onEachBackend('retention of histories', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  /** Recorded passes, a minute apart; oldest first. */
  async function passes(
    factoryUid: string,
    howMany: number,
    ageDays: number,
    more: { ending?: string; revisionId?: string } = {},
  ): Promise<string[]> {
    const values = Array.from({ length: howMany }, (_, n) => {
      const at = NOW_MS - ageDays * DAY_MS + n * 60_000;
      return [
        idAt(at),
        factoryUid,
        '[]',
        at,
        at,
        more.ending ?? 'blocked',
        '[]',
        '[]',
        '[]',
        '{}',
        0,
        more.revisionId ?? null,
      ];
    });
    await stores.database.run(() =>
      insert(
        'sync_pass',
        [
          'id',
          'factory_uid',
          'triggers',
          'started_at',
          'finished_at',
          'ending',
          'problems',
          'changes',
          'held',
          'timings',
          'superseded',
          'revision_id',
        ],
        values,
      ),
    );
    return values.map(([id]) => id as string);
  }

  const kept = async (factoryUid: string): Promise<string[]> =>
    (
      await select<{ id: string }>(stores, 'SELECT id FROM sync_pass WHERE factory_uid = ? ORDER BY id', factoryUid)
    ).map(({ id }) => id);

  it.each([
    { ageDays: 200, left: RETAINED_ENTRIES_MIN, why: 'the latest are kept, however old' },
    { ageDays: 80, left: 70, why: 'they are young' },
  ])('keeps $left of 70 passes of $ageDays days: $why', async ({ ageDays, left }) => {
    const { uid } = await seedFactory(stores);
    const ids = await passes(uid, 70, ageDays);
    await sweepAll(stores, historySweep(90));
    expect(await kept(uid)).toEqual(ids.slice(-left));
  });

  it('keeps the pass that applied last, and the last of each revision that something serves', async () => {
    const { uid } = await seedFactory(stores);
    const [, applied] = await passes(uid, 2, 300, { ending: 'applied' });
    const [, seen] = await passes(uid, 2, 250, { revisionId: 'aaaa' });
    const [, served] = await passes(uid, 2, 240, { revisionId: 'bbbb' });
    const rest = await passes(uid, 60, 200);
    await meddle(stores, "UPDATE factory SET revision_seen = 'main@sha1:aaaa' WHERE uid = ?", uid);
    await stores.database.run(() =>
      insert(
        'automation',
        [
          'uid',
          'factory_uid',
          'slug',
          'enabled',
          'path',
          'definition',
          'revision',
          'version',
          'created_at',
          'updated_at',
        ],
        [[unique('auto_'), uid, 'a', 1, 'p', '{}', 'main@sha1:bbbb', 1, 1, 1]],
      ),
    );
    await sweepAll(stores, historySweep(90));
    expect(await kept(uid)).toEqual([applied, seen, served, ...rest.slice(-RETAINED_ENTRIES_MIN)]);
  });

  it('gets through a history of many passes, and through events', async () => {
    const { uid } = await seedFactory(stores);
    const ids = await passes(uid, 1_200, 200);
    const told = Array.from({ length: 80 }, (_, n) => [
      idAt(NOW_MS - 200 * DAY_MS + n),
      uid,
      NOW_MS - 200 * DAY_MS,
      'Normal',
      'r',
      'm',
    ]);
    await stores.database.run(() =>
      insert('factory_event', ['id', 'factory_uid', 'at', 'type', 'reason', 'message'], told),
    );
    await sweepAll(stores, historySweep(90));
    expect(await kept(uid)).toEqual(ids.slice(-RETAINED_ENTRIES_MIN));
    expect(await stores.events.list(uid, 100)).toHaveLength(RETAINED_ENTRIES_MIN);
  });

  it('removes the audit trail behind its time, and nothing before', async () => {
    const { factoryUid } = await seedServed(stores);
    const entries = [500, 401, 399, 1].map((days) => [
      idAt(NOW_MS - days * DAY_MS),
      NOW_MS - days * DAY_MS,
      'somebody',
      `of.${days}`,
      's',
      factoryUid,
      '{}',
    ]);
    const flood = Array.from({ length: 1_100 }, (_, n) => [idAt(n), n, 'somebody', 'of.flood', 's', factoryUid, '{}']);
    await stores.database.run(() =>
      insert(
        'audit_entry',
        ['id', 'at', 'principal_uid', 'action', 'subject', 'factory_uid', 'details'],
        [...entries, ...flood],
      ),
    );
    await sweepAll(stores, auditSweep(400));
    const listed = await stores.audit.list({ factoryUid, principalUid: 'somebody' }, 100);
    expect(listed.map(({ action }) => action)).toEqual(['of.1', 'of.399']);
  });

  it('does what is due, and each in its own time', async () => {
    await sweepAll(stores, historySweep(90), auditSweep(400));
    const rows = await select<{ name: string; done_at: number }>(
      stores,
      "SELECT name, done_at FROM sweep WHERE name IN ('audit', 'factory history') ORDER BY name",
    );
    await meddle(stores, "UPDATE sweep SET done_at = done_at - 3600001 WHERE name IN ('audit', 'factory history')");
    await sweeperOf(stores, [historySweep(90), auditSweep(400)]).ask();
    const after = await select<{ name: string; done_at: number }>(
      stores,
      "SELECT name, done_at FROM sweep WHERE name IN ('audit', 'factory history') ORDER BY name",
    );
    expect(after[0]?.done_at).toBeGreaterThanOrEqual(rows[0]?.done_at ?? Infinity);
    expect(after[1]?.done_at).toBe((rows[1]?.done_at ?? 0) - 3_600_001);
  });
});
