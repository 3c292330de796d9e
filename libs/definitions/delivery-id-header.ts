/** Which headers cannot identify a delivery, and why. contract 8 (deliveryIdHeader). */

const CREDENTIALS = [
  'authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key', 'x-gitlab-token', 'cookie2', 'set-cookie2',
  'authentication-info', 'www-authenticate', 'api-key', 'x-auth-token', 'x-access-token', 'x-csrf-token', 'x-xsrf-token',
  'x-amz-security-token', 'x-hook-secret', 'x-buildkite-token', 'x-telegram-bot-api-secret-token',
];
const HOP_BY_HOP = [
  'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'via', 'forwarded',
  'max-forwards', 'proxy-authenticate', 'http2-settings',
];
const CONSTANT = [
  'host', 'content-type', 'content-length', 'content-encoding', 'content-language', 'user-agent', 'origin', 'referer', 'date', 'from',
  'accept', 'accept-encoding', 'accept-language', 'accept-charset', 'cache-control', 'pragma', 'x-forwarded-for', 'x-forwarded-host',
  'x-forwarded-proto', 'x-real-ip', 'content-location', 'content-disposition', 'accept-datetime', 'range', 'if-range', 'if-match',
  'if-none-match', 'if-modified-since', 'if-unmodified-since', 'x-forwarded-port', 'x-forwarded-server', 'x-client-ip',
  'x-cluster-client-ip', 'true-client-ip', 'cf-connecting-ip', 'cf-visitor', 'cf-ipcountry', 'dnt', 'priority', 'prefer',
  'upgrade-insecure-requests', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user',
  // Providers' event names and ids of the webhook's configuration: they name the hook, not the delivery.
  'x-gitlab-webhook-uuid', 'x-hook-uuid', 'x-github-hook-id', 'x-github-event', 'x-github-hook-installation-target-id',
  'x-github-hook-installation-target-type', 'x-gitlab-event', 'x-gitlab-instance', 'x-event-key', 'sentry-hook-resource',
];
const SIGNATURES = [
  'x-hub-signature-256', 'stripe-signature', 'webhook-signature', 'webhook-timestamp', 'svix-signature', 'svix-timestamp',
  'sentry-hook-signature', 'x-pagerduty-signature', 'x-vercel-signature',
];
/** Signatures and timestamps of schemes that are known and not served: as little an identity as the others. */
const OTHER_SIGNATURES = [
  'x-hub-signature', 'sentry-hook-timestamp', 'box-delivery-timestamp', 'box-signature-primary', 'box-signature-secondary',
  'calendly-webhook-signature', 'circleci-signature', 'cko-signature', 'elevenlabs-signature', 'heroku-webhook-hmac-sha256',
  'intuit-signature', 'klaviyo-signature', 'klaviyo-timestamp', 'linear-signature', 'paddle-signature', 'persona-signature',
  'recurly-signature', 'sanity-webhook-signature', 'shopify-hmac-sha256', 'telnyx-signature-ed25519', 'telnyx-timestamp',
  'twitch-eventsub-message-signature', 'twitch-eventsub-message-timestamp', 'typeform-signature', 'workos-signature',
  'x-airtable-content-mac', 'x-anet-signature', 'x-buildkite-signature', 'x-cal-signature-256', 'x-cc-webhook-signature',
  'x-cio-signature', 'x-cio-timestamp', 'x-configcat-webhook-signature-v1', 'x-convoy-signature', 'x-docusign-signature-1',
  'x-dropbox-signature', 'x-front-request-timestamp', 'x-front-signature', 'x-gitea-signature', 'x-grafana-alerting-signature',
  'x-grafana-alerting-timestamp', 'x-hook-signature', 'x-hubspot-request-timestamp', 'x-hubspot-signature-v3', 'x-ld-signature',
  'x-notion-signature', 'x-paystack-signature', 'x-pusher-signature', 'x-razorpay-signature', 'x-request-signature-sha-256',
  'x-retell-signature', 'x-shopify-hmac-sha256', 'x-signature', 'x-signature-ed25519', 'x-signature-sha256', 'x-signature-timestamp',
  'x-sinch-webhook-signature', 'x-sinch-webhook-signature-timestamp', 'x-slack-request-timestamp', 'x-slack-signature',
  'x-square-hmacsha256-signature', 'x-trello-webhook', 'x-twilio-email-event-webhook-signature', 'x-twilio-email-event-webhook-timestamp',
  'x-twitter-webhooks-signature', 'x-wc-webhook-signature', 'x-webflow-signature', 'x-webflow-timestamp', 'x-webhook-signature',
  'x-xero-signature', 'x-zendesk-webhook-signature', 'x-zendesk-webhook-signature-timestamp', 'x-zm-request-timestamp', 'x-zm-signature',
];

const REASONS: ReadonlyMap<string, string> = new Map([
  ...CREDENTIALS.map((name) => [name, 'it carries a credential'] as const),
  ...HOP_BY_HOP.map((name) => [name, 'it belongs to the connection, not to the request'] as const),
  ...CONSTANT.map((name) => [name, 'it is the same for many deliveries'] as const),
  ...[...SIGNATURES, ...OTHER_SIGNATURES].map((name) => [name, 'it carries a signature or its timestamp, which change when a delivery is sent again'] as const),
]);

/** Signature and timestamp headers of the schemes that are served; lower-case. */
export const SIGNATURE_HEADERS: readonly string[] = SIGNATURES;

/** Why deliveries cannot be told apart by this header (lower-case name), or undefined when they can. */
export function refuseDeliveryIdHeader(header: string, signatureScheme: string | undefined): string | undefined {
  // PagerDuty puts the id of the subscription, not of the delivery, into X-Webhook-Id.
  if (header === 'x-webhook-id' && signatureScheme === 'pagerduty') return 'PagerDuty sends the same value with every delivery';
  return REASONS.get(header);
}
