/**
 * Whether a push notice proves knowledge of the push secret, in any of the forms that forges document. contract §4.1.
 */
import { isRepeated, onlyValue } from './headers.ts';
import { inFamily, SIGNATURE_SCHEMES } from './schemes.ts';
import { isUsable } from './secret-values.ts';
import { verifySignature, type SignedRequest } from './signatures.ts';
import { prepareSigningKey } from './signing-keys.ts';
import { digestSecret, verifyUrlToken } from './tokens.ts';
import type { Headers, SignatureScheme } from './types.ts';

/** GitLab's older form: the secret itself, as text. */
const TOKEN_HEADER = 'x-gitlab-token';

/** Signed forms beside those that webhooks know by the same header. */
const HEX_OF_BODY = { algorithm: 'sha256', encoding: 'hex', key: 'utf8', signed: '{body}' } as const;
const STANDARD_WEBHOOKS = SIGNATURE_SCHEMES.get('standard_webhooks') as SignatureScheme;

/** Every signed form. Which one a request uses is seen by its signature header; one more forge is one more entry. */
const SIGNED_FORMS: readonly SignatureScheme[] = [
  SIGNATURE_SCHEMES.get('github') as SignatureScheme, // Gitea and Forgejo send this header too
  { ...HEX_OF_BODY, id: 'gitea', signature: { header: 'x-gitea-signature' }, source: 'docs.gitea.com/usage/webhooks' },
  {
    ...HEX_OF_BODY,
    id: 'forgejo',
    signature: { header: 'x-forgejo-signature' },
    source: 'forgejo.org/docs/latest/user/webhooks',
  },
  {
    ...HEX_OF_BODY,
    id: 'millwright',
    signature: { header: 'x-millwright-signature-256', prefix: 'sha256=' },
    source: 'the guide: Follow a push at once',
  },
  // GitLab sends webhook-id and webhook-timestamp with every notice, the signature only where a signing token is set.
  {
    ...STANDARD_WEBHOOKS,
    id: 'gitlab',
    families: ['webhook'],
    source: 'docs.gitlab.com/user/project/integrations/webhooks (signing tokens)',
  },
];

const PROOF_HEADERS: readonly string[] = [...SIGNED_FORMS.map(signatureHeader), TOKEN_HEADER];

/** Headers that must not come twice: what proves, and what is signed or judged with it. */
const SINGLE_HEADERS: readonly string[] = [...PROOF_HEADERS, 'webhook-id', 'webhook-timestamp'];

/** Whether the value of a secret can prove anything: eight bytes at least. contract §2.2 (Usable per mode) */
export function isPushSecret(secret: Uint8Array): boolean {
  return isUsable('signature', secret);
}

/** Whether the head of a request could go with a proof. Where it could not, its body need not be read. */
export function mayProvePush(headers: Headers): boolean {
  return (
    PROOF_HEADERS.some((name) => onlyValue(headers, name) !== undefined) &&
    !SINGLE_HEADERS.some((name) => isRepeated(headers, name))
  );
}

/**
 * Whether the request proves knowledge of the secret in one of the forms. One that fits is enough: a forge sends
 * several, and GitLab sends a signature and a token made of two secrets of which only one is ours. All forms that a
 * request shows are evaluated. Never throws.
 */
export function verifyPushNotice(secret: Uint8Array, request: SignedRequest): boolean {
  if (!isPushSecret(secret) || !mayProvePush(request.headers)) return false;
  const shown = SIGNED_FORMS.filter((form) => onlyValue(request.headers, signatureHeader(form)) !== undefined);
  const proofs = [...shown.map((form) => isSigned(form, secret, request)), isToken(secret, request.headers)];
  return proofs.includes(true);
}

function isSigned(form: SignatureScheme, secret: Uint8Array, request: SignedRequest): boolean {
  const prepared = prepareSigningKey(form, secret);
  return verifySignature(form, prepared.ok ? prepared.key : undefined, request).ok;
}

/** contract §2.2 (Usable per mode): a short one could be guessed. */
function isToken(secret: Uint8Array, headers: Headers): boolean {
  const token = onlyValue(headers, TOKEN_HEADER);
  return verifyUrlToken(token, isUsable('token', secret) ? digestSecret(secret) : undefined).ok;
}

function signatureHeader({ signature, families = [''] }: SignatureScheme): string {
  return inFamily(signature.header, families[0] ?? '');
}
