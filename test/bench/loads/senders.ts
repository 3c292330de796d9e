/**
 * Bytes of HTTP requests as senders of every kind send them: who proves himself how, and who is refused. contract §5,
 * §6.
 */
import { prepareSigningKey, sign, SIGNATURE_SCHEMES } from '#authentication';
import { BODY_BYTES_MAX } from '#deliveries';
import { natsPublication } from './nats.ts';

/** Senders whose deliveries are accepted, by how they prove themselves. */
export const ACCEPTED_SENDERS = ['token', 'url_token', 'github', 'stripe', 'standard_webhooks'] as const;
export type AcceptedSender = (typeof ACCEPTED_SENDERS)[number];

/** Those whose token is wrong, who send too much, who ask another host, and who publish to NATS. */
export type Sender = AcceptedSender | 'wrong_token' | 'too_large' | 'wrong_host' | 'nats';

/** RFC 2606: nobody has this name. */
const FOREIGN_HOST = 'elsewhere.invalid';

/** Where a delivery goes, and what its sender knows. */
export interface Target {
  path: string;
  secret: string;
  /** Further members of its payload, as JSON text without braces. */
  members?: string;
}

/** Bytes of a delivery's body, its end included. */
export const BODY_BYTES = 1_024;

/** What a delivery tells; the automations of the benchmark start a run for `failed`. */
export type BuildStatus = 'failed' | 'passed';

/**
 * One whole request; to NATS, what follows its subjects. `id` names the delivery: another one is another delivery.
 * `nowMs`: when it is signed.
 */
export function requestOf(
  sender: Sender,
  { path, secret, members }: Target,
  id: string,
  port: number,
  nowMs: number,
  status: BuildStatus = 'failed',
): Buffer {
  const body = bodyOf(status, id, members, sender === 'too_large' ? BODY_BYTES_MAX + 1 : BODY_BYTES);
  if (sender === 'nats') return natsPublication(id, body);
  const proof = proofOf(sender, secret, id, Buffer.from(body), nowMs);
  const lines = Object.entries(proof)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const target = sender === 'url_token' ? `${path}/${secret}` : path;
  const host = sender === 'wrong_host' ? FOREIGN_HOST : `127.0.0.1:${port}`;
  return Buffer.from(
    `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${lines}` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
}

function bodyOf(told: BuildStatus, id: string, members: string | undefined, bytes: number): string {
  const head = `{"status":"${told}","id":"${id}",${members === undefined ? '' : `${members},`}"filler":"`;
  return `${head}${'x'.repeat(bytes - head.length - 2)}"}`;
}

function proofOf(
  sender: Exclude<Sender, 'nats'>,
  secret: string,
  id: string,
  body: Uint8Array,
  nowMs: number,
): Record<string, string> {
  const named = { 'X-Millwright-Delivery-Id': id };
  switch (sender) {
    case 'token':
    case 'too_large':
    case 'wrong_host':
      return { ...named, Authorization: `Bearer ${secret}` };
    case 'wrong_token':
      return { ...named, Authorization: `Bearer ${secret.replace(/.$/, '!')}` };
    case 'url_token':
      return named;
    case 'github':
    case 'stripe':
    case 'standard_webhooks':
      return signatureOf(sender, secret, id, body, nowMs);
  }
}

function signatureOf(
  scheme: 'github' | 'stripe' | 'standard_webhooks',
  secret: string,
  deliveryId: string,
  body: Uint8Array,
  nowMs: number,
): Record<string, string> {
  const known = SIGNATURE_SCHEMES.get(scheme);
  const key = known && prepareSigningKey(known, Buffer.from(secret));
  if (known === undefined || !key?.ok) throw new Error(`${scheme} cannot sign with this secret`);
  return sign(known, key.key, { body, nowMs, deliveryId });
}
