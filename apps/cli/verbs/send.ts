/**
 * `millwright send`: posts a delivery as a sender would, signed under any scheme. The secret is read from a file and
 * never shown. contract §5, §6, §11.
 */
import { randomUUID } from 'node:crypto';
import {
  prepareSigningKey,
  secretUse,
  sign,
  SIGNATURE_SCHEMES,
  unusableReason,
  type SignatureScheme,
} from '#authentication';
import { IDENTITY_LENGTH_MAX, SERVICE_DELIVERY_HEADER } from '#deliveries';
import { readAddress } from '../connection/address.ts';
import { CommandError, UsageError, verb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readInput, withoutFinalNewline } from '../terminal/input.ts';
import { exchange, type Exchange } from '../connection/request.ts';
import { FORMAT_OPTION, outputFor } from '../terminal/output.ts';

/** The service answers after its commit, which takes no time to speak of. */
const ANSWER_MS_MAX = 30_000;
/** What `--scheme` takes. */
const SCHEMES: readonly string[] = ['token', 'url_token', ...SIGNATURE_SCHEMES.keys()];

/** The verb `send`. */
export const send = verb({
  name: 'send',
  arguments: 'URL',
  summary: 'Posts a delivery to a webhook, with the credential or signature that its senders use.',
  details: [
    'URL is the ingress URL as `millwright webhooks` prints it; the token of a url_token webhook comes from ' +
      '--secret-file and takes',
    'the place of {token}. Without --delivery-id every call is a new delivery. Ends with 0 when the service ' +
      'accepts it (202).',
    "One final line end of the secret's file is not part of the secret.",
  ],
  positionals: [1, 1],
  options: {
    scheme: { type: 'string', required: true, value: SCHEMES.join('|'), help: 'how the sender proves itself' },
    'secret-file': {
      type: 'string',
      required: true,
      value: 'FILE',
      help: 'file with the secret',
    },
    data: { type: 'string', value: 'FILE|-', help: 'the body, byte by byte; - reads stdin (default: {})' },
    'delivery-id': { type: 'string', value: 'ID', help: 'identity of the delivery (default: a new one)' },
    format: FORMAT_OPTION,
  },
  async run({ values, positionals: [address = ''] }, io) {
    const output = await outputFor(io, values.format);
    const { scheme, 'secret-file': secretFile, data, 'delivery-id': id = randomUUID() } = values;
    if (!SCHEMES.includes(scheme)) throw new UsageError(`--scheme must be one of ${SCHEMES.join(', ')}`);
    if (!/^[\x21-\x7e]+$/.test(id) || id.length > IDENTITY_LENGTH_MAX)
      throw new UsageError(`--delivery-id must be 1 to ${IDENTITY_LENGTH_MAX} visible ASCII characters`);
    const target = readTarget(address, scheme, io.environment);
    if (secretFile === '-' && data === '-') throw new UsageError('stdin cannot be both the secret and the body');
    const secret = withoutFinalNewline(await readInput(secretFile, io, 'give --secret-file FILE'));
    const body = data === undefined ? Buffer.from('{}') : await readInput(data, io, 'give --data FILE');
    const { url, headers } = authenticated(target, scheme, secret, body, id);
    const answer = await exchange(
      url,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: Uint8Array.from(body) },
      ANSWER_MS_MAX,
    );
    const accepted = readAnswer(answer, secret);
    output.result(accepted, () => output.line(`202 accepted: delivery ${accepted.delivery_id}`));
    return EXIT.ok;
  },
});

/** Ingress paths: any prefix, then the webhook and, for url_token, the token. */
const INGRESS_PATH = /^(.*\/webhooks\/w\/wh_[0-9a-hjkmnp-tv-z]{26})(\/(?:\{token\}|%7btoken%7d))?\/?$/i;

function readTarget(text: string, scheme: string, environment: Readonly<Record<string, string | undefined>>): URL {
  const url = readAddress(text, 'URL', environment);
  const [, path, placeholder] = INGRESS_PATH.exec(url.pathname) ?? [];
  if (path === undefined)
    throw new UsageError(
      'URL must be an ingress URL as `millwright webhooks` prints it, without any token: …/webhooks/w/wh_…',
    );
  if (placeholder !== undefined && scheme !== 'url_token')
    throw new UsageError('URL is that of a url_token webhook: give --scheme url_token');
  url.pathname = path;
  return url;
}

function authenticated(
  target: URL,
  scheme: string,
  secret: Buffer,
  body: Uint8Array,
  id: string,
): { url: URL; headers: Record<string, string> } {
  const signature = SIGNATURE_SCHEMES.get(scheme);
  const unusable = unusableReason(
    secretUse(signature === undefined ? (scheme as 'token' | 'url_token') : 'signature', scheme),
    secret,
  );
  if (unusable !== undefined) throw new CommandError(`the secret cannot serve here: ${unusable}`, EXIT.problems);
  const identity = { [SERVICE_DELIVERY_HEADER]: id };
  if (signature !== undefined) return { url: target, headers: { ...identity, ...signed(signature, secret, body, id) } };
  if (scheme === 'token')
    return { url: target, headers: { ...identity, authorization: `Bearer ${secret.toString('latin1')}` } };
  return { url: new URL(`${target.href}/${secret.toString('latin1')}`), headers: identity };
}

function signed(
  scheme: SignatureScheme,
  secret: Uint8Array,
  body: Uint8Array,
  deliveryId: string,
): Record<string, string> {
  const prepared = prepareSigningKey(scheme, secret);
  if (!prepared.ok) throw new CommandError(`the secret cannot serve here: ${prepared.reason}`, EXIT.problems);
  return sign(scheme, prepared.key, { body, nowMs: Date.now(), deliveryId });
}

/** The service's 202, or a failure in its words. */
function readAnswer({ status, headers, text }: Exchange, secret: Buffer): { delivery_id: string } {
  const body = parsed(text);
  if (status === 202 && typeof body['delivery_id'] === 'string') return { ...body, delivery_id: body['delivery_id'] };
  // Whatever answers here is not trusted to keep the token to itself.
  const words =
    typeof body['error'] === 'string' && !text.includes(secret.toString('latin1')) ? body['error'] : 'no reason given';
  const seconds = headers.get('retry-after');
  const retry = seconds === null ? [] : [`try again in ${seconds} s`];
  throw new CommandError(
    `not accepted: ${status} ${words}`,
    status === 429 || status >= 500 ? EXIT.internal : EXIT.problems,
    retry,
  );
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
