/**
 * Webhooks and signature schemes as the API shows them: without secrets, except for what create and rotate show once.
 * spec: Webhook (factory resource); contract §4.
 */
import type {
  RotatedWebhook,
  Webhook as WebhookItem,
  SignatureScheme as SignatureSchemeItem,
  SignatureSchemeList,
} from '#contracts';
import type { AuthMode, WebhookDefinition } from '#definitions';
import { ingressUrlOf } from '#deliveries';
import {
  deliveryHeadersOf,
  secretRequirement,
  secretUse,
  signatureHeadersOf,
  SIGNATURE_SCHEMES,
  UNSHIPPED_SCHEMES,
  type SignatureScheme,
} from '#authentication';
import type { AutomationReference } from '../store/definitions/automations.ts';
import type { WebhookRow } from '../store/definitions/definition.entities.ts';
import { toTime } from '../http/queries.ts';

/** What a webhook's item needs beside its row. */
export interface WebhookView {
  ingressUrl: string;
  /** Whether files decide it. */
  isManaged: boolean;
  lastDeliveryAtMs?: number;
  /** Only where one webhook is looked at. */
  usedBy?: readonly AutomationReference[];
}

export function toWebhookItem(
  webhook: WebhookRow,
  { ingressUrl, isManaged, lastDeliveryAtMs, usedBy }: WebhookView,
): WebhookItem {
  const { description, replayProtection, secretOverlapMinutes } = JSON.parse(webhook.definition) as WebhookDefinition;
  return {
    uid: webhook.uid,
    slug: webhook.slug,
    name: webhook.name,
    description: description ?? null,
    auth_mode: webhook.auth_mode as AuthMode,
    signature_scheme: webhook.signature_scheme,
    secret_name: webhook.secret_name,
    secret_set: webhook.secret_version !== null,
    delivery_id_header: webhook.delivery_id_header,
    replay_protection: replayProtection ?? null,
    secret_overlap_minutes: secretOverlapMinutes ?? null,
    previous_secret_until: webhook.previous_secret_until === null ? null : toTime(webhook.previous_secret_until),
    enabled: webhook.enabled === 1,
    ingress_url: ingressUrlOf(ingressUrl, webhook.uid, webhook.auth_mode as AuthMode),
    version: webhook.version,
    revision: webhook.revision,
    file: isManaged && webhook.path !== '' ? webhook.path : null,
    created_at: toTime(webhook.created_at),
    updated_at: toTime(webhook.updated_at),
    last_delivery_at: lastDeliveryAtMs === undefined ? null : toTime(lastDeliveryAtMs),
    ...(usedBy === undefined
      ? {}
      : { used_by_automations: usedBy.map(({ uid, slug, name, enabled }) => ({ uid, slug, name, enabled })) }),
  };
}

/** The full URL of a `url_token` webhook, which is a secret itself; undefined for other modes, and without a token. */
export function secretUrlOf(webhook: WebhookRow, ingressUrl: string, token: string | undefined): string | undefined {
  if (webhook.auth_mode !== 'url_token' || token === undefined) return undefined;
  // Usable tokens are made of characters that a URL takes as they are.
  return ingressUrlOf(ingressUrl, webhook.uid, 'url_token').replace('{token}', () => token);
}

/** One webhook that got a new secret; `token`: its value. */
export function toRotatedItem(webhook: WebhookRow, ingressUrl: string, token: string): RotatedWebhook {
  const url = secretUrlOf(webhook, ingressUrl, token);
  return {
    uid: webhook.uid,
    slug: webhook.slug,
    name: webhook.name,
    ingress_url: ingressUrlOf(ingressUrl, webhook.uid, webhook.auth_mode as AuthMode),
    ...(url === undefined ? {} : { url }),
  };
}

/** Every scheme that is known here. */
export function signatureSchemes(): SignatureSchemeList {
  return {
    signature_schemes: [...SIGNATURE_SCHEMES.values()].map(toItem),
    unavailable: [...UNSHIPPED_SCHEMES].map(([id, reason]) => ({ id, reason })),
  };
}

function toItem(scheme: SignatureScheme): SignatureSchemeItem {
  const use = secretUse('signature', scheme.id);
  return {
    id: scheme.id,
    signature_headers: [...signatureHeadersOf(scheme)],
    delivery_headers: [...deliveryHeadersOf(scheme)],
    timestamp_tolerance_seconds: scheme.timestamp?.toleranceSeconds ?? null,
    secret_origin: use === 'standard_webhooks' ? 'either' : 'provider',
    secret_requirement: secretRequirement(use),
    documentation: `https://${scheme.source}`,
  };
}
