/** The benchmark's requests are what its names say: each proves itself to the rules that the ingress has. */
import { describe, expect, it } from '@jest/globals';
import {
  digestSecret,
  headersFromRaw,
  prepareSigningKey,
  SIGNATURE_SCHEMES,
  verifyBearer,
  verifySignature,
  verifyUrlToken,
} from '#authentication';
import { BODY_BYTES_MAX, splitIngressPath } from '#deliveries';
import { BODY_BYTES, requestOf, type Sender } from './senders.ts';

const NOW_MS = 1_800_000_000_000;
const SECRETS = { plain: 'a'.repeat(48), whsec: `whsec_${Buffer.alloc(24, 7).toString('base64')}` };

interface Parsed {
  path: string;
  headers: ReturnType<typeof headersFromRaw>;
  body: Buffer;
}

function sent(sender: Sender, secret: string): Parsed {
  const bytes = requestOf(sender, { path: '/webhooks/w/wh_1', secret }, 'bench-1', 8_080, NOW_MS);
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = headersFromRaw(
    lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { path: first.split(' ')[1] ?? '', headers, body: bytes.subarray(end + 4) };
}

describe('a request', () => {
  it.each<{ sender: Sender; bytes: number }>([
    { sender: 'token', bytes: BODY_BYTES },
    { sender: 'stripe', bytes: BODY_BYTES },
    { sender: 'too_large', bytes: BODY_BYTES_MAX + 1 },
  ])('of $sender is whole, JSON, and of its size', ({ sender, bytes }) => {
    const { body, headers } = sent(sender, SECRETS.plain);
    expect([body.length, headers.get('content-length')]).toEqual([bytes, [String(bytes)]]);
    expect(JSON.parse(body.toString())).toMatchObject({ status: 'failed', id: 'bench-1' });
  });

  it.each(['github', 'stripe', 'standard_webhooks'] as const)('of %s is signed', (sender) => {
    const secret = sender === 'standard_webhooks' ? SECRETS.whsec : SECRETS.plain;
    const scheme = SIGNATURE_SCHEMES.get(sender);
    const key = scheme && prepareSigningKey(scheme, Buffer.from(secret));
    if (scheme === undefined || !key?.ok) throw new Error('there is no such scheme');
    const { headers, body } = sent(sender, secret);
    expect(verifySignature(scheme, key.key, { headers, body, nowMs: NOW_MS }).ok).toBe(true);
  });

  it.each<{ sender: Sender; ok: boolean }>([
    { sender: 'token', ok: true },
    { sender: 'too_large', ok: true },
    { sender: 'wrong_token', ok: false },
  ])('of $sender bears a token: $ok', ({ sender, ok }) => {
    expect(verifyBearer(sent(sender, SECRETS.plain).headers, digestSecret(Buffer.from(SECRETS.plain))).ok).toBe(ok);
  });

  it.each<{ sender: Sender; host: string }>([
    { sender: 'token', host: '127.0.0.1:8080' },
    { sender: 'wrong_host', host: 'elsewhere.invalid' },
  ])('of $sender asks the host $host', ({ sender, host }) => {
    expect(sent(sender, SECRETS.plain).headers.get('host')).toEqual([host]);
  });

  it('of url_token has it in its path', () => {
    const path = splitIngressPath(sent('url_token', SECRETS.plain).path);
    expect(path).toMatchObject({ kind: 'webhook', uid: 'wh_1' });
    expect(
      path.kind === 'webhook' && verifyUrlToken(path.token?.decoded, digestSecret(Buffer.from(SECRETS.plain))).ok,
    ).toBe(true);
  });
});
