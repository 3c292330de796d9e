/**
 * Stored bytes that are delivered again, on every database: numbered in the transaction that accepts them, by whichever
 * replica. contract §5.9 (Log).
 */
import { DELIVERIES_PER_MINUTE_MAX, resendIdentity } from '#deliveries';
import type { DeliveryOutcome, PendingDelivery } from '../../apps/server/store/deliveries/pending-deliveries.ts';
import type { ResendRequest } from '../../apps/server/store/deliveries/delivery-entries.ts';
import { count, identityCount, select, meddle, onEachBackend, type Stores } from './backends.ts';
import {
  ageSlots,
  arrival,
  arrivalAt,
  newId,
  runOf,
  seedServed,
  servingVersion,
  slotsOf,
  type Served,
} from './seeds.ts';

await onEachBackend('resends', (world) => {
  let served: Served;
  let stores: Stores;
  let original: string;
  beforeEach(async () => {
    stores = world.stores;
    served = await seedServed(stores);
    const first = await arrivalAt(stores, served, { identity: 'first' });
    await stores.deliveries.acceptOnce(first);
    original = first.entryId;
  });

  async function resend(more: Partial<ResendRequest> = {}, version?: number): Promise<PendingDelivery> {
    const { entryId, ...rest } = arrival(served, {
      version: version ?? (await servingVersion(stores, served.factoryUid)),
    });
    const as: ResendRequest['as'] = (n) => {
      const { value: deliveryId, hash: identity } = resendIdentity(more.of ?? original, n);
      return {
        deliveryId,
        identity,
        runs: [runOf(served, { entryId, deliveryId, automationUid: served.automationUid })],
        decision: '{"started":[],"skipped":[]}',
      };
    };
    return {
      ...rest,
      entryId,
      deliveryId: '',
      verdict: {
        kind: 'resend',
        of: original,
        as,
        payload: Buffer.from('{"a":1}'),
        payloadEncoding: 'identity',
        by: { id: newId(), principalUid: 'user_admin' },
        ...more,
      },
    };
  }

  const names = async (): Promise<string[]> =>
    (
      await select<{ delivery_id: string }>(
        stores,
        'SELECT delivery_id FROM delivery WHERE resent_from = ? ORDER BY delivery_id',
        original,
      )
    ).map(({ delivery_id: id }) => id);
  const numbered = (upTo: number): string[] =>
    Array.from({ length: upTo }, (_, position) => `resend:${original}:${position + 1}`).sort();

  it('answers the entry as it is stored', async () => {
    const one = await resend();
    const acceptance = await stores.deliveries.acceptOnce(one);
    expect(acceptance).toMatchObject({ kind: 'accepted', entry: { ...(await stores.deliveries.find(one.entryId)) } });
    expect(await stores.deliveries.find(one.entryId)).toMatchObject({
      delivery_id: `resend:${original}:1`,
      resent_from: original,
      outcome: 'accepted',
    });
    expect(await select(stores, 'SELECT delivery_id FROM run WHERE entry_id = ?', one.entryId)).toEqual([
      { delivery_id: `resend:${original}:1` },
    ]);
    expect(await stores.audit.list({ subject: original }, 10)).toMatchObject([
      { action: 'delivery.resend', details: { webhook: served.webhookUid, entry: one.entryId } },
    ]);
  });

  it('of two replicas at once are numbered without a gap, beside deliveries, and each identity is new', async () => {
    const other = await world.another();
    const wanted = await Promise.all(
      Array.from({ length: 40 }, (_, position) => (position % 4 === 3 ? arrivalAt(stores, served) : resend())),
    );
    const before = await identityCount(stores);
    const answers = await Promise.all(
      wanted.map((one, position) => (position % 2 === 0 ? stores : other).deliveries.acceptOnce(one)),
    );
    expect(answers.map(({ kind }) => kind)).toEqual(wanted.map(() => 'accepted'));
    expect(await names()).toEqual(numbered(30));
    expect(await identityCount(stores)).toBe(before + 40);
    expect(await count(stores, 'audit_entry WHERE subject = ?', original)).toBe(30);
  });

  it('over the rate take no number', async () => {
    const answers = await Promise.all(
      Array.from({ length: DELIVERIES_PER_MINUTE_MAX + 5 }, async () => stores.deliveries.acceptOnce(await resend())),
    );
    const kinds = (kind: DeliveryOutcome['kind']): number => answers.filter((answer) => answer.kind === kind).length;
    expect([kinds('accepted'), kinds('throttled')]).toEqual([DELIVERIES_PER_MINUTE_MAX - 1, 6]);
    expect(await names()).toEqual(numbered(DELIVERIES_PER_MINUTE_MAX - 1));
    const later = await ageSlots(stores, served.webhookUid, 60_000);
    expect(await later.deliveries.acceptOnce(await resend())).toMatchObject({
      entry: { delivery_id: `resend:${original}:${DELIVERIES_PER_MINUTE_MAX}` },
    });
  });

  it('whose answer cannot be stored with them leave nothing, and harm nobody beside them', async () => {
    class Lost extends Error {}
    const lost = await resend({
      *also() {
        yield* [];
        throw new Lost();
      },
    });
    const [before, beside, after] = [await resend(), await arrivalAt(stores, served), await resend()];
    const answers = await Promise.allSettled(
      [before, lost, beside, after].map((one) => stores.deliveries.acceptOnce(one)),
    );
    expect(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.kind : answer.reason instanceof Lost)),
    ).toEqual(['accepted', true, 'accepted', 'accepted']);
    expect(await names()).toEqual(numbered(2));
    expect(await count(stores, 'run WHERE entry_id = ?', lost.entryId)).toBe(0);
    expect(await slotsOf(stores, served.webhookUid)).toHaveLength(4);
    // What a failed transaction remembered of the window would count here.
    const rest = await Promise.all(
      Array.from({ length: DELIVERIES_PER_MINUTE_MAX - 3 }, async () => stores.deliveries.acceptOnce(await resend())),
    );
    expect(rest.filter(({ kind }) => kind === 'accepted')).toHaveLength(DELIVERIES_PER_MINUTE_MAX - 4);
  });

  it('by definitions that have moved store nothing', async () => {
    expect(await stores.deliveries.acceptOnce(await resend({}, 0))).toEqual({ kind: 'stale' });
    expect([await names(), (await slotsOf(stores, served.webhookUid)).length]).toEqual([[], 1]);
  });

  it('of an entry that was removed say so and take no slot', async () => {
    const one = await resend();
    await meddle(stores, 'DELETE FROM delivery WHERE entry_id = ?', original);
    expect(await stores.deliveries.acceptOnce(one)).toEqual({ kind: 'gone' });
    expect(await slotsOf(stores, served.webhookUid)).toEqual([]);
    expect(await stores.deliveries.acceptOnce(await arrivalAt(stores, served))).toEqual({ kind: 'accepted' });
  });

  it('wait for the turn of their group like every delivery, and answer what was found busy', async () => {
    const grouped = (): ResendRequest['as'] => (n) => {
      const { value: deliveryId, hash: identity } = resendIdentity(original, n);
      const run = runOf(served, {
        deliveryId,
        automationUid: served.automationUid,
        concurrencyGroup: `group of ${original}`,
        whenBusy: 'skip',
      });
      return {
        deliveryId,
        identity,
        runs: [run],
        decision: JSON.stringify({
          started: [{ automation_id: served.automationUid, run_id: run.runId }],
          skipped: [],
        }),
      };
    };
    const [first, second] = await Promise.all(
      [resend({ as: grouped() }), resend({ as: grouped() })].map(async (one) =>
        stores.deliveries.acceptOnce(await one),
      ),
    );
    const decisions = [first, second].map((answer) =>
      answer?.kind === 'accepted'
        ? (JSON.parse(answer.entry?.decision ?? '{}') as { started: unknown[]; skipped: { reason: string }[] })
        : undefined,
    );
    expect(
      decisions.map((decision) => [decision?.started.length, decision?.skipped.map(({ reason }) => reason)]),
    ).toEqual(
      expect.arrayContaining([
        [1, []],
        [0, ['busy']],
      ]),
    );
  });
});
