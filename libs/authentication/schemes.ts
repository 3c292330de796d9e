/** The signature schemes that webhooks may name, as data: one more scheme is one more entry. spec: provider scheme; contract 6. */
import type { SignatureScheme } from './types.ts';

/** contract 6: stripe and standard_webhooks are pinned to five minutes. spec: Authentication rule 3. */
const SIGNATURE_AGE_SECONDS_MAX = 300;

const SCHEMES: readonly SignatureScheme[] = [
  {
    id: 'github',
    signature: { header: 'x-hub-signature-256', prefix: 'sha256=' },
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'utf8',
    signed: '{body}',
    deliveryHeader: 'x-github-delivery',
    source: 'docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries',
  },
  {
    id: 'stripe',
    signature: { header: 'stripe-signature', itemSeparator: ',', pairSeparator: '=', keys: ['v1'] },
    algorithm: 'sha256',
    encoding: 'hex',
    // The `whsec_` of a Stripe secret is part of the key, not a marker for base64.
    key: 'utf8',
    signed: '{timestamp}.{body}',
    timestamp: { from: 'pair:t', format: 'unix', toleranceSeconds: SIGNATURE_AGE_SECONDS_MAX },
    source: 'docs.stripe.com/webhooks/signature',
  },
  {
    id: 'standard_webhooks',
    families: ['webhook', 'svix'],
    signature: { header: '{n}-signature', itemSeparator: ' ', pairSeparator: ',', keys: ['v1'] },
    algorithm: 'sha256',
    encoding: 'base64',
    key: 'whsec',
    signed: '{header:{n}-id}.{timestamp}.{body}',
    timestamp: { from: 'header:{n}-timestamp', format: 'unix', toleranceSeconds: SIGNATURE_AGE_SECONDS_MAX },
    deliveryHeader: '{n}-id',
    source: 'github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  },
  {
    id: 'sentry',
    signature: { header: 'sentry-hook-signature' },
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'utf8',
    signed: '{body}',
    deliveryHeader: 'request-id',
    source: 'docs.sentry.io/organization/integrations/integration-platform/webhooks',
  },
  {
    id: 'pagerduty',
    signature: { header: 'x-pagerduty-signature', itemSeparator: ',', pairSeparator: '=', keys: ['v1'] },
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'utf8',
    signed: '{body}',
    // No deliveryHeader: X-Webhook-Id names the subscription and is the same for every event.
    source: 'developer.pagerduty.com/docs/verifying-webhook-signatures',
  },
  {
    id: 'vercel',
    signature: { header: 'x-vercel-signature' },
    algorithm: 'sha1',
    encoding: 'hex',
    key: 'utf8',
    signed: '{body}',
    source: 'vercel.com/docs/webhooks/webhooks-api',
  },
];

/** Every scheme a webhook may name, by identifier. Total: a scheme that is not here does not exist. */
export const SIGNATURE_SCHEMES: ReadonlyMap<string, SignatureScheme> = new Map(
  SCHEMES.map((scheme) => [scheme.id, scheme]),
);

/** The header families of a scheme, in the order they are tried; schemes without families have one, the empty one. */
export function familiesOf(scheme: SignatureScheme): readonly string[] {
  return scheme.families ?? [''];
}

/** A header name of the scheme within one family: `{n}-id` → `svix-id`. */
export function inFamily(template: string, family: string): string {
  return template.replaceAll('{n}', family);
}

/** Every header in which the scheme's senders may put a signature, lower-case, in the order they are tried. */
export function signatureHeadersOf(scheme: SignatureScheme): readonly string[] {
  return familiesOf(scheme).map((family) => inFamily(scheme.signature.header, family));
}

/** The header that carries the scheme's timestamp in this family; undefined when the timestamp is elsewhere or absent. */
export function timestampHeader(scheme: SignatureScheme, family: string): string | undefined {
  const from = scheme.timestamp?.from;
  return from?.startsWith('header:') ? inFamily(from.slice('header:'.length), family) : undefined;
}

/**
 * Every header in which the scheme's senders may put their delivery id, lower-case, in the order they are tried.
 * Empty for providers that send none. contract 6.
 */
export function deliveryHeadersOf(scheme: SignatureScheme): readonly string[] {
  const { deliveryHeader } = scheme;
  return deliveryHeader === undefined ? [] : familiesOf(scheme).map((family) => inFamily(deliveryHeader, family));
}
