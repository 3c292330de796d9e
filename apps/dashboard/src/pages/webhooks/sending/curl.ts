/** A curl command that sends one delivery, a new one each second: its body holds the time. */
import { familiesOf, inFamily, SIGNATURE_SCHEMES, timestampHeader, type ServedScheme } from '#authentication/schemes';
import type { Webhook } from '../../../api/webhooks.ts';

type Addressed = Pick<Webhook, 'auth_mode' | 'signature_scheme' | 'ingress_url'>;

/** Stands for a secret that is not known here: the shell puts it in. */
const UNKNOWN = '$WEBHOOK_SECRET';

const TEXT_KEY = '-hmac "$SECRET"';
/** The bytes that the part behind whsec_ says in base64. */
const BYTES_KEY =
  `-mac HMAC -macopt "hexkey:$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' ` +
  `\\n')"`;

/**
 * `secret`: where it is known; signed requests ask for it all the same. Undefined for a scheme that is not known here.
 */
export function curlOf(webhook: Addressed, secret?: string): string | undefined {
  if (webhook.auth_mode !== 'signature') return plainCommand(webhook, secret ?? UNKNOWN);
  const scheme = SIGNATURE_SCHEMES.get(webhook.signature_scheme ?? '');
  return scheme === undefined || !isSignedInShell(scheme) ? undefined : signedCommand(webhook.ingress_url, scheme);
}

function plainCommand({ auth_mode: mode, ingress_url: url }: Addressed, credential: string): string {
  const lines = [
    `curl -sS -X POST ${quoted(url.replace('{token}', credential))}`,
    ...(mode === 'token' ? [`-H ${quoted(`Authorization: Bearer ${credential}`)}`] : []),
    `-H 'Content-Type: application/json'`,
    `-d '{"hello": "world", "at": "'"$(date +%s)"'"}'`,
  ];
  return lines.join(' \\\n  ');
}

/** `$AT` is Unix time, and there is no other way to write it that every shell knows. */
function isSignedInShell({ timestamp }: ServedScheme): boolean {
  return timestamp === undefined || timestamp.format === 'unix';
}

/**
 * How the scheme signs, as lines of a POSIX shell in which `$SECRET`, `$AT` (Unix time), `$ID` and `$BODY` are set. One
 * command in brackets: a shell that it is pasted into reads it whole, so that none of its lines is taken for the
 * secret, and forgets the secret with it.
 */
function signedCommand(url: string, scheme: ServedScheme): string {
  const mac = `openssl dgst -${scheme.algorithm} ${scheme.key === 'whsec' ? BYTES_KEY : TEXT_KEY}`;
  const asText = scheme.encoding === 'base64' ? '-binary | openssl base64 -A' : `| sed 's/^.* //'`;
  const lines = [
    `(trap 'stty echo' EXIT; trap exit INT; printf 'Secret: ' >&2`,
    `stty -echo; IFS= read -r SECRET; echo >&2`,
    `AT=$(date +%s); ID="by-hand-$AT"; BODY='{"hello": "world", "at": "'"$AT"'"}'`,
    `SIGNATURE=$(printf '%s' "${messageOf(scheme)}" | ${mac} ${asText})`,
    [
      `curl -sS -X POST ${quoted(url)}`,
      ...[...headersOf(scheme), 'Content-Type: application/json'].map((header) => `-H "${header}"`),
      `--data-binary "$BODY")`,
    ].join(' \\\n    '),
  ];
  return lines.join('\n  ');
}

/** What is signed, exactly; every header in it but the timestamp's carries the delivery's ID. */
function messageOf({ signed }: ServedScheme): string {
  return signed
    .replace(/\{header:(?:\{n\}|[^{}])+\}/g, '$$ID')
    .replace('{timestamp}', '$$AT')
    .replace('{body}', '$$BODY');
}

/** The signed headers, the signature's, and the delivery's ID where it is not signed. `$SIGNATURE` is the signature. */
function headersOf(scheme: ServedScheme): string[] {
  const family = familiesOf(scheme)[0] ?? '';
  const named = (name: string, value: string): string => `${asWritten(scheme, inFamily(name, family))}: ${value}`;
  const { signature, timestamp, deliveryHeader, signed } = scheme;
  const time = timestampHeader(scheme, family);
  const pair = timestamp?.from.startsWith('pair:') === true ? [timestamp.from.slice('pair:'.length), '$AT'] : undefined;
  const key = signature.keys?.[0];
  const items = [...(pair === undefined ? [] : [pair]), key === undefined ? ['$SIGNATURE'] : [key, '$SIGNATURE']];
  const value = items.map((item) => item.join(signature.pairSeparator)).join(signature.itemSeparator);
  const id = deliveryHeader === undefined ? [] : [named(deliveryHeader, '$ID')];
  const isIdSigned = deliveryHeader !== undefined && signed.includes(`{header:${deliveryHeader}}`);
  return [
    ...(isIdSigned ? id : []),
    ...(time === undefined ? [] : [named(time, '$AT')]),
    named(signature.header, `${signature.prefix ?? ''}${value}`),
    ...(isIdSigned ? [] : id),
  ];
}

/** A header's name as the provider writes it. */
function asWritten({ headerNames = [] }: ServedScheme, lower: string): string {
  return headerNames.find((name) => name.toLowerCase() === lower) ?? lower;
}

/** One word for a POSIX shell. What names the variable must be open to it. */
function quoted(text: string): string {
  return text.includes(UNKNOWN) ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}
