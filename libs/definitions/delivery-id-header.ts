/** Which headers cannot identify a delivery, and why. contract §8.2 (deliveryIdHeader). */
import { schemeHeaders, UNSHIPPED_SCHEME_HEADERS } from '#authentication/schemes';

const CREDENTIALS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-gitlab-token',
  'cookie2',
  'set-cookie2',
  'authentication-info',
  'www-authenticate',
  'api-key',
  'x-auth-token',
  'x-access-token',
  'x-csrf-token',
  'x-xsrf-token',
  'x-amz-security-token',
  'x-hook-secret',
  'x-buildkite-token',
  'x-telegram-bot-api-secret-token',
];
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'via',
  'forwarded',
  'max-forwards',
  'proxy-authenticate',
  'http2-settings',
];
const CONSTANT = [
  'host',
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'user-agent',
  'origin',
  'referer',
  'date',
  'from',
  'accept',
  'accept-encoding',
  'accept-language',
  'accept-charset',
  'cache-control',
  'pragma',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'content-location',
  'content-disposition',
  'accept-datetime',
  'range',
  'if-range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-visitor',
  'cf-ipcountry',
  'dnt',
  'priority',
  'prefer',
  'upgrade-insecure-requests',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
  // Providers' event names and ids of the webhook's configuration: they name the hook, not the delivery.
  'x-gitlab-webhook-uuid',
  'x-hook-uuid',
  'x-github-hook-id',
  'x-github-event',
  'x-github-hook-installation-target-id',
  'x-github-hook-installation-target-type',
  'x-gitlab-event',
  'x-gitlab-instance',
  'x-event-key',
  'sentry-hook-resource',
];
/**
 * Signature and timestamp headers, also of schemes that are known and not served. Sentry's signature does not cover its
 * time.
 */
const SIGNATURES = [...schemeHeaders(), ...UNSHIPPED_SCHEME_HEADERS, 'sentry-hook-timestamp'];

/** The last reason counts: a fixed secret is rather a credential than a signature. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ...SIGNATURES.map(
    (name) => [name, 'it carries a signature or its timestamp, which change when a delivery is sent again'] as const,
  ),
  ...CREDENTIALS.map((name) => [name, 'it carries a credential'] as const),
  ...HOP_BY_HOP.map((name) => [name, 'it belongs to the connection, not to the request'] as const),
  ...CONSTANT.map((name) => [name, 'it is the same for many deliveries'] as const),
]);

/** Why deliveries cannot be told apart by this header (lower-case name), or undefined when they can. */
export function refuseDeliveryIdHeader(header: string, signatureScheme: string | undefined): string | undefined {
  // PagerDuty puts the id of the subscription, not of the delivery, into X-Webhook-Id.
  if (header === 'x-webhook-id' && signatureScheme === 'pagerduty')
    return 'PagerDuty sends the same value with every delivery';
  return REASONS.get(header);
}
