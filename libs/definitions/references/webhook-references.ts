/**
 * Whether webhooks have a usable secret, and whether the factory has room for them. spec: Definition application;
 * contract §2, §8.
 */
import { SIGNATURE_SCHEMES } from '#authentication/schemes';
import { checkSecretName, isFaulty, isWritten, report, type Check } from './check.ts';
import { byCodeUnits } from '../rules/problems.ts';
import { didYouMeanOr } from '../suggest.ts';
import type { SecretFacts, WebhookDefinition } from '../types.ts';

/** Webhooks of one factory, disabled ones counted. spec: Limits. */
export const WEBHOOKS_MAX = 20;

type Use = keyof NonNullable<SecretFacts['usableFor']>;

const NEEDED: Readonly<Record<Use, string>> = {
  token: 'authMode token needs 16 to 512 visible ASCII characters',
  url_token: 'authMode url_token needs a URL-safe secret: 16 to 512 of A-Z a-z 0-9 - . _ ~',
  signature: 'authMode signature needs at least 8 bytes',
  standard_webhooks: 'signatureScheme standard_webhooks needs whsec_ and the base64 of 24 to 64 bytes',
};

/** The secret of one webhook: known, set when it is needed, usable for the mode. Its value is never looked at here. */
export function checkWebhookSecret(check: Check, webhook: WebhookDefinition): void {
  const { webhookSecrets } = check.known;
  const { path, secretName } = webhook;
  if (secretName === '') return;
  const secret = webhookSecrets?.get(secretName);
  const isKnown = secret !== undefined;
  const shown = checkSecretName(check, { path, pointer: '/secretName', name: secretName, isKnown });
  if (webhookSecrets === undefined || shown === undefined) return;
  const subject = `secretName ${shown}`;
  if (!isKnown) {
    const hint = didYouMeanOr(secretName, webhookSecrets.keys(), 'create it first, or grant it to this factory');
    return report(check, path, '/secretName', 'secret-known', `${subject} is not a team secret${hint}`);
  }
  if (!secret.set) return checkUnset(check, webhook, subject);
  if (isFaulty(check, path, '/authMode')) return;
  const use = useOf(webhook);
  if (secret.usableFor?.[use] !== false) return;
  report(check, path, '/secretName', 'secret-usable', `${subject} cannot be used here: ${NEEDED[use]}`);
}

function checkUnset(check: Check, { path, enabled }: WebhookDefinition, subject: string): void {
  if (!enabled || isFaulty(check, path, '/enabled')) return;
  const pointer = isWritten(check, path, '/enabled') ? '/enabled' : '/secretName';
  const wayOut = 'set it, or write enabled: false until it is set';
  const message = `${subject} has no value yet, so nobody could authenticate; ${wayOut}`;
  report(check, path, pointer, 'secret-unset', message);
}

function useOf({ authMode, signatureScheme }: WebhookDefinition): Use {
  const isBase64Key = SIGNATURE_SCHEMES.get(signatureScheme ?? '')?.key === 'whsec';
  return isBase64Key ? 'standard_webhooks' : authMode;
}

/**
 * At most 20 webhooks: every file of a new webhook beyond them, in path order, is refused. Live ones stay. contract §8.
 */
export function checkQuota(check: Check): void {
  const live = new Set(check.known.liveWebhooks?.values() ?? []);
  const inTree = [...check.webhookPaths].sort(([, left], [, right]) => byCodeUnits(left, right));
  const fresh = inTree.filter(([slug]) => !live.has(slug));
  const room = Math.max(0, WEBHOOKS_MAX - (inTree.length - fresh.length));
  for (const [, path] of fresh.slice(room)) {
    const message =
      `a factory has at most ${WEBHOOKS_MAX} webhooks and these are ${inTree.length}; remove one, or ` +
      'use a second factory';
    report(check, path, '', 'webhook-quota', message);
  }
}
