/**
 * What belongs to a run on every database: files of its requests, what it made, what is told of it, what it can be made
 * of. contract §3.
 */
import { createHash } from 'node:crypto';
import { conversationOf } from '#agents';
import { followupOutcome, timelineOf, type ReadArtifact, type RunState } from '#runs';
import type { NewAttachment } from '../../apps/server/store/runs/run-files.ts';
import type { ChangedBy } from '../../apps/server/store/access/audit.ts';
import type { Claim } from '../../apps/server/store/runs/runs.ts';
import { change } from '../../apps/server/store/database/transactions.ts';
import { count, select, meddle, onEachBackend, type Stores } from './backends.ts';
import { apply, automationOf, begin, claimedRun, claimRun, newId, runOf, seedFactory, unique } from './seeds.ts';

const file = (fileName: string, content = fileName): NewAttachment => ({
  fileName,
  mimeType: 'text/plain',
  content: Buffer.from(content),
});
const by = (): ChangedBy => ({ id: newId(), principalUid: 'user_admin', keyId: 'key', address: '192.0.2.1' });

await onEachBackend('what belongs to a run', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const created = async (
    more: Parameters<typeof runOf>[1] = {},
    attachments: NewAttachment[] = [],
  ): Promise<string> => {
    const run = runOf({}, more);
    await stores.runs.create(run, { attachments });
    return run.runId;
  };
  const followup = (
    runId: string,
    message: string,
    more: { attachments?: NewAttachment[]; mode?: 'plan' | 'orchestrate' } = {},
    of = stores,
  ) =>
    of.runs.followup({ followupId: newId(), runId, principalUid: 'user_admin', message, ...more }, (run, facts) =>
      followupOutcome(run.state as RunState, {
        ...facts,
        promptClaimed: run.prompt_taken_at !== null,
        agentConcurrent: false,
        cancelRequested: false,
      }),
    );
  const taken = async (claim: Claim) => {
    await stores.runs.prepare(claim);
    const task = await stores.runs.begin(claim);
    const files = await Promise.all(
      (task?.attachments ?? []).map(async (attachment) => [
        attachment.fileName,
        Buffer.from((await stores.attachments.content(attachment)) ?? []).toString(),
      ]),
    );
    return { ...task, files };
  };
  const end = (claim: Claim) => stores.runs.finish(claim, { state: 'SUCCEEDED', message: 'done' });
  const actionsOf = async (runId: string): Promise<string[]> =>
    (
      await select<{ action: string }>(
        stores,
        'SELECT action FROM audit_entry WHERE subject = ? ORDER BY at, id',
        runId,
      )
    ).map(({ action }) => action);

  describe('a create', () => {
    it('stores run, files, audit entry and whatever else, or nothing of them', async () => {
      const run = runOf({}, { metadata: '{"a":"b"}' });
      const around = { by: by(), attachments: [file('a'), file('b')] };
      const refused = stores.runs.create(run, {
        ...around,
        *also() {
          yield* change('UPDATE no_such_table SET x = 1');
        },
      });
      await expect(refused).rejects.toBeDefined();
      for (const table of ['run', 'attachment', 'run_metadata'])
        expect(await count(stores, `${table} WHERE run_id = ?`, run.runId)).toBe(0);
      expect(await actionsOf(run.runId)).toEqual([]);
      const seen: number[] = [];
      const made = await stores.runs.create(run, {
        ...around,
        *also({ waiting }) {
          seen.push(waiting);
          yield* change('UPDATE run SET title = ? WHERE run_id = ?', 'also', run.runId);
        },
      });
      expect(seen).toEqual([made?.waiting]);
      expect((await stores.runs.find(run.runId))?.title).toBe('also');
      expect(await count(stores, 'attachment WHERE run_id = ?', run.runId)).toBe(2);
      expect(await actionsOf(run.runId)).toEqual(['run.create']);
    });

    it('counts the runs that wait beside it', async () => {
      await meddle(stores, "UPDATE run SET state = 'CANCELLED' WHERE state = 'QUEUED'");
      expect((await stores.runs.create(runOf({})))?.waiting).toBe(0);
      expect((await stores.runs.create(runOf({})))?.waiting).toBe(1);
    });

    it('in a factory that was deleted makes nothing', async () => {
      const { uid } = await seedFactory(stores);
      await meddle(stores, 'UPDATE factory SET deleted_at = 1 WHERE uid = ?', uid);
      const run = runOf({}, { factoryUid: uid });
      expect(await stores.runs.create(run, { by: by() })).toBeUndefined();
      expect(await stores.runs.find(run.runId)).toBeUndefined();
    });

    it('is counted by its factory while it waits, and without one under nothing', async () => {
      await meddle(stores, "UPDATE run SET state = 'CANCELLED' WHERE state = 'QUEUED'");
      await created({ factoryUid: 'f1' });
      await created();
      await created();
      expect(await stores.runs.waiting()).toEqual(
        new Map([
          ['f1', 1],
          ['', 2],
        ]),
      );
    });
  });

  describe('files of requests', () => {
    it('go to the execution that takes them, byte for byte', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
      const run = runOf({});
      await stores.runs.create(run, { attachments: [{ fileName: 'bytes', mimeType: 'a/b', content: bytes }] });
      const claim = await claimRun(stores, run.runId);
      await stores.runs.prepare(claim);
      const [attachment] = (await stores.runs.begin(claim))?.attachments ?? [];
      expect(attachment).toEqual({ runId: run.runId, followupId: '', fileName: 'bytes' });
      expect(
        new Uint8Array((await stores.attachments.content(attachment as NonNullable<typeof attachment>)) ?? []),
      ).toEqual(bytes);
    });

    it('of what was joined to the prompt go with the prompt, of what came later with the next execution', async () => {
      const runId = await created({}, [file('first')]);
      await followup(runId, 'joined', { attachments: [file('joined')] });
      const claim = await claimRun(stores, runId);
      await stores.runs.prepare(claim);
      await followup(runId, 'along', { attachments: [file('along')] });
      expect((await taken(claim)).files.map(([name]) => name)).toEqual(['first', 'joined', 'along']);
      await followup(runId, 'later', { attachments: [file('later')] });
      await end(claim);
      const second = await taken(await claimRun(stores, runId));
      expect(second).toMatchObject({ prompt: 'later', files: [['later', 'later']] });
    });

    it('are given to the execution that takes over', async () => {
      const runId = await created({}, [file('first')]);
      const lost = await claimRun(stores, runId);
      expect((await taken(lost)).files).toHaveLength(1);
      await followup(runId, 'later', { attachments: [file('later')] });
      await stores.runs.reclaim(runId, lost.epoch, 'requeue');
      expect((await taken(await claimRun(stores, runId))).files.map(([name]) => name).toSorted()).toEqual([
        'first',
        'later',
      ]);
    });

    it('of the same name keep their own, also when they come at once', async () => {
      const other = await world.another();
      const runId = await created({}, [file('log.txt', '0')]);
      await Promise.all(
        [1, 2, 3, 4].map((n) =>
          followup(runId, 'more', { attachments: [file('LOG.txt', String(n))] }, n % 2 === 0 ? stores : other),
        ),
      );
      const files = (await taken(await claimRun(stores, runId))).files;
      expect(files.map(([name]) => name?.toLowerCase()).toSorted()).toEqual([
        'log-2.txt',
        'log-3.txt',
        'log-4.txt',
        'log-5.txt',
        'log.txt',
      ]);
      expect(files.map(([, content]) => content).toSorted()).toEqual(['0', '1', '2', '3', '4']);
    });

    it('are counted with those that the run has already', async () => {
      const runId = await created({}, [file('a', 'xx')]);
      const facts: unknown[] = [];
      for (const attachments of [[file('b', 'yyy'), file('c', 'z')], []]) {
        await stores.runs.followup(
          { followupId: newId(), runId, principalUid: 'u', message: 'x', attachments },
          (_run, { attachments: counted }) => {
            facts.push(counted);
            return { ok: false, reason: 'attachments-too-many' };
          },
        );
      }
      expect(facts).toEqual([
        { count: 3, bytes: 6 },
        { count: 0, bytes: 0 },
      ]);
      expect(await count(stores, 'attachment WHERE run_id = ?', runId)).toBe(1);
      expect(await actionsOf(runId)).toEqual([]);
    });
  });

  describe('the mode of an execution', () => {
    it.each([
      { of: 'plan', followups: [], mode: 'plan', why: 'the run’s' },
      { of: 'plan', followups: [undefined], mode: 'plan', why: 'a message that joins the prompt says nothing else' },
      { of: 'normal', followups: ['plan', 'orchestrate'], mode: 'orchestrate', why: 'the latest message says so' },
    ] as const)('is $mode: $why', async ({ of, followups, mode }) => {
      const runId = await created({ mode: of });
      for (const each of followups) await followup(runId, 'x', { mode: each });
      expect((await taken(await claimRun(stores, runId))).mode).toBe(mode);
    });

    it('that goes on is normal again, unless the message says otherwise', async () => {
      const runId = await created({ mode: 'plan' });
      const first = await claimRun(stores, runId);
      expect((await taken(first)).mode).toBe('plan');
      await end(first);
      await followup(runId, 'x');
      const second = await claimRun(stores, runId);
      expect((await taken(second)).mode).toBe('normal');
      await end(second);
      await followup(runId, 'x', { mode: 'orchestrate' });
      expect((await taken(await claimRun(stores, runId))).mode).toBe('orchestrate');
    });
  });

  describe('artifacts', () => {
    const artifact = (filePath: string, text: string, more: Partial<ReadArtifact> = {}) => ({
      type: 'FILE' as const,
      artifactUid: newId(),
      content: Buffer.from(text),
      details: {
        fileName: filePath,
        filePath,
        mimeType: 'text/plain',
        sizeBytes: text.length,
        digest: createHash('sha256').update(text).digest('hex'),
      },
      ...more,
    });

    it('are kept with their bytes and found by their runs', async () => {
      const claim = await claimedRun(stores, { factoryUid: 'f' }, true);
      const one = artifact('a', 'A');
      expect(await stores.artifacts.save(claim, one)).toBe('kept');
      expect(await stores.artifacts.find(one.artifactUid)).toEqual({
        artifactUid: one.artifactUid,
        runId: claim.runId,
        factoryUid: 'f',
        type: 'FILE',
        atMs: expect.any(Number),
        details: one.details,
      });
      expect(Buffer.from((await stores.artifacts.content(one.artifactUid)) ?? []).toString()).toBe('A');
      const link = artifact('b', 'B', {
        type: 'PULL_REQUEST',
        details: { filePath: 'b', digest: 'x', url: 'https://x', branch: 'y' },
      });
      await stores.artifacts.save(claim, link);
      expect(await stores.artifacts.content(link.artifactUid)).toBeUndefined();
      const bare = await created();
      const found = await stores.artifacts.ofRuns([claim.runId, bare], 100);
      expect([...found].map(([runId, kept]) => [runId, kept.map(({ artifactUid }) => artifactUid)])).toEqual([
        [claim.runId, [one.artifactUid, link.artifactUid]],
      ]);
      expect(
        (await stores.artifacts.ofRuns([claim.runId], 1)).get(claim.runId)?.map(({ artifactUid }) => artifactUid),
      ).toEqual([link.artifactUid]);
      expect(await stores.artifacts.find(newId())).toBeUndefined();
    });

    it('that have not changed are not kept twice, changed ones are', async () => {
      const claim = await claimedRun(stores, {}, true);
      const answers = [];
      for (const [path, text] of [
        ['a', '1'],
        ['a', '1'],
        ['a', '2'],
        ['a', '1'],
        ['b', '1'],
      ] as const)
        answers.push(await stores.artifacts.save(claim, artifact(path, text)));
      expect(answers).toEqual(['kept', 'unchanged', 'kept', 'kept', 'kept']);
    });

    it('are bounded for an execution, and nothing for a stale epoch', async () => {
      const claim = await claimedRun(stores, {}, true);
      const answers = [];
      for (let n = 0; n < 21; n += 1) answers.push(await stores.artifacts.save(claim, artifact(`f${n}`, 'x')));
      expect(answers.filter((answer) => answer === 'kept')).toHaveLength(20);
      expect(answers.at(-1)).toBe('full');
      await stores.runs.reclaim(claim.runId, claim.epoch, 'requeue');
      expect(await stores.artifacts.save(claim, artifact('late', 'x'))).toBe('lost');
      expect(await stores.artifacts.save(await claimRun(stores, claim.runId), artifact('next', 'x'))).toBe('kept');
    });
  });

  describe('what is told of a run', () => {
    it('has every step of its executions', async () => {
      const runId = await created();
      await stores.runs.cancel(runId, { by: by() });
      await followup(runId, 'go on');
      const lost = await claimRun(stores, runId);
      await stores.runs.prepare(lost);
      await stores.runs.begin(lost);
      await stores.runs.reclaim(runId, lost.epoch, 'requeue');
      const claim = await claimRun(stores, runId);
      await stores.runs.prepare(claim);
      await stores.runs.begin(claim);
      await stores.runs.cancel(runId, { by: by() });
      await stores.runs.cancel(runId, { by: by() });
      await end(claim);
      const history = await stores.histories.history(runId);
      expect(history && timelineOf(history).map(({ type }) => type)).toEqual([
        'oz_run_created',
        'run_cancel_requested',
        'oz_run_cancelled',
        'run_followup',
        'oz_run_claimed',
        'worker_container_ready',
        'agent_started',
        'run_taken_over',
        'oz_run_claimed',
        'worker_container_ready',
        'agent_started',
        'run_cancel_requested',
        'oz_run_cancelled',
      ]);
      expect(await actionsOf(runId)).toEqual(['run.cancel', 'run.cancel']);
      expect(await stores.histories.history(newId())).toBeUndefined();
    });

    it('has what each execution was asked and what it said, and not what another said', async () => {
      const runId = await created({ prompt: 'one' });
      const said: unknown[] = [];
      const claims: Claim[] = [];
      for (const word of ['first', 'second', 'third']) {
        const claim = await claimRun(stores, runId);
        claims.push(claim);
        await begin(stores, claim);
        const events = [word, `${word} more`].map((text, n) => ({
          kind: 'stdout',
          atMs: 7 + n,
          body: JSON.stringify({ text }),
        }));
        await stores.runs.append(claim, [...events, { kind: 'stderr', atMs: 9, body: '{"text":"not this"}' }]);
        await followup(runId, `after ${word}`);
        await end(claim);
      }
      for (const claim of claims) said.push(await stores.histories.said(runId, claim));
      expect(said).toEqual([
        { text: 'firstfirst more', atMs: 7 },
        { text: 'secondsecond more', atMs: 7 },
        { text: 'thirdthird more', atMs: 7 },
      ]);
      const spoken = await stores.histories.spoken(runId);
      expect(spoken && conversationOf(spoken).map(({ asked }) => asked.map(({ text }) => text))).toEqual([
        ['one'],
        ['after first'],
        ['after second'],
        ['after third'],
      ]);
      const silent = await claimedRun(stores, {}, true);
      expect(await stores.histories.said(silent.runId, silent)).toBeUndefined();
    });

    it('finds the runs of a conversation that may be seen, from any of them on', async () => {
      const root = await created({ factoryUid: 'f1' });
      const others: string[] = [];
      for (const factoryUid of ['f2', 'f1', undefined])
        others.push(await created({ factoryUid, conversationId: root }));
      const all = [root, ...others];
      const { histories } = stores;
      expect(await histories.runsIn(root, undefined, 10)).toEqual(all);
      expect(await histories.runsIn(root, undefined, 2)).toEqual(all.slice(0, 2));
      expect(await histories.runsIn(root, undefined, 10, root)).toEqual(all);
      expect(await histories.runsIn(root, undefined, 10, others[1])).toEqual(all.slice(2));
      expect(await histories.runsIn(root, ['f2'], 10)).toEqual([others[0]]);
      expect(await histories.runsIn(root, ['f1', 'f2'], 10)).toEqual([root, others[0], others[1]]);
      expect(await histories.runsIn(root, [], 10)).toEqual([]);
      expect(await histories.runsIn(String(others[0]), undefined, 10)).toEqual([]); // it continues another’s
      expect([
        await histories.hasConversation(root, ['f2']),
        await histories.hasConversation(root, ['f3']),
        await histories.hasConversation(newId(), undefined),
      ]).toEqual([true, false, false]);
    });

    it('says where a run stands without its texts', async () => {
      const claim = await claimedRun(stores, { factoryUid: 'f' }, true);
      await stores.runs.finish(claim, { state: 'FAILED', message: 'no', errorCode: 'internal_error', retryable: true });
      expect(await stores.runs.status(claim.runId)).toEqual({
        run_id: claim.runId,
        factory_uid: 'f',
        state: 'FAILED',
        status_message: 'no',
        error_code: 'internal_error',
        retryable: 1,
        updated_at: expect.any(Number),
      });
      expect(await stores.runs.status(newId())).toBeUndefined();
    });
  });

  describe('what runs can be made of', () => {
    const skillOf = (slug: string) => ({
      kind: 'skill' as const,
      uid: unique('skl_'),
      slug,
      path: `skills/${slug}/SKILL.md`,
      definition: { name: slug, path: `skills/${slug}/SKILL.md`, text: 'Do it.', files: [] },
    });
    const environmentOf = (slug: string) => ({
      kind: 'environment' as const,
      uid: unique('env_'),
      slug,
      path: `environments/${slug}.yaml`,
      definition: { name: slug, path: `environments/${slug}.yaml` },
    });

    it('is what live factories have applied, as far as it may be seen', async () => {
      const [one, two] = [await seedFactory(stores), await seedFactory(stores)];
      const [review, node] = [skillOf('review'), environmentOf('node')];
      const gone = skillOf('gone');
      await apply(stores, one.uid, one.fence, [
        review,
        node,
        gone,
        automationOf(unique('auto_'), 'a', [], { agent: { model: 'of-one' } }),
        automationOf(unique('auto_'), 'b', []),
      ]);
      await apply(stores, one.uid, one.fence, [], [{ kind: 'skill', uid: gone.uid }]);
      await apply(stores, two.uid, two.fence, [
        skillOf('review'),
        automationOf(unique('auto_'), 'a', [], { agent: { model: 'of-two' } }),
      ]);
      const { catalogue } = stores;
      expect(
        (await catalogue.skills([one.uid])).map(({ uid, slug, path, definition, factory }) => ({
          uid,
          slug,
          path,
          text: definition.text,
          factory,
        })),
      ).toEqual([
        {
          uid: review.uid,
          slug: 'review',
          path: 'skills/review/SKILL.md',
          text: 'Do it.',
          factory: { uid: one.uid, slug: one.slug, source: { kind: 'directory', path: '/srv/x' } },
        },
      ]);
      expect(await catalogue.skills([one.uid, two.uid])).toHaveLength(2);
      expect((await catalogue.environments([one.uid])).map(({ uid }) => uid)).toEqual([node.uid]);
      expect([
        await catalogue.models([one.uid]),
        await catalogue.models([two.uid]),
        await catalogue.models([]),
      ]).toEqual([['of-one'], ['of-two'], []]);
      expect(await catalogue.models(undefined)).toEqual(expect.arrayContaining(['of-one', 'of-two']));
      await meddle(stores, 'UPDATE factory SET deleted_at = 1 WHERE uid = ?', one.uid);
      for (const found of [
        await catalogue.skills([one.uid]),
        await catalogue.environments([one.uid]),
        await catalogue.models([one.uid]),
      ])
        expect(found).toEqual([]);
    });

    it('was used last by the run of the factory that ended last, under any of its names', async () => {
      const [ours, theirs, name, other] = [unique('f'), unique('f'), unique('skill'), unique('skill')];
      const used = async (factoryUid: string, skillSpec: string, createdAtMs: number): Promise<void> => {
        const claim = await claimedRun(stores, { factoryUid, skillSpec, createdAtMs }, true);
        await stores.runs.finish(claim, { state: 'ERROR', message: 'no', errorCode: `code-${createdAtMs}` });
      };
      const { catalogue } = stores;
      expect(await catalogue.latestUse('skill_spec', ours, [name, other])).toBeUndefined();
      await used(ours, name, 1);
      await used(ours, other, 2);
      await used(theirs, name, 3);
      await created({ factoryUid: ours, skillSpec: name, createdAtMs: 4 }); // it has not ended
      expect(await catalogue.latestUse('skill_spec', ours, [name, other])).toEqual({
        createdAtMs: 2,
        errorCode: 'code-2',
      });
      expect(await catalogue.latestUse('skill_spec', ours, [name])).toEqual({ createdAtMs: 1, errorCode: 'code-1' });
      expect(await catalogue.latestUse('environment_id', ours, [name])).toBeUndefined();
    });
  });
});
