/** A ready command that sends one delivery, another one each second: the time is in its body. */
import type { Webhook } from '../../../api/webhooks.ts';

type Addressed = Pick<Webhook, 'auth_mode' | 'signature_scheme' | 'ingress_url'>;

/** Stands for a secret that is not known here: the shell puts it in. */
const UNKNOWN = '$WEBHOOK_SECRET';

/** How a sender signs, as lines of a POSIX shell in which `$SECRET`, `$AT` (Unix time), `$ID` and `$BODY` are set. */
interface Signing {
  /** The key, as options of `openssl dgst`. */
  key: string;
  /** What is signed, exactly. */
  message: string;
  algorithm?: 'sha1' | 'sha256';
  encoding?: 'base64';
  /** `$SIGNATURE` is the signature. */
  headers: readonly string[];
}

const TEXT_KEY = '-hmac "$SECRET"';
const BODY = 'printf \'%s\' "$BODY"';
/** The bytes that the part behind whsec_ says in base64. */
const BYTES_KEY = `-mac HMAC -macopt "hexkey:$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')"`;

const SIGNINGS: Readonly<Record<string, Signing>> = {
  github: {
    key: TEXT_KEY,
    message: BODY,
    headers: ['X-Hub-Signature-256: sha256=$SIGNATURE', 'X-GitHub-Delivery: $ID'],
  },
  stripe: { key: TEXT_KEY, message: `printf '%s' "$AT.$BODY"`, headers: ['Stripe-Signature: t=$AT,v1=$SIGNATURE'] },
  standard_webhooks: {
    key: BYTES_KEY,
    message: `printf '%s' "$ID.$AT.$BODY"`,
    encoding: 'base64',
    headers: ['webhook-id: $ID', 'webhook-timestamp: $AT', 'webhook-signature: v1,$SIGNATURE'],
  },
  sentry: { key: TEXT_KEY, message: BODY, headers: ['Sentry-Hook-Signature: $SIGNATURE', 'Request-ID: $ID'] },
  pagerduty: { key: TEXT_KEY, message: BODY, headers: ['X-PagerDuty-Signature: v1=$SIGNATURE'] },
  vercel: { key: TEXT_KEY, message: BODY, algorithm: 'sha1', headers: ['x-vercel-signature: $SIGNATURE'] },
};

/** `secret`: where it is known; signed requests ask for it all the same. Undefined for a scheme that is not known here. */
export function curlOf(webhook: Addressed, secret?: string): string | undefined {
  if (webhook.auth_mode !== 'signature') return plainCommand(webhook, secret ?? UNKNOWN);
  const signing = SIGNINGS[webhook.signature_scheme ?? ''];
  return signing === undefined ? undefined : signedCommand(webhook.ingress_url, signing);
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

/** One command in brackets: a shell that it is pasted into reads it whole, so that none of its lines is taken for the secret, and forgets the secret with it. */
function signedCommand(url: string, { key, message, algorithm = 'sha256', encoding, headers }: Signing): string {
  const mac = `openssl dgst -${algorithm} ${key}`;
  const lines = [
    `(trap 'stty echo' EXIT; trap exit INT; printf 'Secret: ' >&2`,
    `stty -echo; IFS= read -r SECRET; echo >&2`,
    `AT=$(date +%s); ID="by-hand-$AT"; BODY='{"hello": "world", "at": "'"$AT"'"}'`,
    `SIGNATURE=$(${message} | ${mac} ${encoding === 'base64' ? '-binary | openssl base64 -A' : `| sed 's/^.* //'`})`,
    [
      `curl -sS -X POST ${quoted(url)}`,
      ...[...headers, 'Content-Type: application/json'].map((header) => `-H "${header}"`),
      `--data-binary "$BODY")`,
    ].join(' \\\n    '),
  ];
  return lines.join('\n  ');
}

/** One word for a POSIX shell. What names the variable must be open to it. */
function quoted(text: string): string {
  return text.includes(UNKNOWN) ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}
