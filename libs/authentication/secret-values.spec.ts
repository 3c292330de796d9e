/** Which values may serve as which credential: contract §2, row by row. */
import * as fc from 'fast-check';
import {
  isUsable,
  prepareSigningKey,
  secretFromRandom,
  secretRequirement,
  secretUsability,
  secretUse,
  SIGNATURE_SCHEMES,
  unusableReason,
  type SecretUse,
} from './index.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const base64Of = (bytes: number): string => Buffer.alloc(bytes, 0xa5).toString('base64');

describe('isUsable', () => {
  it.each<{ use: SecretUse; value: string; usable: boolean; why: string }>([
    { use: 'token', value: 'a'.repeat(15), usable: false, why: 'one below the minimum' },
    { use: 'token', value: 'a'.repeat(16), usable: true, why: 'the minimum' },
    { use: 'token', value: 'a'.repeat(512), usable: true, why: 'the maximum' },
    { use: 'token', value: 'a'.repeat(513), usable: false, why: 'one above the maximum' },
    { use: 'token', value: '!"#$%&\'()*+,-./~~~', usable: true, why: 'every visible ASCII character' },
    { use: 'token', value: 'has a space inside', usable: false, why: 'a space ends the token in a header' },
    { use: 'token', value: 'ends-with-newline\n', usable: false, why: 'a control character cannot be sent' },
    { use: 'token', value: 'umlauts-are-out-ä', usable: false, why: 'not ASCII' },
    { use: 'url_token', value: 'AZaz09-._~AZaz09', usable: true, why: 'the unreserved characters' },
    { use: 'url_token', value: 'with/slash/inside', usable: false, why: 'would be several segments' },
    { use: 'url_token', value: 'percent%41percent', usable: false, why: 'would be decoded' },
    { use: 'url_token', value: 'base64+alphabet+=', usable: false, why: 'not URL-safe' },
    { use: 'url_token', value: '.'.repeat(16), usable: false, why: 'only dots: normalised away on the path' },
    { use: 'url_token', value: `${'.'.repeat(16)}a`, usable: true, why: 'dots and something else' },
    { use: 'url_token', value: 'a'.repeat(15), usable: false, why: 'too short' },
    {
      use: 'url_token',
      value: `${'a'.repeat(16)}\n`,
      usable: false,
      why: 'a final newline must not slip past an anchor',
    },
    { use: 'signature', value: '1234567', usable: false, why: 'seven bytes' },
    { use: 'signature', value: '12345678', usable: true, why: 'eight bytes' },
    { use: 'signature', value: 'ää€', usable: false, why: 'bytes are counted, seven of them' },
    { use: 'signature', value: 'with space\n', usable: true, why: 'providers choose: any bytes' },
    { use: 'standard_webhooks', value: `whsec_${base64Of(24)}`, usable: true, why: 'the minimum key' },
    { use: 'standard_webhooks', value: `whsec_${base64Of(64)}`, usable: true, why: 'the maximum key' },
    { use: 'standard_webhooks', value: `whsec_${base64Of(23)}`, usable: false, why: '23 bytes' },
    { use: 'standard_webhooks', value: `whsec_${base64Of(65)}`, usable: false, why: '65 bytes' },
    { use: 'standard_webhooks', value: base64Of(32), usable: false, why: 'no prefix' },
    { use: 'standard_webhooks', value: `WHSEC_${base64Of(32)}`, usable: false, why: 'the prefix is exact' },
    { use: 'standard_webhooks', value: `whsec_${base64Of(32)}\n`, usable: false, why: 'strict base64' },
    {
      use: 'standard_webhooks',
      value: `whsec_${base64Of(32).replace(/=+$/u, '')}`,
      usable: false,
      why: 'padding left out',
    },
    { use: 'standard_webhooks', value: `whsec_${'-_'.repeat(16)}`, usable: false, why: 'the URL alphabet' },
  ])('$use: $usable, because $why', ({ use, value, usable }) => {
    const bytes = Buffer.from(value);
    expect(isUsable(use, bytes)).toBe(usable);
    expect(secretUsability(bytes)[use]).toBe(usable);
    expect(unusableReason(use, bytes)).toBe(usable ? undefined : secretRequirement(use));
  });

  it('never puts a part of the value into the reason', () => {
    for (const use of ['token', 'url_token', 'signature', 'standard_webhooks'] as const) {
      expect(unusableReason(use, Buffer.from('Zq\u0000'))).not.toContain('Zq');
    }
  });

  it('makes secrets that are usable where they are meant', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.constantFrom<SecretUse>('token', 'url_token', 'signature', 'standard_webhooks'),
        (random, use) => {
          expect(isUsable(use, Buffer.from(secretFromRandom(use, random)))).toBe(true);
        },
      ),
    );
  });
});

describe('secretUse', () => {
  it.each([
    { mode: 'token', scheme: undefined, use: 'token' },
    { mode: 'url_token', scheme: undefined, use: 'url_token' },
    { mode: 'signature', scheme: 'github', use: 'signature' },
    { mode: 'signature', scheme: 'stripe', use: 'signature' },
    { mode: 'signature', scheme: 'standard_webhooks', use: 'standard_webhooks' },
  ] as const)('$mode $scheme → $use', ({ mode, scheme, use }) => {
    expect(secretUse(mode, scheme)).toBe(use);
  });
});

describe('prepareSigningKey', () => {
  const prepare = (id: string, secret: string): unknown => {
    const scheme = SIGNATURE_SCHEMES.get(id);
    return scheme && prepareSigningKey(scheme, Buffer.from(secret));
  };

  it.each([
    { id: 'stripe', secret: 'whsec_c2VjcmV0', key: 'whsec_c2VjcmV0', why: 'whsec_ is raw text for Stripe' },
    { id: 'github', secret: ' ä\n', key: ' ä\n', why: 'bytes are exact, nothing is trimmed' },
  ])('$id: $why', ({ id, secret, key }) => {
    expect(prepare(id, secret)).toEqual({ ok: true, key: Buffer.from(key) });
  });

  it('reads whsec_ as base64 for Standard Webhooks', () => {
    expect(prepare('standard_webhooks', `whsec_${base64Of(24)}`)).toEqual({ ok: true, key: Buffer.alloc(24, 0xa5) });
  });

  it.each(['', 'whsec_', 'whsec_Zq', 'Zq', `whsec_${base64Of(23)}`])('refuses %j without quoting it', (secret) => {
    const prepared = prepare('standard_webhooks', secret) as { ok: boolean; reason: string };
    expect(prepared.ok).toBe(false);
    expect(prepared.reason).not.toContain('Zq');
  });
});
