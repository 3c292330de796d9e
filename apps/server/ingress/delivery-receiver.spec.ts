/**
 * The walk through the checks with everything around it under control: lost guards, stale memory, faults, senders that
 * vanish. contract §5.
 */
import type { SampledLog } from '../process/sampled-log.ts';
import { describe, expect, it } from '@jest/globals';
import { digestSecret } from '#authentication';
import { MATCH_EVERYTHING } from '#filters';
import type { RawBody } from '../http/raw-bodies.ts';
import type { CommitWaiter } from '../store/database/group-commit.ts';
import { parseDecision } from '../store/deliveries/delivery-entries.ts';
import type { DeliveryOutcome, PendingDelivery } from '../store/deliveries/pending-deliveries.ts';
import type { Heartbeat } from '../webhooks/heartbeat.ts';
import type { ServedWebhook } from '../webhooks/served-webhooks.ts';
import type { Serving } from '../webhooks/serving-state.ts';
import type { DeliveryStore } from '../store/deliveries/deliveries.ts';
import type { RunAgents } from '../execution/preparation/run-agents.ts';
import type { RunNotifier } from '../runs/run-notifier.ts';
import type { DiskWatch } from '../process/disk-watch.ts';
import type { Log } from '../process/log.ts';
import { DeliveryAcceptor } from './delivery-acceptor.ts';
import { WideDecisions } from './wide-decisions.ts';
import { Metrics } from '../process/metrics.ts';
import type { LoggedRefusal, RefusedLog } from './refused-delivery-log.ts';
import { CLIENT_GONE, DeliveryReceiver, type IngressReply, type IngressRequest } from './delivery-receiver.ts';
import type { QueueCounts } from '../runs/run-admission.ts';
import type { RawAnswer } from '../http/connections.ts';
import { StoreError } from '../store/database/store-errors.ts';

const TOKEN = 'token-of-the-tests';
const AUTOMATION = {
  uid: 'auto_1',
  id: 'auto_1',
  name: 'act',
  enabled: true,
  webhookUids: ['wh_1'],
  filter: MATCH_EVERYTHING,
};
const DEFINITION = { name: 'act', path: '', enabled: true, prompt: 'Act.', agent: {}, triggers: [] };

function webhook(version: number, more: Partial<ServedWebhook> = {}): ServedWebhook {
  return {
    uid: 'wh_1',
    slug: 'orders',
    name: 'orders',
    enabled: true,
    authMode: 'token',
    tokenDigest: digestSecret(Buffer.from(TOKEN)),
    automations: [AUTOMATION],
    factory: { uid: 'fac_1', slug: 'shop', version, revision: 'r', serviceAccountUid: 'svc_1' },
    ...more,
  };
}

interface World {
  served: ServedWebhook | undefined;
  confirmed: boolean;
  /** What memory becomes when the database is asked. */
  fresh: ServedWebhook | undefined;
  accept: (arrival: PendingDelivery) => DeliveryOutcome | Promise<DeliveryOutcome>;
  arrivals: PendingDelivery[];
  refused: number;
  throttled: number;
  /** Whether a refusal is counted in memory; else it waits for its entry. */
  isCounted: boolean;
  waiting: LoggedRefusal[];
  asked: number;
  woken: number;
  reported: unknown[];
  nowMs: number;
  diskLow: boolean;
  full: boolean;
  /** Definitions that have another version by the time they are looked up. */
  moved: boolean;
  heartbeat: Pick<Heartbeat, 'isHeardOf' | 'renew'>;
  /** Called when the database is asked. */
  whenAsked?: () => void;
}

/** A receiver whose answer can be waited for. */
interface Receiver {
  receive(request: Asked): Promise<IngressReply>;
}

function world(more: Partial<World> = {}): { it: World; receiver: Receiver } {
  const it: World = {
    served: webhook(1),
    fresh: webhook(1),
    confirmed: true,
    accept: () => ({ kind: 'accepted' }),
    arrivals: [],
    refused: 0,
    throttled: 0,
    isCounted: true,
    waiting: [],
    asked: 0,
    woken: 0,
    reported: [],
    nowMs: 1_000_000,
    diskLow: false,
    full: false,
    moved: false,
    heartbeat: { isHeardOf: true, renew: async () => undefined },
    ...more,
  };
  const refresh = async (): Promise<void> => {
    it.asked += 1;
    it.whenAsked?.();
    it.served = it.fresh;
    it.confirmed = true;
  };
  let ids = 0;
  const newId = (): string => `id-${(ids += 1)}`;
  const serving = {
    isCurrent: (one: ServedWebhook) => it.served === one,
    webhook: (uid: string) => (uid === 'wh_1' ? it.served : undefined),
    isConfirmed: () => it.confirmed,
    refresh,
    confirm: async () => (it.confirmed ? undefined : refresh()),
    definitionsOf: async (_webhook: ServedWebhook, uids: readonly string[]) =>
      it.moved ? undefined : new Map(uids.map((uid) => [uid, DEFINITION])),
  };
  const deliveries = {
    accept: (arrival: PendingDelivery, waiter: CommitWaiter<DeliveryOutcome>) => {
      it.arrivals.push(arrival);
      void Promise.resolve(arrival)
        .then(it.accept)
        .then(
          (outcome) => waiter.committed(outcome),
          (error: unknown) => waiter.failed(error),
        );
    },
  };
  const clock = { nowMs: () => it.nowMs, monotonicMs: () => it.nowMs };
  const acceptor = new DeliveryAcceptor(
    deliveries as unknown as DeliveryStore,
    serving as unknown as Serving,
    { isFull: async () => it.full, added: () => undefined } as unknown as QueueCounts,
    { server: { harness: 'builtin', builtInModel: 'demo' } } as unknown as RunAgents,
    { notifyWatchers: () => undefined, notifyEngines: () => void (it.woken += 1) } as unknown as RunNotifier,
    clock,
    { newId },
    new WideDecisions(clock, { warn: () => undefined } as unknown as Log, new Metrics()),
    { info: () => undefined } as unknown as SampledLog,
    it.heartbeat as Heartbeat,
  );
  const receiver = new DeliveryReceiver(
    serving as unknown as Serving,
    acceptor,
    {
      write: (_webhookUid: string, refusal: LoggedRefusal) => {
        it.refused += 1;
        it.waiting.push(refusal);
        return it.isCounted;
      },
      countThrottled: (_webhookUid: string, refusal: LoggedRefusal) => {
        it.throttled += 1;
        it.waiting.push(refusal);
        return it.isCounted;
      },
    } as unknown as RefusedLog,
    { isLow: () => it.diskLow } as unknown as DiskWatch,
    clock,
    { newId },
    { fault: (_message: string, fault: unknown) => void it.reported.push(fault) } as unknown as Log,
  );
  return {
    it,
    receiver: {
      receive: (asked) => new Promise((resolve) => receiver.receive({ ...asked, answer: resolve })),
    },
  };
}

type Asked = Omit<IngressRequest, 'answer'>;

function request(more: Partial<Asked> & { token?: string; body?: RawBody } = {}): Asked {
  const { token = TOKEN, body = { kind: 'whole', bytes: Buffer.from('{}') }, ...rest } = more;
  return {
    method: 'POST',
    target: '/webhooks/w/wh_1',
    rawHeaders: ['Authorization', `Bearer ${token}`],
    clientAddress: '192.0.2.1',
    readBody: (done) => done(body),
    ...rest,
  };
}

const statusOf = (reply: IngressReply): number | 'nobody' => (reply === CLIENT_GONE ? 'nobody' : reply.status);

describe('a guard that was lost', () => {
  it.each<{ why: string; losses: number; fresh: ServedWebhook | undefined; status: number; attempts: number }>([
    { why: 'once: decided again on fresh state', losses: 1, fresh: webhook(2), status: 202, attempts: 2 },
    { why: 'twice', losses: 2, fresh: webhook(2), status: 202, attempts: 3 },
    { why: 'three times: 503', losses: 3, fresh: webhook(2), status: 503, attempts: 3 },
    { why: 'to a deletion', losses: 1, fresh: undefined, status: 404, attempts: 1 },
    { why: 'to a disable', losses: 1, fresh: webhook(2, { enabled: false }), status: 404, attempts: 1 },
    {
      why: 'to a rotation',
      losses: 1,
      fresh: webhook(2, { tokenDigest: digestSecret(Buffer.from('another')) }),
      status: 401,
      attempts: 1,
    },
    {
      why: 'to a secret that is gone',
      losses: 1,
      fresh: webhook(2, { tokenDigest: undefined }),
      status: 401,
      attempts: 1,
    },
    { why: 'to another mode', losses: 1, fresh: webhook(2, { authMode: 'url_token' }), status: 401, attempts: 1 },
  ])('$why', async ({ losses, fresh, status, attempts }) => {
    let left = losses;
    let reads = 0;
    const { it, receiver } = world({ fresh, accept: () => ({ kind: (left -= 1) >= 0 ? 'stale' : 'accepted' }) });
    const reply = await receiver.receive(
      request({
        readBody: (done) => {
          reads += 1;
          done({ kind: 'whole', bytes: Buffer.from('{"a": 1}') });
        },
      }),
    );
    expect([statusOf(reply), it.arrivals.length, reads]).toEqual([status, attempts, 1]);
    if (status === 202) expect(it.arrivals.at(-1)?.servingVersion).toBe(2);
  });
});

describe('definitions that are another version’s by the time that they start something', () => {
  it.each<{ why: string; movesBack: boolean; status: number; asked: number; stored: number }>([
    { why: 'once: decided again on fresh state', movesBack: true, status: 202, asked: 1, stored: 1 },
    { why: 'always: 503, and nothing is stored', movesBack: false, status: 503, asked: 3, stored: 0 },
  ])('$why', async ({ movesBack, status, asked, stored }) => {
    const { it, receiver } = world({ moved: true });
    if (movesBack) it.whenAsked = () => (it.moved = false);
    expect(statusOf(await receiver.receive(request()))).toBe(status);
    expect([it.asked, it.arrivals.length]).toEqual([asked, stored]);
  });
});

describe('a refusal from memory', () => {
  it.each<{
    why: string;
    served: ServedWebhook | undefined;
    confirmed: boolean;
    fresh: ServedWebhook | undefined;
    status: number;
    asked: number;
  }>([
    {
      why: '404 is final when memory is fresh',
      served: undefined,
      confirmed: true,
      fresh: webhook(2),
      status: 404,
      asked: 0,
    },
    {
      why: '404 is looked up once when it is not: the webhook is new',
      served: undefined,
      confirmed: false,
      fresh: webhook(2),
      status: 202,
      asked: 1,
    },
    {
      why: '404 is looked up once and stays',
      served: undefined,
      confirmed: false,
      fresh: undefined,
      status: 404,
      asked: 1,
    },
    {
      why: 'disabled is looked up too',
      served: webhook(1, { enabled: false }),
      confirmed: false,
      fresh: webhook(2),
      status: 202,
      asked: 1,
    },
    {
      why: '401 is final when memory is fresh',
      served: webhook(1, { tokenDigest: undefined }),
      confirmed: true,
      fresh: webhook(2),
      status: 401,
      asked: 0,
    },
    {
      why: '401 is decided again when the secret has been rotated meanwhile',
      served: webhook(1, { tokenDigest: undefined }),
      confirmed: false,
      fresh: webhook(2),
      status: 202,
      asked: 2,
    },
    {
      why: 'acceptance needs no look: its transaction checks',
      served: webhook(1),
      confirmed: false,
      fresh: webhook(1),
      status: 202,
      asked: 0,
    },
  ])('$why', async ({ status, asked, ...memory }) => {
    const { it, receiver } = world(memory);
    expect([statusOf(await receiver.receive(request())), it.asked]).toEqual([status, asked]);
  });

  it('401 for an unchanged webhook is looked up once and logged once', async () => {
    const same = webhook(1);
    const { it, receiver } = world({ served: same, fresh: same, confirmed: false });
    expect(statusOf(await receiver.receive(request({ token: 'wrong' })))).toBe(401);
    expect([it.asked, it.refused]).toEqual([1, 1]);
  });
});

describe('a refusal that is logged', () => {
  const spent = (): DeliveryOutcome => ({ kind: 'throttled', waitMs: 7_000, retryAfterSeconds: 7 });
  const wrong = request({ token: 'wrong' });
  const tooLarge = request({ body: { kind: 'too-large', sizeBytes: 300_000 } });
  const noJson = request({ body: { kind: 'whole', bytes: Buffer.from('x') } });

  it.each<{ why: string; asked: Asked; memory: Partial<World>; status: number; outcome: string }>([
    { why: 'a wrong token', asked: wrong, memory: {}, status: 401, outcome: 'rejectedAuth' },
    { why: 'the same, looked up', asked: wrong, memory: { confirmed: false }, status: 401, outcome: 'rejectedAuth' },
    { why: 'too large, no slot', asked: tooLarge, memory: { accept: spent }, status: 413, outcome: 'rejectedTooLarge' },
    { why: 'over the rate', asked: request(), memory: { accept: spent }, status: 429, outcome: 'throttled' },
    { why: 'no JSON, over the rate', asked: noJson, memory: { accept: spent }, status: 429, outcome: 'throttled' },
  ])('$why: is answered $status when its entry is committed, and 503 when it cannot be', async (one) => {
    const same = webhook(1);
    for (const isCommitted of [true, false]) {
      const { it, receiver } = world({ served: same, fresh: same, isCounted: false, ...one.memory });
      const answers: IngressReply[] = [];
      const answered = receiver.receive(one.asked).then((reply) => answers.push(reply));
      while (it.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      expect(answers).toEqual([]);
      expect(it.waiting[0]?.entry()).toMatchObject({ webhookUid: 'wh_1', outcome: one.outcome });
      if (isCommitted) it.waiting[0]?.committed();
      else it.waiting[0]?.failed(new StoreError('unavailable', 'away'));
      await answered;
      expect([answers.map(statusOf), it.waiting.length]).toEqual([[isCommitted ? one.status : 503], 1]);
    }
  });
});

describe('bodies', () => {
  it.each<{ why: string; body: RawBody; status: number | 'nobody'; stored: number }>([
    { why: 'whole', body: { kind: 'whole', bytes: Buffer.from('[]') }, status: 202, stored: 1 },
    { why: 'no JSON: stored as refused', body: { kind: 'whole', bytes: Buffer.from('x') }, status: 400, stored: 1 },
    { why: 'too large: stored as refused', body: { kind: 'too-large', sizeBytes: 300_000 }, status: 413, stored: 1 },
    { why: 'too slow: nothing stored', body: { kind: 'timeout' }, status: 408, stored: 0 },
    { why: 'no room: nothing stored', body: { kind: 'over-budget' }, status: 503, stored: 0 },
    {
      why: 'the sender has gone: nobody to answer, nothing stored',
      body: { kind: 'aborted' },
      status: 'nobody',
      stored: 0,
    },
  ])('$why', async ({ body, status, stored }) => {
    const { it, receiver } = world();
    expect([statusOf(await receiver.receive(request({ body }))), it.arrivals.length]).toEqual([status, stored]);
  });

  it.each([
    { why: '405', more: { method: 'PUT' } },
    { why: '404', more: { target: '/webhooks/w/nobody' } },
    { why: '401', more: { token: 'wrong' } },
  ])('is not read for a $why', async ({ more }) => {
    const { receiver } = world();
    let reads = 0;
    await receiver.receive(
      request({
        ...more,
        readBody: (done) => {
          reads += 1;
          done({ kind: 'aborted' });
        },
      }),
    );
    expect(reads).toBe(0);
  });
});

describe('faults', () => {
  it.each([
    { why: 'the database is away', fault: new StoreError('unavailable', 'ECONNREFUSED'), reported: 0 },
    { why: 'the disk is full', fault: new StoreError('full', 'SQLITE_FULL'), reported: 0 },
    { why: 'a bug', fault: new Error('bug'), reported: 1 },
  ])('$why: 503 with Retry-After', async ({ fault, reported }) => {
    const { it, receiver } = world({ accept: () => Promise.reject(fault) });
    const reply = await receiver.receive(request());
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect([it.reported.length, it.woken]).toEqual([reported, 0]);
  });

  it('a process that slept is heard of again before it accepts, and accepts nothing where it cannot be', async () => {
    const heartbeat = { isHeardOf: false, renew: () => Promise.resolve() };
    const awake = world({ heartbeat });
    expect(await awake.receiver.receive(request())).toMatchObject({ status: 202 });
    const behind = world({
      heartbeat: { ...heartbeat, renew: () => Promise.reject(new StoreError('unavailable', 'LEFT_BEHIND')) },
    });
    expect(await behind.receiver.receive(request())).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect([awake.it.arrivals.length, behind.it.arrivals.length, behind.it.reported]).toEqual([1, 0, []]);
  });

  it.each<{ why: string; more: Partial<World>; body?: string }>([
    { why: 'the disk is nearly full', more: { diskLow: true } },
    { why: 'the disk is nearly full, and the body is no JSON', more: { diskLow: true }, body: 'x' },
    { why: 'the queue is full', more: { full: true } },
  ])('$why: 503, the transaction is not begun', async ({ more, body = '{}' }) => {
    const { it, receiver } = world(more);
    expect(statusOf(await receiver.receive(request({ body: { kind: 'whole', bytes: Buffer.from(body) } })))).toBe(503);
    expect(it.arrivals).toEqual([]);
  });

  it('a full queue does not stop a delivery that starts nothing', async () => {
    const { receiver } = world({ full: true, served: webhook(1, { automations: [] }) });
    expect(statusOf(await receiver.receive(request()))).toBe(202);
  });
});

describe('a full window', () => {
  it('is remembered: no transaction until its oldest slot is a minute old; Retry-After counts down', async () => {
    const { it, receiver } = world({ accept: () => ({ kind: 'throttled', waitMs: 29_500, retryAfterSeconds: 30 }) });
    const retryAfter = async (): Promise<string | undefined> =>
      ((await receiver.receive(request())) as RawAnswer).headers['retry-after'];
    expect([await retryAfter(), await retryAfter()]).toEqual(['30', '30']);
    it.nowMs += 600;
    expect(await retryAfter()).toBe('29');
    it.nowMs += 28_899;
    expect(await retryAfter()).toBe('1');
    expect(it.arrivals).toHaveLength(1);
    it.nowMs += 1;
    expect([it.throttled, it.refused]).toEqual([4, 0]);
    it.accept = () => ({ kind: 'accepted' });
    expect(statusOf(await receiver.receive(request()))).toBe(202);
    expect(it.throttled).toBe(4);
  });

  it('is not written down while the disk is nearly full', async () => {
    const { it, receiver } = world({ accept: () => ({ kind: 'throttled', waitMs: 60_000, retryAfterSeconds: 60 }) });
    expect(statusOf(await receiver.receive(request()))).toBe(429);
    it.diskLow = true;
    expect(statusOf(await receiver.receive(request()))).toBe(429);
    expect(it.throttled).toBe(1);
  });

  it('does not hide behind a clock that was set back', async () => {
    const { it, receiver } = world({ accept: () => ({ kind: 'throttled', waitMs: 60_000, retryAfterSeconds: 60 }) });
    await receiver.receive(request());
    it.nowMs -= 3_600_000;
    it.accept = () => ({ kind: 'accepted' });
    expect(statusOf(await receiver.receive(request()))).toBe(202);
  });
});

describe('an accepted delivery', () => {
  it('hands over identity, payload, decision and runs together, and wakes the engine', async () => {
    const { it, receiver } = world();
    const reply = (await receiver.receive(
      request({ rawHeaders: ['Authorization', `Bearer ${TOKEN}`, 'X-Millwright-Delivery-Id', 'one'] }),
    )) as RawAnswer;
    expect([reply.status, reply.body]).toEqual([202, '{"delivery_id": "one"}']);
    const [arrival] = it.arrivals;
    expect(arrival).toMatchObject({
      webhookUid: 'wh_1',
      factoryUid: 'fac_1',
      servingVersion: 1,
      deliveryId: 'one',
      sizeBytes: 2,
      sizeExact: true,
      clientAddress: '192.0.2.1',
    });
    if (arrival?.verdict.kind !== 'deliver') throw new Error('not delivered');
    expect(arrival.verdict.identities).toHaveLength(1);
    expect(arrival.verdict.runs.map(({ entryId, automationUid }) => [entryId, automationUid])).toEqual([
      [arrival.entryId, 'auto_1'],
    ]);
    expect(parseDecision(arrival.verdict.decision)).toEqual({
      started: [{ automation_id: 'auto_1', run_id: arrival.verdict.runs[0]?.runId }],
      skipped: [],
    });
    expect(it.woken).toBe(1);
  });

  it('a Duplicate is 202 too', async () => {
    const { receiver } = world({ accept: () => ({ kind: 'duplicate' }) });
    expect(statusOf(await receiver.receive(request()))).toBe(202);
  });
});

it('the budget of one address is not another’s', async () => {
  const { receiver } = world();
  const fail = async (clientAddress: string): Promise<number | 'nobody'> =>
    statusOf(await receiver.receive(request({ token: 'wrong', clientAddress })));
  for (let count = 0; count < 20; count += 1) expect(await fail('192.0.2.1')).toBe(401);
  expect([await fail('192.0.2.1'), await fail('192.0.2.2')]).toEqual([429, 401]);
});
