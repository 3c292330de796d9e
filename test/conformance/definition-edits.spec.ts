/** Edits of dashboard factories, and automations as people look at them, on every database. contract §2, §4, §5. */
import type { AppliedObject } from '#reconcile';
import type {
  DefinitionEdit,
  EditableFactory,
  EditContext,
} from '../../apps/server/store/definitions/definition-edits.ts';
import { UnusableSecretError } from '../../apps/server/store/secrets/secret-changes.ts';
import { change } from '../../apps/server/store/database/transactions.ts';
import { count, select, meddle, onEachBackend, type Stores } from './backends.ts';
import {
  apply,
  automationOf,
  newId,
  runOf,
  sealing,
  seedFactory,
  seedServed,
  servingVersion,
  unique,
  webhookOf,
} from './seeds.ts';

await onEachBackend('definition edits', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  const context = <Answer>(more: Partial<EditContext<Answer>> = {}): EditContext<Answer> => ({
    newEntry: () => ({ id: newId(), principalUid: 'user_manager' }),
    ...more,
  });

  async function dashboard(): Promise<string> {
    const uid = unique('fac_');
    const slug = unique('d-');
    expect(
      await stores.factories.create({
        uid,
        slug,
        name: slug,
        description: '',
        source: { kind: 'dashboard' },
        serviceAccountUid: `sa_${uid}`,
      }),
    ).toBe(true);
    return uid;
  }

  const labelled = (object: AppliedObject, name = object.slug) => ({
    object: { ...object, path: '' } as Extract<AppliedObject, { kind: 'webhook' }>,
    name,
  });
  const edit = <Answer>(
    factory: EditableFactory,
    more: Partial<DefinitionEdit<Answer>>,
  ): DefinitionEdit<Answer | undefined> => ({
    ok: true,
    change: { action: 'webhook.change', subject: factory.uid, factoryUid: factory.uid },
    answer: () => undefined,
    ...more,
  });

  it('write secret, webhook and audit entries together, and serve them under a revision of their own', async () => {
    const uid = await dashboard();
    const [secretName, webhookUid] = [unique('s'), unique('wh_')];
    const before = await servingVersion(stores, uid);
    const outcome = await stores.edits.edit(
      uid,
      (factory) =>
        edit(factory, {
          secrets: [{ id: newId(), owner: uid, name: secretName, value: sealing('one') }],
          objects: [labelled(webhookOf(webhookUid, 'orders', secretName), 'Orders')],
          answer: ({ webhooks }) =>
            webhooks.map(({ uid: written, name, version, secret_version: bound }) => [written, name, version, bound]),
        }),
      context(),
    );
    expect(outcome).toEqual({ kind: 'done', answer: [[webhookUid, 'Orders', 1, 1]] });
    const version = await servingVersion(stores, uid);
    expect(version).toBeGreaterThan(before);
    const [served] = (await stores.serving.changedSince(before)).filter((factory) => factory.uid === uid);
    expect(served).toMatchObject({
      revision: `dashboard@${version}`,
      webhooks: [{ uid: webhookUid, name: 'Orders', secret: { version: 1 } }],
    });
    expect(await stores.factories.find(uid)).toMatchObject({
      revisionApplied: `dashboard@${version}`,
      revisionSeen: `dashboard@${version}`,
      revisionAttempted: `dashboard@${version}`,
    });
    expect(
      (
        await select<{ action: string }>(
          stores,
          'SELECT action FROM audit_entry WHERE factory_uid = ? ORDER BY action',
          uid,
        )
      ).map(({ action }) => action),
    ).toEqual(['secret.create', 'webhook.change']);
  });

  it('show what is decided on, and only of this factory', async () => {
    const uid = await dashboard();
    const [team, own, runs, gone] = [unique('t'), unique('o'), unique('r'), unique('wh_')];
    await stores.secrets.put({ id: newId(), owner: 'team', name: team, value: sealing('x') }, undefined);
    await stores.secrets.put({ id: newId(), owner: uid, name: own }, undefined);
    await stores.secrets.put(
      { id: newId(), owner: uid, name: runs, value: sealing('x'), grants: { uses: ['run'] } },
      undefined,
    );
    const automation = automationOf(unique('auto_'), 'act', []);
    const objects = [
      labelled(webhookOf(unique('wh_'), 'a', team)),
      labelled(webhookOf(gone, 'b', own)),
      labelled(automation, 'Act'),
    ];
    await stores.edits.edit(uid, (factory) => edit(factory, { objects }), context());
    await stores.edits.edit(
      uid,
      (factory) => edit(factory, { deletions: [{ kind: 'webhook', uid: gone }] }),
      context(),
    );
    const { factoryUid, fence, webhookUid } = await seedServed(stores);
    await apply(stores, factoryUid, fence, [webhookOf(webhookUid, 'orders', team)]);
    let seen: EditableFactory | undefined;
    await stores.edits.edit(
      uid,
      (factory) => {
        seen = factory;
        return { ok: false, reason: 'looked' };
      },
      context({ automationUid: automation.uid }),
    );
    expect(seen).toMatchObject({
      uid,
      webhooks: [{ slug: 'a', name: 'a' }],
      automations: [{ uid: automation.uid, slug: 'act', name: 'Act' }],
      automation: { uid: automation.uid, version: 1, name: 'Act' },
      deletedWebhookUids: new Set([gone]),
      ownSecretNames: new Set([own, runs]),
      runSecretNames: new Set([runs]),
      secretsUsedElsewhere: new Set([(await stores.secrets.find('team', team))?.id]),
    });
    expect([
      seen?.webhookSecrets.has(team),
      seen?.webhookSecrets.get(own)?.version,
      seen?.webhookSecrets.has(runs),
    ]).toEqual([true, 0, false]);
  });

  it.each([
    {
      why: 'a refusal',
      decide: () => ({ ok: false as const, reason: 'no' }),
      outcome: { kind: 'refused', reason: 'no' },
    },
    {
      why: 'nothing to change',
      decide: () => ({ ok: true as const, answer: () => 'same' }),
      outcome: { kind: 'done', answer: 'same' },
    },
  ])('write nothing after $why', async ({ decide, outcome }) => {
    const uid = await dashboard();
    const before = [
      await stores.factories.find(uid),
      await servingVersion(stores, uid),
      await count(stores, 'audit_entry WHERE factory_uid = ?', uid),
    ];
    expect(await stores.edits.edit<string, string>(uid, decide, context())).toEqual(outcome);
    expect([
      await stores.factories.find(uid),
      await servingVersion(stores, uid),
      await count(stores, 'audit_entry WHERE factory_uid = ?', uid),
    ]).toEqual(before);
  });

  it('are none of factories that files decide, or that are gone', async () => {
    const { uid } = await seedFactory(stores);
    const never = (): never => {
      throw new Error('nothing is to be decided');
    };
    expect(await stores.edits.edit(uid, never, context())).toEqual({ kind: 'managed' });
    const gone = await dashboard();
    await stores.factories.remove(gone);
    expect([
      await stores.edits.edit(gone, never, context()),
      await stores.edits.edit(unique('fac_'), never, context()),
    ]).toEqual([{ kind: 'gone' }, { kind: 'gone' }]);
  });

  it('are whole or not at all: what fails behind the decision takes everything back', async () => {
    const uid = await dashboard();
    const name = unique('s');
    const write = (factory: EditableFactory) =>
      edit(factory, {
        secrets: [{ id: newId(), owner: uid, name, value: sealing('x') }],
        objects: [labelled(webhookOf(unique('wh_'), 'orders', name))],
      });
    const complete = function* () {
      yield* change('UPDATE serving_clock SET version = version');
      throw new Error('the answer could not be kept');
    };
    await expect(stores.edits.edit(uid, write, context({ complete }))).rejects.toThrow('could not be kept');
    expect([
      await stores.webhooks.list(uid),
      await stores.secrets.find(uid, name),
      await count(stores, 'audit_entry WHERE factory_uid = ?', uid),
    ]).toEqual([[], undefined, 0]);
  });

  it('follow each other: of many at once none decides on what another is about to change', async () => {
    const other = await world.another();
    const uid = await dashboard();
    const name = unique('s');
    await stores.secrets.put({ id: newId(), owner: uid, name, value: sealing('x') }, undefined);
    const most = 5;
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? stores : other).edits.edit<undefined, string>(
          uid,
          (factory) =>
            factory.webhooks.length >= most
              ? { ok: false, reason: 'full' }
              : edit(factory, { objects: [labelled(webhookOf(unique('wh_'), `w${n}`, name))] }),
          context(),
        ),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(most);
    expect(await stores.webhooks.list(uid)).toHaveLength(most);
  });

  it('move every webhook that names a secret to its new value, and keep no old one', async () => {
    const uid = await dashboard();
    const [name, one, two] = [unique('s'), unique('wh_'), unique('wh_')];
    await stores.edits.edit(
      uid,
      (factory) =>
        edit(factory, {
          secrets: [{ id: newId(), owner: uid, name, value: sealing('old') }],
          objects: [labelled(webhookOf(one, 'one', name)), labelled(webhookOf(two, 'two', name))],
        }),
      context(),
    );
    const before = await servingVersion(stores, uid);
    await stores.edits.edit(
      uid,
      (factory) => edit(factory, { secrets: [{ id: newId(), owner: uid, name, value: sealing('new') }] }),
      context(),
    );
    const [served] = (await stores.serving.changedSince(before)).filter((factory) => factory.uid === uid);
    expect(served?.webhooks.map(({ secret }) => Buffer.from(secret?.sealed ?? []).toString())).toEqual([
      'new 2',
      'new 2',
    ]);
    const secretId = (await stores.secrets.find(uid, name))?.id ?? '';
    expect(await select(stores, 'SELECT version FROM secret_value WHERE secret_id = ?', secretId)).toEqual([
      { version: 2 },
    ]);
  });

  it('refuse a value that a webhook could not use, and change nothing', async () => {
    const uid = await dashboard();
    const name = unique('s');
    await stores.edits.edit(
      uid,
      (factory) =>
        edit(factory, {
          secrets: [{ id: newId(), owner: uid, name, value: sealing('old') }],
          objects: [labelled(webhookOf(unique('wh_'), 'one', name))],
        }),
      context(),
    );
    const unfit = {
      ...sealing('new'),
      usableFor: { token: false, url_token: false, signature: true, standard_webhooks: false },
    };
    await expect(
      stores.edits.edit(
        uid,
        (factory) => edit(factory, { secrets: [{ id: newId(), owner: uid, name, value: unfit }] }),
        context(),
      ),
    ).rejects.toThrow(UnusableSecretError);
    expect((await stores.secrets.find(uid, name))?.version).toBe(1);
  });

  it('bring a deleted webhook back under its UID, with a version that no state of it has had', async () => {
    const uid = await dashboard();
    const [name, webhookUid] = [unique('s'), unique('wh_')];
    const write = (enabled: boolean) =>
      stores.edits.edit(
        uid,
        (factory) => edit(factory, { objects: [labelled(webhookOf(webhookUid, 'orders', name, { enabled }))] }),
        context(),
      );
    await write(true);
    await stores.edits.edit(
      uid,
      (factory) => edit(factory, { deletions: [{ kind: 'webhook', uid: webhookUid }] }),
      context(),
    );
    expect(await stores.webhooks.find(webhookUid)).toBeUndefined();
    await write(false);
    expect(await stores.webhooks.find(webhookUid)).toMatchObject({ version: 2, enabled: 0, secret_id: null, path: '' });
  });
});

await onEachBackend('automations', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  it('are listed page by page, live ones only', async () => {
    const { uid, fence } = await seedFactory(stores);
    const all = ['a', 'b', 'c', 'd'].map((slug) => automationOf(unique('auto_'), slug, []));
    await apply(stores, uid, fence, all);
    await apply(stores, uid, fence, [], [{ kind: 'automation', uid: all[1]?.uid ?? '' }]);
    expect((await stores.automations.list(uid, 2)).map(({ slug, name }) => [slug, name])).toEqual([
      ['a', 'a'],
      ['c', 'c'],
    ]);
    expect((await stores.automations.list(uid, 2, 'c')).map(({ slug }) => slug)).toEqual(['d']);
    expect([
      (await stores.automations.find(all[0]?.uid ?? ''))?.slug,
      await stores.automations.find(all[1]?.uid ?? ''),
    ]).toEqual(['a', undefined]);
    expect((await stores.automations.slugs(uid)).toSorted()).toEqual(['a', 'c', 'd']);
  });

  it('select the webhooks of their triggers, and none that a filter or a prompt only mentions', async () => {
    const { uid, fence } = await seedFactory(stores);
    const webhook = unique('wh_');
    await apply(stores, uid, fence, [
      automationOf(unique('auto_'), 'selects', ['wh_x', webhook]),
      automationOf(unique('auto_'), 'disabled', [webhook], { enabled: false }),
      automationOf(unique('auto_'), 'mentions', ['wh_x'], { prompt: `about "${webhook}"` }),
      automationOf(unique('auto_'), 'filters', [], {
        triggers: [{ provider: 'webhook', webhookUids: ['wh_x'], payload: { id: [webhook] } }],
      }),
    ]);
    expect((await stores.automations.selecting(uid, webhook)).map(({ slug, enabled }) => [slug, enabled])).toEqual([
      ['disabled', false],
      ['selects', true],
    ]);
  });

  it('keep the text of the file that applies, whether the definition changed or not', async () => {
    const { uid, fence } = await seedFactory(stores);
    const [webhook, automation] = [webhookOf(unique('wh_'), 'orders', 's'), automationOf(unique('auto_'), 'act', [])];
    const applied = (upserts: AppliedObject[], texts: [string, string][]) =>
      stores.definitions.apply({
        factoryUid: uid,
        fence,
        revision: 'r',
        factory: { applyMode: 'atomic' },
        upserts,
        deletions: [],
        texts: new Map(texts),
      });
    await applied(
      [webhook, automation],
      [
        [webhook.path, 'secretName: s\n'],
        [automation.path, '---\n---\nlook\n'],
      ],
    );
    expect([await stores.webhooks.fileText(webhook.uid), await stores.automations.fileText(automation.uid)]).toEqual([
      'secretName: s\n',
      '---\n---\nlook\n',
    ]);
    await applied([], [[webhook.path, 'secretName: s # mine\n']]);
    expect([await stores.webhooks.fileText(webhook.uid), await stores.automations.fileText(automation.uid)]).toEqual([
      'secretName: s # mine\n',
      '---\n---\nlook\n',
    ]);
    expect(await stores.webhooks.find(webhook.uid)).toMatchObject({ version: 1 }); // a comment is no change
  });

  it('last fired when their latest run was created, ended or not, in whatever order they ended', async () => {
    const { uid } = await seedFactory(stores);
    const [busy, ended, open, never] = [unique('auto_'), unique('auto_'), unique('auto_'), unique('auto_')];
    const run = async (automationUid: string, createdAtMs: number, endedAtMs?: number): Promise<void> => {
      const created = runOf({ factoryUid: uid }, { automationUid, entryId: newId(), createdAtMs });
      await stores.runs.create(created);
      await meddle(
        stores,
        'UPDATE run SET created_at = ?, updated_at = ?, state = ? WHERE run_id = ?',
        createdAtMs,
        endedAtMs ?? createdAtMs,
        endedAtMs === undefined ? 'QUEUED' : 'SUCCEEDED',
        created.runId,
      );
    };
    await run(ended, 100, 900); // a long one that ended last
    await run(ended, 300, 400);
    await run(ended, 200, 250);
    await run(busy, 500, 510);
    await run(busy, 700);
    await run(open, 50);
    expect(await stores.automations.lastFired(uid, [busy, ended, open, never])).toEqual(
      new Map([
        [busy, 700],
        [ended, 300],
        [open, 50],
      ]),
    );
    expect(await stores.automations.lastFired(uid, [])).toEqual(new Map());
  });
});
