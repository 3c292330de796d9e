/** Signature schemes that are known but not served, with the reason; their headers are no delivery ids. contract 6. */

const REASONS = {
  'standard-webhooks': 'it signs as Standard Webhooks do: use signatureScheme standard_webhooks',
  'static-token': 'it sends a fixed secret instead of a signature, so anybody who sees one request can send others',
  'handshake': 'its sender wants a handshake answered before it delivers',
  'asymmetric-key': 'it signs with a private key, and the engine knows shared secrets only',
  'body-not-covered': 'its signature does not cover the body',
  'no-primary-source': 'how it signs is known from third parties only',
  'no-independent-vector': 'there is no known signature to test it against that was not made by our own engine',
  'beyond-first-set': 'it is not part of the shipped set yet',
} as const;

type Reason = keyof typeof REASONS;

const KNOWN: Readonly<Record<Reason, readonly string[]>> = {
  'standard-webhooks': [
    'gitlab',
  ],
  'static-token': [
    'buildkite_token', 'chargebee', 'datadog', 'figma', 'gitlab_token', 'ms_graph', 'okta', 'postmark', 'telegram',
  ],
  'handshake': [
    'discord', 'slack', 'twitch', 'zoom',
  ],
  'asymmetric-key': [
    'sendgrid', 'telnyx', 'wise',
  ],
  'body-not-covered': [
    'mailgun',
  ],
  'no-primary-source': [
    'airtable', 'authorize_net', 'cal_com', 'calendly', 'checkout_com', 'clickup', 'configcat', 'cursor', 'customer_io', 'docusign',
    'dropbox', 'dwolla', 'elevenlabs', 'front', 'gitea', 'gocardless', 'heroku', 'jira', 'klaviyo', 'launchdarkly', 'lemon_squeezy',
    'meta', 'ms_teams', 'paystack', 'persona', 'quickbooks', 'razorpay', 'recurly', 'retell', 'segment',
    'sinch', 'snyk', 'trello', 'typeform', 'webflow', 'woocommerce', 'xero',
  ],
  'no-independent-vector': [
    'asana', 'bitbucket', 'buildkite', 'grafana', 'grafana_ts', 'hubspot_v3', 'intercom', 'linear', 'notion', 'pandadoc', 'pusher',
    'sanity', 'shopify_events', 'standard_webhooks_utf8', 'workos', 'x_twitter', 'zendesk',
  ],
  'beyond-first-set': [
    'box', 'circleci', 'coinbase_commerce', 'convoy_advanced', 'paddle', 'shopify', 'square',
  ],
};

/** Identifier of a known scheme that no webhook may name → why, as the end of a sentence. */
export const UNSHIPPED_SCHEMES: ReadonlyMap<string, string> = new Map(
  (Object.keys(KNOWN) as Reason[]).flatMap((reason) => KNOWN[reason].map((id): [string, string] => [id, REASONS[reason]])),
);

/** Headers in which those schemes carry signatures, timestamps and fixed secrets, lower-case. */
export const UNSHIPPED_SCHEME_HEADERS: ReadonlySet<string> = new Set([
  'box-delivery-timestamp', 'box-signature-primary', 'box-signature-secondary', 'calendly-webhook-signature', 'circleci-signature',
  'cko-signature', 'elevenlabs-signature', 'heroku-webhook-hmac-sha256', 'intuit-signature', 'klaviyo-signature', 'klaviyo-timestamp',
  'linear-signature', 'paddle-signature', 'persona-signature', 'recurly-signature', 'sanity-webhook-signature', 'shopify-hmac-sha256',
  'telnyx-signature-ed25519', 'telnyx-timestamp', 'twitch-eventsub-message-signature', 'twitch-eventsub-message-timestamp',
  'typeform-signature', 'workos-signature', 'x-airtable-content-mac', 'x-anet-signature', 'x-buildkite-signature', 'x-buildkite-token',
  'x-cal-signature-256', 'x-cc-webhook-signature', 'x-cio-signature', 'x-cio-timestamp', 'x-configcat-webhook-signature-v1',
  'x-convoy-signature', 'x-docusign-signature-1', 'x-dropbox-signature', 'x-front-request-timestamp', 'x-front-signature',
  'x-gitea-signature', 'x-gitlab-token', 'x-grafana-alerting-signature', 'x-grafana-alerting-timestamp', 'x-hook-signature',
  'x-hub-signature', 'x-hubspot-request-timestamp', 'x-hubspot-signature-v3', 'x-ld-signature', 'x-notion-signature',
  'x-paystack-signature', 'x-pusher-signature', 'x-razorpay-signature', 'x-request-signature-sha-256', 'x-retell-signature',
  'x-shopify-hmac-sha256', 'x-signature', 'x-signature-ed25519', 'x-signature-sha256', 'x-signature-timestamp',
  'x-sinch-webhook-signature', 'x-sinch-webhook-signature-timestamp', 'x-slack-request-timestamp', 'x-slack-signature',
  'x-square-hmacsha256-signature', 'x-telegram-bot-api-secret-token', 'x-trello-webhook', 'x-twilio-email-event-webhook-signature',
  'x-twilio-email-event-webhook-timestamp', 'x-twitter-webhooks-signature', 'x-wc-webhook-signature', 'x-webflow-signature',
  'x-webflow-timestamp', 'x-webhook-signature', 'x-xero-signature', 'x-zendesk-webhook-signature',
  'x-zendesk-webhook-signature-timestamp', 'x-zm-request-timestamp', 'x-zm-signature',
]);
