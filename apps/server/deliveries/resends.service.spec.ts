/** What keeps stored bytes from being delivered again: outages, a full queue, definitions that move. contract §5. */
import { describe, expect, it } from '@jest/globals';
import type { Caller } from '../http/access-guard.ts';
import type { AcceptResult, DeliveryAcceptor } from '../ingress/delivery-acceptor.ts';
import type { ServedWebhook } from '../webhooks/served-webhooks.ts';
import type { Serving } from '../webhooks/serving-state.ts';
import type { DiskWatch } from '../process/disk-watch.ts';
import type { Config } from '../config/config.ts';
import { ResendService } from './resends.service.ts';
import { RefusalError } from '../http/error-codes.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import type { LogStores } from './stored-deliveries.ts';

const ENTRY: DeliveryRow = {
  entry_id: 'e1',
  webhook_uid: 'wh_1',
  factory_uid: 'fac_1',
  delivery_id: 'd1',
  outcome: 'accepted',
  size: 2,
  size_exact: 1,
  received_at: 0,
  client_address: '192.0.2.1',
  revision: 'r',
  entries: 1,
  reason: null,
  decision: null,
  payload_encoding: 'identity',
  refusal: null,
  resent_from: null,
};
const BY: Caller = {
  access: { keyId: 'key_1', role: 'operator', principal: { uid: 'user_1', kind: 'user', displayName: 'one' } },
  address: '192.0.2.2',
};

interface World {
  taken: AcceptResult[];
  served: ServedWebhook | undefined;
  fresh: ServedWebhook | undefined;
  diskLow: boolean;
  waitSeconds: number | undefined;
  asked: number;
}

const webhook = (enabled = true): ServedWebhook => ({ uid: 'wh_1', enabled }) as ServedWebhook;

function world(more: Partial<World> = {}): { it: World; resend: () => Promise<unknown> } {
  const it: World = {
    taken: [{ kind: 'accepted', entry: { ...ENTRY, resent_from: 'e1' } }],
    served: webhook(),
    fresh: webhook(),
    diskLow: false,
    waitSeconds: undefined,
    asked: 0,
    ...more,
  };
  const look = async (): Promise<void> => void (it.served = it.fresh);
  const stores = {
    factories: { find: async () => ({ uid: 'fac_1' }) },
    webhooks: { find: async () => ({ factory_uid: 'fac_1' }) },
    deliveries: { find: async () => ENTRY, payload: async () => ({ bytes: Buffer.from('{}'), encoding: 'identity' }) },
  } as unknown as LogStores;
  const acceptor = {
    waitSeconds: () => it.waitSeconds,
    deliverAgain: async () => it.taken[Math.min(it.asked++, it.taken.length - 1)],
  };
  const service = new ResendService(
    stores,
    { webhook: () => it.served, confirm: look, refresh: look } as unknown as Serving,
    acceptor as unknown as DeliveryAcceptor,
    { isLow: () => it.diskLow } as unknown as DiskWatch,
    { publicUrl: 'http://mill.example' } as Config,
    { nowMs: () => 1, monotonicMs: () => 1 },
    { newId: () => 'id' },
  );
  return {
    it,
    resend: () =>
      service.resend({ factoryUid: 'fac_1', webhookUid: 'wh_1' }, 'e1', BY).catch((error: unknown) => error),
  };
}

describe('a resend', () => {
  it.each<{ why: string; more: Partial<World>; refusal: Partial<RefusalError>; asked: number }>([
    {
      why: 'while the disk is nearly full',
      more: { diskLow: true },
      refusal: { status: 503, retryAfterSeconds: 5 },
      asked: 0,
    },
    {
      why: 'while too many runs wait',
      more: { taken: [{ kind: 'full' }] },
      refusal: { status: 503, retryAfterSeconds: 5 },
      asked: 1,
    },
    {
      why: 'of definitions that move all the time',
      more: { taken: [{ kind: 'stale' }] },
      refusal: { status: 503, retryAfterSeconds: 5 },
      asked: 3,
    },
    {
      why: 'over the rate',
      more: { taken: [{ kind: 'throttled', waitMs: 1_500, retryAfterSeconds: 2 }] },
      refusal: { status: 429, retryAfterSeconds: 2, retryable: true },
      asked: 1,
    },
    {
      why: 'to a window that is known to be full',
      more: { waitSeconds: 7 },
      refusal: { status: 429, retryAfterSeconds: 7 },
      asked: 0,
    },
    {
      why: 'of an entry that was removed meanwhile',
      more: { taken: [{ kind: 'gone' }] },
      refusal: { status: 404 },
      asked: 1,
    },
    {
      why: 'to a webhook that is gone',
      more: { taken: [{ kind: 'stale' }], fresh: undefined },
      refusal: { status: 404 },
      asked: 1,
    },
    {
      why: 'to a webhook that was disabled meanwhile',
      more: { taken: [{ kind: 'stale' }], fresh: webhook(false) },
      refusal: { status: 409, retryable: false },
      asked: 1,
    },
  ])('$why is refused', async ({ more, refusal, asked }) => {
    const { it: state, resend } = world(more);
    const refused = await resend();
    expect(refused).toBeInstanceOf(RefusalError);
    expect(refused).toMatchObject(refusal);
    expect(state.asked).toBe(asked);
  });

  it.each<{ why: string; more: Partial<World> }>([
    {
      why: 'decided again on fresh definitions',
      more: {
        taken: [{ kind: 'stale' }, { kind: 'stale' }, { kind: 'accepted', entry: { ...ENTRY, resent_from: 'e1' } }],
      },
    },
    { why: 'to a webhook that memory does not know yet', more: { served: undefined } },
    { why: 'to one that memory has as disabled still', more: { served: webhook(false) } },
  ])('$why happens', async ({ more }) => {
    expect(await world(more).resend()).toMatchObject({ outcome: 'Accepted', resent_from: 'e1' });
  });
});
