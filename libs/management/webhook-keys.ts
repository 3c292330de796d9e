/** Webhooks between the wire (snake_case) and the keys of their files (camelCase). contract §4. */
import type { WebhookCreate, WebhookPatch } from '#contracts';
import type { FileKeys, WebhookDefinition } from '#definitions';
import type { ToMember } from './validation-facts.ts';

/** The keys of the file that a request to make a webhook stands for. */
export function newWebhookKeys(wanted: WebhookCreate, secretName: string, enabled: boolean | undefined): FileKeys {
  const {
    auth_mode: authMode,
    signature_scheme: signatureScheme,
    delivery_id_header: deliveryIdHeader,
    replay_protection: replayProtection,
    secret_overlap_minutes: secretOverlapMinutes,
    description,
  } = wanted;
  return {
    description,
    enabled,
    authMode,
    signatureScheme,
    secretName,
    deliveryIdHeader,
    replayProtection,
    secretOverlapMinutes,
  };
}

/**
 * The keys of the file that a request to change a webhook sets; undefined ones go. A mode without signatures takes its
 * scheme and its protection along.
 */
export function changedWebhookKeys(before: WebhookDefinition, wanted: WebhookPatch): FileKeys {
  const {
    auth_mode: authMode,
    signature_scheme: scheme,
    secret_name: secretName,
    delivery_id_header: header,
    replay_protection: protection,
    secret_overlap_minutes: overlap,
    enabled,
    description,
  } = wanted;
  const leavesSignatures = authMode !== undefined && authMode !== 'signature' && before.signatureScheme !== undefined;
  const leavesProtection = leavesSignatures && before.replayProtection !== undefined;
  return {
    ...(authMode === undefined ? {} : { authMode }),
    ...(scheme === undefined && !leavesSignatures ? {} : { signatureScheme: scheme ?? undefined }),
    ...(secretName === undefined ? {} : { secretName }),
    ...(header === undefined ? {} : { deliveryIdHeader: header ?? undefined }),
    ...(protection === undefined && !leavesProtection ? {} : { replayProtection: protection ?? undefined }),
    ...(overlap === undefined ? {} : { secretOverlapMinutes: overlap ?? undefined }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(description === undefined ? {} : { description: description ?? undefined }),
  };
}

const MEMBERS: Readonly<Record<string, string>> = {
  authMode: 'auth_mode',
  signatureScheme: 'signature_scheme',
  secretName: 'secret_name',
  deliveryIdHeader: 'delivery_id_header',
  replayProtection: 'replay_protection',
  secretOverlapMinutes: 'secret_overlap_minutes',
};

/** Keys of webhook files in the wire's spelling. */
export const toWebhookMember: ToMember = (pointer) =>
  pointer.replace(/^\/(\w+)/, (_, key: string) => `/${MEMBERS[key] ?? key}`);
