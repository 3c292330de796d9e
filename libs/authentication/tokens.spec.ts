/** Bearer and URL tokens: what counts as the credential and what never does. */
import { digestSecret, headersFromRaw, verifyBearer, verifyUrlToken } from './index.ts';

const TOKEN = 'tok_0123456789abcdefX~';
const digest = digestSecret(Buffer.from(TOKEN));

describe('verifyBearer', () => {
  it.each([
    { raw: ['Authorization', `Bearer ${TOKEN}`], expected: { ok: true }, why: 'the documented form' },
    {
      raw: ['AUTHORIZATION', `bEARER ${TOKEN}`],
      expected: { ok: true },
      why: 'header and scheme are case-insensitive',
    },
    { raw: ['authorization', `Bearer    ${TOKEN}`], expected: { ok: true }, why: 'one space or more' },
    { raw: [], expected: { reason: 'header-missing' }, why: 'no credential' },
    { raw: ['authorization', `Bearer\t${TOKEN}`], expected: { reason: 'header-malformed' }, why: 'a tab is no space' },
    { raw: ['authorization', `Bearer${TOKEN}`], expected: { reason: 'header-malformed' }, why: 'no space' },
    { raw: ['authorization', TOKEN], expected: { reason: 'header-malformed' }, why: 'no scheme' },
    { raw: ['authorization', `Basic ${TOKEN}`], expected: { reason: 'header-malformed' }, why: 'another scheme' },
    {
      raw: ['authorization', ` Bearer ${TOKEN}`],
      expected: { reason: 'header-malformed' },
      why: 'node strips surrounding space; what is left is content',
    },
    { raw: ['authorization', 'Bearer'], expected: { reason: 'token-missing' }, why: 'nothing follows' },
    { raw: ['authorization', 'Bearer   '], expected: { reason: 'token-missing' }, why: 'nothing follows' },
    { raw: ['authorization', ''], expected: { reason: 'header-malformed' }, why: 'an empty header' },
    { raw: ['authorization', `Bearer ${TOKEN} `], expected: { reason: 'mismatch' }, why: 'the rest is exact' },
    {
      raw: ['authorization', `Bearer ${TOKEN.slice(0, -1)}`],
      expected: { reason: 'mismatch' },
      why: 'a prefix is not the token',
    },
    {
      raw: ['authorization', `Bearer ${TOKEN}${TOKEN}`],
      expected: { reason: 'mismatch' },
      why: 'more is not the token',
    },
    {
      raw: ['authorization', `Bearer ${TOKEN.toUpperCase()}`],
      expected: { reason: 'mismatch' },
      why: 'tokens are case-sensitive',
    },
    {
      raw: ['authorization', `Bearer ${encodeURIComponent(TOKEN)}%41`],
      expected: { reason: 'mismatch' },
      why: 'headers are not percent-decoded',
    },
    {
      raw: ['authorization', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
      expected: { reason: 'mismatch' },
      why: 'a joined list is one wrong token',
    },
    {
      raw: ['authorization', `Bearer ${TOKEN}`, 'Authorization', `Bearer ${TOKEN}`],
      expected: { reason: 'header-repeated' },
      why: 'contract §5: twice is refused, even if both are right',
    },
    {
      raw: ['authorization', `Bearer ${TOKEN}`, 'authorization', ''],
      expected: { reason: 'header-repeated' },
      why: 'twice is twice',
    },
    { raw: ['x-authorization', `Bearer ${TOKEN}`], expected: { reason: 'header-missing' }, why: 'another header' },
  ])('$why: $expected', ({ raw, expected }) => {
    expect(verifyBearer(headersFromRaw(raw), digest)).toMatchObject(expected);
  });

  it.each([[`Bearer ${'\0'.repeat(32)}`], ['Bearer '], ['Bearer x']])(
    'never authenticates without a secret value',
    (value) => {
      expect(verifyBearer(headersFromRaw(['authorization', value]), undefined)).toEqual({
        ok: false,
        reason: 'secret-unset',
      });
    },
  );
});

describe('verifyUrlToken', () => {
  it.each([
    { token: TOKEN, expected: { ok: true }, why: 'the decoded segment' },
    { token: undefined, expected: { reason: 'token-missing' }, why: 'no segment, or one that cannot be decoded' },
    { token: '', expected: { reason: 'token-missing' }, why: 'an empty segment' },
    { token: `${TOKEN}/`, expected: { reason: 'mismatch' }, why: 'a slash that was %2F belongs to the token' },
    { token: '{token}', expected: { reason: 'mismatch' }, why: 'the placeholder is not the token' },
    { token: '\ud83d\ude00', expected: { reason: 'mismatch' }, why: 'any text is only a mismatch' },
  ])('$why: $expected', ({ token, expected }) => {
    expect(verifyUrlToken(token, digest)).toMatchObject(expected);
  });

  it('never authenticates without a secret value', () => {
    expect(verifyUrlToken(TOKEN, undefined)).toEqual({ ok: false, reason: 'secret-unset' });
    expect(verifyUrlToken(undefined, undefined)).toEqual({ ok: false, reason: 'secret-unset' });
  });

  it('does not take the digest of nothing for a secret', () => {
    expect(verifyUrlToken(undefined, digestSecret(new Uint8Array()))).toMatchObject({ ok: false });
    expect(verifyBearer(new Map(), digestSecret(new Uint8Array()))).toMatchObject({ ok: false });
  });
});

describe('headersFromRaw', () => {
  const headers = headersFromRaw(['A', '1', 'b', 'a', 'a', '2', '__proto__', 'x', 'X-Name', 'y', 'odd']);
  it.each([
    { name: 'a', values: ['1', '2'], why: 'every value, in any case of the name' },
    { name: 'x-name', values: ['y'], why: 'asked for in lower case' },
    { name: '__proto__', values: ['x'], why: 'no prototype trap' },
    { name: 'constructor', values: undefined, why: 'not sent' },
    { name: 'x', values: undefined, why: 'a value is no name' },
    { name: 'odd', values: undefined, why: 'a name without a value is none' },
  ])('$name: $why', ({ name, values }) => {
    expect([headers.get(name), headers.has(name)]).toEqual([values, values !== undefined]);
  });
});
