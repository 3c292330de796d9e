/** The vocabulary of webhook deliveries. spec: Webhook delivery (log entry); contract §5. */

/** The outcomes of a delivery; values are the labels that people see. The last one is ours: contract §5.9 (Log). */
export const OUTCOMES = {
  accepted: 'Accepted',
  duplicate: 'Duplicate',
  rejectedAuth: 'Rejected (auth)',
  rejectedInvalidJson: 'Rejected (invalid JSON)',
  rejectedTooLarge: 'Rejected (too large)',
  throttled: 'Throttled',
} as const;
export type OutcomeKind = keyof typeof OUTCOMES;
export type OutcomeLabel = (typeof OUTCOMES)[OutcomeKind];

export type IdentityKind = 'configured_header' | 'scheme_header' | 'service_header' | 'body_hash' | 'resend';

/**
 * What makes two deliveries of one webhook the same. `value` is shown as `delivery_id`; `hash` (32 bytes, a character
 * each) is what is known of it for ever, and unique per webhook.
 */
export interface Identity {
  kind: IdentityKind;
  value: string;
  hash: string;
}

/** Every answer the ingress can give. */
export type IngressStatus = 202 | 400 | 401 | 404 | 405 | 413 | 429 | 503;
