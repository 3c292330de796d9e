/**
 * What is wrong with a request for a webhook whatever the factory holds, whether or not the schema refuses it too.
 * contract §4, §8.
 */
import { secretUse, SIGNATURE_SCHEMES } from '#authentication';
import { membersOf } from '#contracts';
import { checkWebhookValue, type AuthMode } from '#definitions';
import type { RequestProblem } from '#runs';
import { memberErrorsOf } from './validation-facts.ts';
import { secretValueErrors } from './webhook-credentials.ts';
import { toWebhookMember } from './webhook-keys.ts';

const MODES: ReadonlySet<unknown> = new Set<AuthMode>(['token', 'url_token', 'signature']);
/** Any scheme that is served, in place of one that is not known. */
const SOME_SCHEME = 'github';

/** What the rules of webhook files refuse in the body of a create, each by its pointer. The body may be anything. */
export function newWebhookErrors(body: unknown): RequestProblem[] {
  const { auth_mode: mode = 'token', signature_scheme: scheme, secret } = membersOf(body);
  const errors = fileErrors(mode, scheme, body);
  if (typeof secret !== 'string' || !isMode(mode)) return errors;
  const isSchemeKnown = mode !== 'signature' || SIGNATURE_SCHEMES.has(String(scheme));
  return isSchemeKnown
    ? [...errors, ...secretValueErrors(secret, secretUse(mode, mode === 'signature' ? String(scheme) : undefined))]
    : errors;
}

/** The same for a change: what it leaves out may be anything. */
export function changedWebhookErrors(body: unknown): RequestProblem[] {
  const { auth_mode: mode, signature_scheme: scheme } = membersOf(body);
  if (mode === undefined && scheme === null) return fileErrors('token', undefined, body);
  return fileErrors(mode, scheme === undefined && mode === 'signature' ? SOME_SCHEME : (scheme ?? undefined), body);
}

/** A mode that is not known is one that the scheme goes with. */
function fileErrors(mode: unknown, scheme: unknown, body: unknown): RequestProblem[] {
  const { delivery_id_header: header, replay_protection: protection } = membersOf(body);
  const authMode = isMode(mode) ? mode : scheme === undefined ? 'token' : 'signature';
  const keys = {
    secretName: 'secret',
    authMode,
    signatureScheme: textOf(scheme),
    deliveryIdHeader: textOf(header),
    // What it is in the body is the schema's to say; without a mode it is the stored one that counts.
    replayProtection: protection === 'body' && mode !== undefined ? protection : undefined,
  };
  return memberErrorsOf(checkWebhookValue('webhook', keys, [], {}).problems, toWebhookMember);
}

function isMode(value: unknown): value is AuthMode {
  return MODES.has(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
