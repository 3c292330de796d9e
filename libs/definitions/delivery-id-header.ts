/** Which headers cannot identify a delivery, and why. contract 8 (deliveryIdHeader). */

const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key', 'x-gitlab-token'];
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'via', 'forwarded', 'max-forwards'];
const CONSTANT = [
  'host', 'content-type', 'content-length', 'content-encoding', 'content-language', 'user-agent', 'origin', 'referer', 'date', 'from',
  'accept', 'accept-encoding', 'accept-language', 'accept-charset', 'cache-control', 'pragma',
  'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip',
  // Providers' ids of the webhook's configuration: the same for every delivery.
  'x-gitlab-webhook-uuid', 'x-hook-uuid', 'x-github-hook-id', 'x-github-event', 'x-github-hook-installation-target-id',
];
const SIGNATURES = [
  'x-hub-signature', 'x-hub-signature-256', 'stripe-signature', 'webhook-signature', 'webhook-timestamp', 'svix-signature', 'svix-timestamp',
  'sentry-hook-signature', 'sentry-hook-timestamp', 'x-pagerduty-signature', 'x-vercel-signature',
];

const REASONS: ReadonlyMap<string, string> = new Map([
  ...CREDENTIALS.map((name) => [name, 'it carries a credential'] as const),
  ...HOP_BY_HOP.map((name) => [name, 'it belongs to the connection, not to the request'] as const),
  ...CONSTANT.map((name) => [name, 'it is the same for many deliveries'] as const),
  ...SIGNATURES.map((name) => [name, 'it carries a signature or its timestamp, which change when a delivery is sent again'] as const),
]);

/** Signature and timestamp headers of the schemes that are served; lower-case. */
export const SIGNATURE_HEADERS: readonly string[] = SIGNATURES;

/** Why deliveries cannot be told apart by this header (lower-case name), or undefined when they can. */
export function refuseDeliveryIdHeader(header: string, signatureScheme: string | undefined): string | undefined {
  // PagerDuty puts the id of the subscription, not of the delivery, into X-Webhook-Id.
  if (header === 'x-webhook-id' && signatureScheme === 'pagerduty') return 'PagerDuty sends the same value with every delivery';
  return REASONS.get(header);
}
