/** How long a key is waited for and held: what a flow over real time could not show. contract §3.2 (Create). */
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, jest } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Claimed, IdempotencyStore } from '../store/access/idempotency.ts';
import type { Log } from '../process/log.ts';
import { RefusalError } from './error-codes.ts';
import { Idempotency } from './idempotency.ts';
import { beginRecord, recordOf } from './requests.ts';

const CLAIM = { principalUid: 'user_a', scope: 'POST /x', key: 'k', requestHash: new Uint8Array(32), atMs: 1 };

/** A store whose answers are given, and what was asked of it. */
class FakeStore {
  readonly calls: string[] = [];
  claimed: Claimed = { kind: 'claimed', claim: CLAIM };
  underWay = false;
  failing = false;
  claim(): Promise<Claimed> {
    this.calls.push('claim');
    return Promise.resolve(this.claimed);
  }
  isUnderWay(): Promise<boolean> {
    this.calls.push('look');
    return Promise.resolve(this.underWay);
  }
  renew = (): Promise<void> => this.noted('renew');
  release = (): Promise<void> => this.noted('release');
  complete = (): Promise<void> => this.noted('complete');
  private noted(what: string): Promise<void> {
    this.calls.push(what);
    return this.failing ? Promise.reject(new Error('the database is away')) : Promise.resolve();
  }
}

let store: FakeStore;
let reported: unknown[];
let idempotency: Idempotency;
let request: FastifyRequest;

beforeEach(() => {
  jest.useFakeTimers();
  store = new FakeStore();
  reported = [];
  idempotency = new Idempotency(
    store as unknown as IdempotencyStore,
    {
      fault: (_message: string, fault: unknown) => void reported.push(fault),
    } as unknown as Log,
  );
  const raw = { headers: {} } as IncomingMessage;
  beginRecord(raw, '192.0.2.1').access = {
    keyId: 'key_1',
    role: 'operator',
    principal: { uid: 'user_a', kind: 'user', displayName: 'A' },
  };
  request = {
    method: 'POST',
    url: '/x',
    headers: { 'idempotency-key': 'k' },
    raw,
    params: {},
    routeOptions: { url: '/x', config: { role: 'operator' } },
  } as unknown as FastifyRequest;
});

afterEach(() => void jest.useRealTimers());

const replyOf = (statusCode: number, headers: Record<string, string> = {}): FastifyReply =>
  ({ statusCode, getHeader: (name: string) => headers[name] }) as unknown as FastifyReply;

it('the answer of another request is waited for half a minute, then the client is asked to come again', async () => {
  store.claimed = { kind: 'under-way' };
  store.underWay = true;
  const began = idempotency.begin(request, replyOf(200)).catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(29_000);
  expect(store.calls).not.toContain('renew');
  await jest.advanceTimersByTimeAsync(2_000);
  const refusal = await began;
  expect(refusal).toBeInstanceOf(RefusalError);
  expect(refusal).toMatchObject({ code: 'conflict', retryable: true, retryAfterSeconds: 1 });
  expect(store.calls.length).toBeLessThan(100); // looks become rare
});

it('what a viewer may ask for changes nothing, and nothing of it is kept: readers must not fill the disk', async () => {
  const asked = { ...request, routeOptions: { url: '/x', config: { role: 'viewer' } } } as unknown as FastifyRequest;
  expect(await idempotency.begin(asked, replyOf(200))).toBe(false);
  await idempotency.end(asked, replyOf(200), '{}');
  expect(store.calls).toEqual([]);
});

it('a request that was waited for in vain is run by the one that waited', async () => {
  store.claimed = { kind: 'under-way' };
  store.underWay = true;
  const began = idempotency.begin(request, replyOf(200));
  await jest.advanceTimersByTimeAsync(1_000);
  store.underWay = false;
  store.claimed = { kind: 'claimed', claim: CLAIM };
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await began).toBe(false);
  expect(recordOf(request.raw).idempotency?.claim).toBe(CLAIM);
});

it('a claim is renewed while its request is answered, and not afterwards', async () => {
  await idempotency.begin(request, replyOf(200));
  await jest.advanceTimersByTimeAsync(25_000);
  expect(store.calls).toEqual(['claim', 'renew', 'renew']);
  await idempotency.end(request, replyOf(200), '{}');
  await jest.advanceTimersByTimeAsync(60_000);
  expect(store.calls).toEqual(['claim', 'renew', 'renew', 'complete']);
});

it('a request that hangs holds its key for ten minutes', async () => {
  await idempotency.begin(request, replyOf(200));
  await jest.advanceTimersByTimeAsync(3_600_000);
  expect(store.calls.filter((call) => call === 'renew')).toHaveLength(60);
});

it('an answer goes out although it cannot be kept, and that is reported', async () => {
  await idempotency.begin(request, replyOf(200));
  store.failing = true;
  await idempotency.end(request, replyOf(200), '{}');
  expect(reported).toHaveLength(1);
});

describe('an answer', () => {
  it.each<{ why: string; status: number; headers?: Record<string, string>; payload?: unknown; kept: boolean }>([
    { why: 'a success', status: 200, payload: '{}', kept: true },
    { why: 'a success without a body', status: 204, payload: undefined, kept: true },
    { why: 'a request that was invalid', status: 400, payload: '{}', kept: true },
    { why: 'something that is not there', status: 404, payload: '{}', kept: true },
    { why: 'something that is not supported', status: 422, payload: '{}', kept: true },
    { why: 'a conflict that lasts', status: 409, headers: { 'x-should-retry': 'false' }, payload: '{}', kept: true },
    { why: 'a conflict that may be over in a moment', status: 409, payload: '{}', kept: false },
    { why: 'no authentication', status: 401, payload: '{}', kept: false },
    { why: 'no right, which may be given', status: 403, payload: '{}', kept: false },
    { why: 'a slow body', status: 408, payload: '{}', kept: false },
    { why: 'a body too large', status: 413, payload: '{}', kept: false },
    { why: 'too many requests', status: 429, payload: '{}', kept: false },
    { why: 'a fault', status: 500, headers: { 'x-should-retry': 'false' }, payload: '{}', kept: false },
    { why: 'an outage', status: 503, payload: '{}', kept: false },
    { why: 'a stream', status: 200, payload: { pipe: () => undefined }, kept: false },
    { why: 'more than 64 KiB', status: 200, payload: 'x'.repeat(65_537), kept: false },
  ])('$why: kept $kept', async ({ status, headers, payload, kept }) => {
    await idempotency.begin(request, replyOf(200));
    await idempotency.end(request, replyOf(status, headers), payload);
    expect(store.calls).toEqual(['claim', kept ? 'complete' : 'release']);
  });
});
