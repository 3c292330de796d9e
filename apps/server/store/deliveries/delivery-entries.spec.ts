/** Stored payloads are the exact bytes that were received, compressed where that is worth it. contract §5.9 (Log). */
import { randomBytes } from 'node:crypto';
import { decodePayload, encodePayload } from './delivery-entries.ts';

describe('a payload', () => {
  it.each([
    { body: Buffer.alloc(0), encoding: 'identity', why: 'nothing to compress' },
    { body: Buffer.from('{"a":1}'), encoding: 'identity', why: 'too small to be worth it' },
    { body: Buffer.alloc(2_047, 'a'), encoding: 'identity', why: 'just below the bound' },
    { body: Buffer.alloc(2_048, 'a'), encoding: 'deflate-raw', why: 'at the bound' },
    { body: Buffer.alloc(262_144, '{"key":"value"}'), encoding: 'deflate-raw', why: 'the largest body' },
    { body: randomBytes(262_144), encoding: 'identity', why: 'would only grow' },
  ])('comes back byte for byte: $why', ({ body, encoding }) => {
    const { payload, payloadEncoding } = encodePayload(body);
    expect(payloadEncoding).toBe(encoding);
    expect(payload.length).toBeLessThanOrEqual(body.length);
    expect(Buffer.compare(decodePayload({ bytes: payload, encoding: payloadEncoding }), body)).toBe(0);
  });
});
