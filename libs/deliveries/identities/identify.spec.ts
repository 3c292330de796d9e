/** Which part of a request names the delivery, and which names are the same. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { identify, refusedDeliveryId, signedBodyIdentity, signedMessageIdentity } from '../index.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const BODY = Buffer.from('{"a":1}');
const BODY_HASH = `sha256:${createHash('sha256').update(BODY).digest('hex')}`;
const hexOf = (hash: string): string => Buffer.from(hash, 'latin1').toString('hex');
const webhook = { deliveryIdHeader: 'x-order-id' };
const toHeaders = (record: Record<string, string[]>): Map<string, string[]> => new Map(Object.entries(record));

describe('identify', () => {
  it.each([
    {
      headers: { 'x-order-id': ['o1'], 'x-github-delivery': ['g1'], 'x-millwright-delivery-id': ['m1'] },
      kind: 'configured_header',
      value: 'o1',
      why: 'the configured header comes first',
    },
    {
      headers: { 'x-github-delivery': ['g1'], 'x-millwright-delivery-id': ['m1'] },
      kind: 'scheme_header',
      value: 'g1',
      why: "then the scheme's",
    },
    { headers: { 'x-millwright-delivery-id': ['m1'] }, kind: 'service_header', value: 'm1', why: 'then ours' },
    { headers: {}, kind: 'body_hash', value: BODY_HASH, why: 'then the body' },
    {
      headers: { 'x-order-id': ['a', 'b'], 'x-github-delivery': ['g1'] },
      kind: 'scheme_header',
      value: 'g1',
      why: 'a repeated header does not count',
    },
    { headers: { 'x-order-id': ['a', 'a'] }, kind: 'body_hash', value: BODY_HASH, why: 'not even with equal values' },
    { headers: { 'x-order-id': [''] }, kind: 'body_hash', value: BODY_HASH, why: 'an empty header does not count' },
    {
      headers: { 'x-order-id': ['x'.repeat(255)] },
      kind: 'configured_header',
      value: 'x'.repeat(255),
      why: '255 characters count',
    },
    { headers: { 'x-order-id': ['x'.repeat(256)] }, kind: 'body_hash', value: BODY_HASH, why: '256 do not' },
    { headers: { 'x-order-id': ['a b'] }, kind: 'body_hash', value: BODY_HASH, why: 'a space is not visible' },
    { headers: { 'x-order-id': ['a\u00e9'] }, kind: 'body_hash', value: BODY_HASH, why: 'not ASCII' },
    { headers: { 'x-order-id': ['a\u007f'] }, kind: 'body_hash', value: BODY_HASH, why: 'a control character' },
    {
      headers: { 'x-order-id': ['!~"\\'] },
      kind: 'configured_header',
      value: '!~"\\',
      why: 'every visible ASCII character',
    },
    {
      headers: { 'x-webhook-id': ['sub'] },
      kind: 'body_hash',
      value: BODY_HASH,
      why: 'a subscription id nobody configured is ignored',
    },
  ])('$why', ({ headers, kind, value }) => {
    const identity = identify(
      { headers: toHeaders(headers as Record<string, string[]>), body: BODY },
      webhook,
      'x-github-delivery',
    );
    expect(identity).toMatchObject({ kind, value });
    expect(identity.hash).toHaveLength(32);
  });

  it("ignores the scheme's header when no scheme named it", () => {
    expect(identify({ headers: toHeaders({ 'x-github-delivery': ['g1'] }), body: BODY }, {}).kind).toBe('body_hash');
  });

  it('has one hash for each kind and value', () => {
    const hashOf = (headers: Record<string, string[]>, body = BODY): string =>
      hexOf(identify({ headers: toHeaders(headers), body }, webhook, 'x-github-delivery').hash);
    const bodyDigest = createHash('sha256').update(BODY).digest();
    const hashes = [
      hashOf({}),
      hashOf({}, Buffer.from('{"a":2}')),
      hashOf({ 'x-millwright-delivery-id': [BODY_HASH] }),
      hashOf({ 'x-order-id': [BODY_HASH] }),
      hashOf({ 'x-github-delivery': [BODY_HASH] }),
      hashOf({ 'x-order-id': ['1'] }),
      hashOf({ 'x-github-delivery': ['1'] }),
      hexOf(signedMessageIdentity(bodyDigest.toString('latin1'))),
      hexOf(signedBodyIdentity(BODY)),
      hexOf(signedBodyIdentity(Buffer.from('{"a":2}'))),
      bodyDigest.toString('hex'),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashOf({ 'x-order-id': ['1'] }, Buffer.from('2'))).toBe(hashOf({ 'x-order-id': ['1'] }));
  });

  it('is what databases have of it already', () => {
    const digest = createHash('sha256').update(BODY).digest();
    const stored = (kind: string): string => createHash('sha256').update(`${kind}\0`).update(digest).digest('binary');
    expect(signedMessageIdentity(digest.toString('latin1'))).toBe(stored('signed_message'));
    expect(signedBodyIdentity(BODY)).toBe(stored('signed_body'));
  });

  it('keeps different bodies and different values apart', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 8 }), (a, b) => {
        const hash = (body: Uint8Array): string => identify({ headers: new Map(), body }, {}).hash;
        expect(hash(a) === hash(b)).toBe(Buffer.from(a).equals(b));
      }),
    );
  });
});

describe('refusedDeliveryId', () => {
  it.each([
    { headers: { 'x-order-id': ['o1'] }, id: 'o1', why: 'the configured header' },
    { headers: { 'svix-id': ['s1'] }, id: 's1', why: 'any family of the scheme: no verdict chose one' },
    { headers: { 'webhook-id': ['w 1'], 'svix-id': ['s1'] }, id: 's1', why: 'the first that counts' },
    { headers: { 'x-millwright-delivery-id': ['m1'] }, id: 'm1', why: 'ours' },
    { headers: {}, id: undefined, why: 'the body is not hashed: it may not have been read' },
  ])('$why', ({ headers, id }) => {
    expect(refusedDeliveryId(toHeaders(headers as Record<string, string[]>), webhook, ['webhook-id', 'svix-id'])).toBe(
      id,
    );
  });
});
