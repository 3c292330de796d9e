/** How Stripe signs its requests, and how it is set up there. contract §6. */
import type { ServedScheme } from '../types.ts';
import { SIGNATURE_AGE_SECONDS_MAX } from '../timestamps.ts';

export const stripe: ServedScheme = {
  id: 'stripe',
  signature: { header: 'stripe-signature', itemSeparator: ',', pairSeparator: '=', keys: ['v1'] },
  algorithm: 'sha256',
  encoding: 'hex',
  // The `whsec_` of a Stripe secret is part of the key, not a marker for base64.
  key: 'utf8',
  signed: '{timestamp}.{body}',
  timestamp: { from: 'pair:t', format: 'unix', toleranceSeconds: SIGNATURE_AGE_SECONDS_MAX },
  source: 'docs.stripe.com/webhooks/signature',
  headerNames: ['Stripe-Signature'],
  providers: [
    {
      id: 'stripe',
      label: 'Stripe',
      secret: 'revealed',
      secretPlace:
        'Stripe shows it as “Signing secret” (whsec_…) on the page of the event destination, once that exists.',
      steps: [
        'At Stripe, open Workbench → Webhooks and add an event destination.',
        'Select the events that your automations act on, and “Webhook endpoint” as the kind of destination.',
        'Endpoint URL: {url}',
        'Create the destination and reveal its signing secret.',
      ],
      notes: [
        'Test mode and live mode are different destinations with different secrets.',
        'Stripe sends no delivery ID: a request with the very same body is told as a duplicate.',
      ],
    },
  ],
};
