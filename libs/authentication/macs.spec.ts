/** MACs and digests made in one call: the RFC's own vectors, and whatever node:crypto makes of the same. */
import * as fc from 'fast-check';
import { createHash, createHmac } from 'node:crypto';
import { anyMatches, COPIED_BYTES_MAX, digestText, isMacText, macText } from './macs.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

const ALGORITHMS = ['sha1', 'sha256', 'sha512'] as const;
const ENCODINGS = ['hex', 'base64'] as const;

const algorithms = fc.constantFrom(...ALGORITHMS);
const encodings = fc.constantFrom(...ENCODINGS);

describe('macText', () => {
  const hiThere = { key: Buffer.alloc(20, 0x0b), message: 'Hi There' };
  const jefe = { key: Buffer.from('Jefe'), message: 'what do ya want for nothing?' };
  const longKey = {
    key: Buffer.alloc(131, 0xaa),
    message: 'Test Using Larger Than Block-Size Key - Hash Key First',
  };

  it.each([
    { ...hiThere, algorithm: 'sha1', mac: 'b617318655057264e28bc0b6fb378c8ef146be00', source: 'RFC 2202, 1' },
    { ...jefe, algorithm: 'sha1', mac: 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79', source: 'RFC 2202, 2' },
    {
      ...hiThere,
      algorithm: 'sha256',
      mac: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
      source: 'RFC 4231, 1',
    },
    {
      ...jefe,
      algorithm: 'sha256',
      mac: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
      source: 'RFC 4231, 2',
    },
    {
      ...longKey,
      algorithm: 'sha256',
      mac: '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
      source: 'RFC 4231, 6',
    },
    {
      ...hiThere,
      algorithm: 'sha512',
      mac:
        '87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde' +
        'daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854',
      source: 'RFC 4231, 1',
    },
    {
      ...longKey,
      algorithm: 'sha512',
      mac:
        '80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352' +
        '6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598',
      source: 'RFC 4231, 6',
    },
  ] as const)('$algorithm: $source', ({ algorithm, key, message, mac }) => {
    expect(macText(algorithm, 'hex', key, [Buffer.from(message)])).toBe(mac);
  });

  it('is that of node:crypto for any key and message, in one part or several, one behind the other', () => {
    const lengths = fc.oneof(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: COPIED_BYTES_MAX - 2, max: COPIED_BYTES_MAX + 2 }),
    );
    const parts = fc.array(lengths, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        algorithms,
        encodings,
        fc.uint8Array({ maxLength: 200 }),
        parts,
        fc.nat(255),
        (algorithm, encoding, key, sizes, seed) => {
          const message = sizes.map((size, part) => Buffer.alloc(size, (seed + part) % 256));
          const whole = Buffer.concat(message);
          expect(macText(algorithm, encoding, key, message)).toBe(
            createHmac(algorithm, key).update(whole).digest(encoding),
          );
          expect(digestText(message)).toBe(createHash('sha256').update(whole).digest('binary'));
        },
      ),
      { seed: PROPERTY_SEED, numRuns: 500 },
    );
  });
});

describe('isMacText', () => {
  it('passes every MAC, and one text for each', () => {
    fc.assert(
      fc.property(algorithms, encodings, fc.uint8Array({ maxLength: 40 }), fc.nat(), (algorithm, encoding, key, n) => {
        const text = macText(algorithm, encoding, key, [Buffer.from(String(n))]);
        expect(isMacText(algorithm, encoding, text)).toBe(true);
        const at = n % text.length;
        const changed = `${text.slice(0, at)}${String.fromCharCode(33 + (n % 94))}${text.slice(at + 1)}`;
        const bytes = Buffer.from(changed, encoding);
        const isAsLong = bytes.length === Buffer.from(text, encoding).length;
        expect(isMacText(algorithm, encoding, changed)).toBe(isAsLong && bytes.toString(encoding) === changed);
      }),
      { seed: PROPERTY_SEED, numRuns: 2_000 },
    );
  });

  const hex = 'ab'.repeat(32);
  const base64 = `${'A'.repeat(42)}E=`;

  it.each([
    { encoding: 'hex', text: '' },
    { encoding: 'hex', text: hex.slice(1) },
    { encoding: 'hex', text: `${hex}ab` },
    { encoding: 'hex', text: hex.toUpperCase() },
    { encoding: 'hex', text: ` ${hex.slice(1)}` },
    { encoding: 'hex', text: `${hex}\n` },
    { encoding: 'hex', text: `0x${hex.slice(2)}` },
    { encoding: 'hex', text: `${hex.slice(1)}\u0161` },
    { encoding: 'base64', text: base64.slice(0, -1) },
    { encoding: 'base64', text: `${base64}=` },
    { encoding: 'base64', text: `${base64}\n` },
    { encoding: 'base64', text: base64.replace('E=', 'F=') },
    { encoding: 'base64', text: base64.replace('AE=', '-E=') },
    { encoding: 'base64', text: base64.replace('AE=', 'A==') },
    { encoding: 'base64', text: 'QQ==QQ==' },
  ] as const)('refuses $encoding $text', ({ encoding, text }) => {
    expect(isMacText('sha256', encoding, text)).toBe(false);
  });

  it('passes those that the others are made of', () => {
    expect([isMacText('sha256', 'hex', hex), isMacText('sha256', 'base64', base64)]).toEqual([true, true]);
  });
});

describe('anyMatches', () => {
  const [expected, other] = ['ab'.repeat(32), 'cd'.repeat(32)];

  it.each([
    { texts: [expected], matches: true },
    { texts: [other, expected], matches: true },
    { texts: [expected, other], matches: true },
    { texts: [], matches: false },
    { texts: [other], matches: false },
    { texts: [expected.slice(2)], matches: false },
    { texts: [`${expected}ab`], matches: false },
    { texts: [`${expected.slice(0, -1)}c`], matches: false },
    { texts: [`${expected.slice(0, -1)}\u0162`], matches: false },
  ])('$texts: $matches', ({ texts, matches }) => {
    anyMatches([expected], expected); // nothing of an earlier comparison counts
    expect(anyMatches(texts, expected)).toBe(matches);
  });
});
