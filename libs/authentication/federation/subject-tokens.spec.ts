/** What is read of tokens before and after they are believed is what every database takes. contract §2.4 (Exchange). */
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { readSubjectToken, verifySubjectToken } from './subject-tokens.ts';

const NOW_S = 1_800_000_000;
const keys = await generateKeyPair('ES256', { extractable: true });
const published = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'first', alg: 'ES256' }] };
const usual = { iss: 'https://ci.example', aud: 'us', sub: 'repo:acme/factory', iat: NOW_S, exp: NOW_S + 300 };

const signed = (claims: Record<string, unknown>): Promise<string> =>
  new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg: 'ES256', kid: 'first' }).sign(keys.privateKey);

async function verified(claims: Record<string, unknown>): ReturnType<typeof verifySubjectToken> {
  const read = readSubjectToken(await signed(claims));
  return read.ok ? verifySubjectToken(read.value, published, NOW_S * 1_000) : read;
}

it.each([
  ['with a NUL in its host', 'https://ci\0.example'],
  ['with a NUL in its path', 'https://ci.example/\0'],
  ['with half a character', 'https://ci.example/\ud800'],
  ['in another spelling', 'https://CI.example'],
  ['that is no address', 'ci'],
])('an issuer %s is nobody that was named', async (_what, iss) => {
  expect(readSubjectToken(await signed({ iss }))).toEqual({ ok: false, reason: 'issuer' });
});

it.each([
  ['a NUL', 'repo\0acme'],
  ['a line of its own', 'repo\nacme'],
  ['a sequence for terminals', 'repo\u001b[31macme'],
  ['text that runs backwards', 'repo\u202eacme'],
  ['half a character', 'repo\ud83d'],
])('a subject with %s names no key', async (_what, sub) => {
  expect(await verified({ sub })).toEqual({ ok: false, reason: 'claims' });
});

it('a subject in any letters does', async () => {
  expect(await verified({ sub: 'repo:acmé/工場 😀' })).toMatchObject({
    ok: true,
    value: { subject: 'repo:acmé/工場 😀' },
  });
});

it('times with a fraction of a second are whole milliseconds, and none is later than it says', async () => {
  expect(await verified({ iat: NOW_S - 10.123_456_7, exp: NOW_S + 10.123_456_7 })).toMatchObject({
    ok: true,
    value: { issuedAtMs: NOW_S * 1_000 - 10_124, expiresAtMs: NOW_S * 1_000 + 10_124 },
  });
});
