/** Signature schemes that are known but not served, with the reason; their headers are no delivery ids. contract §6. */

const REASONS = {
  'standard-webhooks': 'it signs as Standard Webhooks do: use signatureScheme standard_webhooks',
  'static-token': 'it sends a fixed secret instead of a signature, so anybody who sees one request can send others',
  handshake: 'its sender wants a handshake answered before it delivers',
  'asymmetric-key': 'it signs with a private key, and the engine knows shared secrets only',
  'body-not-covered': 'its signature does not cover the body',
  'no-primary-source': 'how it signs is known from third parties only',
  'no-independent-vector': 'there is no known signature to test it against that was not made by our own engine',
  'beyond-first-set': 'it is not part of the shipped set yet',
} as const;

type Reason = keyof typeof REASONS;

/**
 * Identifier, why it is not served, and the headers in which it carries signatures, timestamps and fixed secrets,
 * lower-case.
 */
type KnownScheme = readonly [id: string, reason: Reason, headers?: readonly string[]];

/** By reason, then by identifier: the order in which people are shown them. */
const KNOWN: readonly KnownScheme[] = [
  ['gitlab', 'standard-webhooks'],
  ['buildkite_token', 'static-token', ['x-buildkite-token']],
  ['chargebee', 'static-token'],
  ['datadog', 'static-token'],
  ['figma', 'static-token'],
  ['gitlab_token', 'static-token', ['x-gitlab-token']],
  ['ms_graph', 'static-token'],
  ['okta', 'static-token'],
  ['postmark', 'static-token'],
  ['telegram', 'static-token', ['x-telegram-bot-api-secret-token']],
  ['discord', 'handshake', ['x-signature-ed25519', 'x-signature-timestamp']],
  ['slack', 'handshake', ['x-slack-signature', 'x-slack-request-timestamp']],
  ['twitch', 'handshake', ['twitch-eventsub-message-signature', 'twitch-eventsub-message-timestamp']],
  ['zoom', 'handshake', ['x-zm-signature', 'x-zm-request-timestamp']],
  ['sendgrid', 'asymmetric-key', ['x-twilio-email-event-webhook-signature', 'x-twilio-email-event-webhook-timestamp']],
  ['telnyx', 'asymmetric-key', ['telnyx-signature-ed25519', 'telnyx-timestamp']],
  ['wise', 'asymmetric-key', ['x-signature-sha256']],
  ['mailgun', 'body-not-covered'],
  ['airtable', 'no-primary-source', ['x-airtable-content-mac']],
  ['authorize_net', 'no-primary-source', ['x-anet-signature']],
  ['cal_com', 'no-primary-source', ['x-cal-signature-256']],
  ['calendly', 'no-primary-source', ['calendly-webhook-signature']],
  ['checkout_com', 'no-primary-source', ['cko-signature']],
  ['clickup', 'no-primary-source', ['x-signature']],
  ['configcat', 'no-primary-source', ['x-configcat-webhook-signature-v1']],
  ['cursor', 'no-primary-source', ['x-webhook-signature']],
  ['customer_io', 'no-primary-source', ['x-cio-signature', 'x-cio-timestamp']],
  ['docusign', 'no-primary-source', ['x-docusign-signature-1']],
  ['dropbox', 'no-primary-source', ['x-dropbox-signature']],
  ['dwolla', 'no-primary-source', ['x-request-signature-sha-256']],
  ['elevenlabs', 'no-primary-source', ['elevenlabs-signature']],
  ['front', 'no-primary-source', ['x-front-signature', 'x-front-request-timestamp']],
  ['gitea', 'no-primary-source', ['x-gitea-signature']],
  ['gocardless', 'no-primary-source'],
  ['heroku', 'no-primary-source', ['heroku-webhook-hmac-sha256']],
  ['jira', 'no-primary-source', ['x-hub-signature']],
  ['klaviyo', 'no-primary-source', ['klaviyo-signature', 'klaviyo-timestamp']],
  ['launchdarkly', 'no-primary-source', ['x-ld-signature']],
  ['lemon_squeezy', 'no-primary-source', ['x-signature']],
  ['meta', 'no-primary-source'],
  ['ms_teams', 'no-primary-source'],
  ['paystack', 'no-primary-source', ['x-paystack-signature']],
  ['persona', 'no-primary-source', ['persona-signature']],
  ['quickbooks', 'no-primary-source', ['intuit-signature']],
  ['razorpay', 'no-primary-source', ['x-razorpay-signature']],
  ['recurly', 'no-primary-source', ['recurly-signature']],
  ['retell', 'no-primary-source', ['x-retell-signature']],
  ['segment', 'no-primary-source', ['x-signature']],
  ['sinch', 'no-primary-source', ['x-sinch-webhook-signature', 'x-sinch-webhook-signature-timestamp']],
  ['snyk', 'no-primary-source', ['x-hub-signature']],
  ['trello', 'no-primary-source', ['x-trello-webhook']],
  ['typeform', 'no-primary-source', ['typeform-signature']],
  ['webflow', 'no-primary-source', ['x-webflow-signature', 'x-webflow-timestamp']],
  ['woocommerce', 'no-primary-source', ['x-wc-webhook-signature']],
  ['xero', 'no-primary-source', ['x-xero-signature']],
  ['asana', 'no-independent-vector', ['x-hook-signature']],
  ['bitbucket', 'no-independent-vector', ['x-hub-signature']],
  ['buildkite', 'no-independent-vector', ['x-buildkite-signature']],
  ['grafana', 'no-independent-vector', ['x-grafana-alerting-signature']],
  ['grafana_ts', 'no-independent-vector', ['x-grafana-alerting-signature', 'x-grafana-alerting-timestamp']],
  ['hubspot_v3', 'no-independent-vector', ['x-hubspot-signature-v3', 'x-hubspot-request-timestamp']],
  ['intercom', 'no-independent-vector', ['x-hub-signature']],
  ['linear', 'no-independent-vector', ['linear-signature']],
  ['notion', 'no-independent-vector', ['x-notion-signature']],
  ['pandadoc', 'no-independent-vector'],
  ['pusher', 'no-independent-vector', ['x-pusher-signature']],
  ['sanity', 'no-independent-vector', ['sanity-webhook-signature']],
  ['shopify_events', 'no-independent-vector', ['shopify-hmac-sha256']],
  ['standard_webhooks_utf8', 'no-independent-vector'],
  ['workos', 'no-independent-vector', ['workos-signature']],
  ['x_twitter', 'no-independent-vector', ['x-twitter-webhooks-signature']],
  ['zendesk', 'no-independent-vector', ['x-zendesk-webhook-signature', 'x-zendesk-webhook-signature-timestamp']],
  ['box', 'beyond-first-set', ['box-signature-primary', 'box-signature-secondary', 'box-delivery-timestamp']],
  ['coinbase_commerce', 'beyond-first-set', ['x-cc-webhook-signature']],
  ['convoy_advanced', 'beyond-first-set', ['x-convoy-signature']],
  ['paddle', 'beyond-first-set', ['paddle-signature']],
  ['shopify', 'beyond-first-set', ['x-shopify-hmac-sha256']],
  ['square', 'beyond-first-set', ['x-square-hmacsha256-signature']],
];

/** Identifier of a known scheme that no webhook may name → why, as the end of a sentence. */
export const UNSHIPPED_SCHEMES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ KNOWN.map(([id, reason]) => [id, REASONS[reason]]),
);

/** Headers in which those schemes carry signatures, timestamps and fixed secrets, lower-case. */
export const UNSHIPPED_SCHEME_HEADERS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ KNOWN.flatMap(([, , headers = []]) => headers),
);
