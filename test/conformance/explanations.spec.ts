/** What explanations look up, on every database. spec: Webhook delivery; contract §4. */
import { ExplanationStore } from '../../apps/server/store/reports/explanations.ts';
import { onEachBackend, type Stores } from './backends.ts';
import { apply, arrivalAt, automationOf, newId, seedServed, unique } from './seeds.ts';

await onEachBackend('explanations', (world) => {
  let stores: Stores;
  let explanations: ExplanationStore;
  beforeEach(() => {
    stores = world.stores;
    explanations = new ExplanationStore(stores.database);
  });

  it('tell of definitions as they are now, deleted ones too', async () => {
    const { factoryUid, fence, webhookUid, automationUid } = await seedServed(stores);
    const more = automationOf(unique('auto_'), 'audit', [webhookUid]);
    await apply(stores, factoryUid, fence, [more], [{ kind: 'automation', uid: automationUid }], 'r2');
    const found = await explanations.automations(factoryUid);
    expect(found).toMatchObject([
      { slug: 'audit', uid: more.uid, path: more.path, revision: 'r2' },
      { slug: 'triage', uid: automationUid, revision: 'r2', deletedAtMs: expect.any(Number) },
    ]);
    expect(found[0]?.deletedAtMs).toBeUndefined();
    expect(await explanations.webhook(webhookUid)).toMatchObject({
      slug: 'orders',
      createdAtMs: expect.any(Number),
      updatedAtMs: expect.any(Number),
    });
    expect(await explanations.webhook('wh_none')).toBeUndefined();
  });

  it('read what many automations say', async () => {
    const { factoryUid, fence, webhookUid } = await seedServed(stores);
    const many = Array.from({ length: 120 }, (_, n) =>
      automationOf(unique('auto_'), `a${n}`, [webhookUid], { prompt: `do ${n}` }),
    );
    await apply(stores, factoryUid, fence, many);
    const said = await explanations.definitions(many.map(({ uid }) => uid));
    expect(many.map(({ uid }) => said.get(uid)?.prompt)).toEqual(many.map((_, n) => `do ${n}`));
    expect(await explanations.definitions([])).toEqual(new Map());
  });

  it('find the accepted delivery that an entry repeats, of the same webhook and before it', async () => {
    const [served, other] = [await seedServed(stores), await seedServed(stores)];
    const identity = unique('d-');
    const [first, foreign] = [
      await arrivalAt(stores, served, { identity }),
      await arrivalAt(stores, other, { identity }),
    ];
    for (const one of [first, foreign])
      expect(await stores.deliveries.acceptOnce(one)).toMatchObject({ kind: 'accepted' });
    const repeated = newId();
    expect(await explanations.original(served.webhookUid, identity, repeated)).toBe(first.entryId);
    expect(await explanations.original(served.webhookUid, identity, first.entryId)).toBeUndefined();
    expect(await explanations.original(served.webhookUid, unique('d-'), repeated)).toBeUndefined();
  });
});
