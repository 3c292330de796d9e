/** How PagerDuty signs its requests, and how it is set up there. contract §6. */
import type { ServedScheme } from '../types.ts';

export const pagerduty: ServedScheme = {
  id: 'pagerduty',
  signature: { header: 'x-pagerduty-signature', itemSeparator: ',', pairSeparator: '=', keys: ['v1'] },
  algorithm: 'sha256',
  encoding: 'hex',
  key: 'utf8',
  signed: '{body}',
  // No deliveryHeader: X-Webhook-Id names the subscription and is the same for every event.
  source: 'developer.pagerduty.com/docs/verifying-webhook-signatures',
  headerNames: ['X-PagerDuty-Signature'],
  providers: [
    {
      id: 'pagerduty',
      label: 'PagerDuty',
      secret: 'revealed',
      secretPlace: 'PagerDuty shows it once, when the subscription is created.',
      steps: [
        'At PagerDuty, open Integrations → Generic Webhooks (v3) and choose “New Webhook”.',
        'Webhook URL: {url}',
        'Choose the scope and the event types that your automations act on.',
        'Add the webhook and copy the secret that is shown then.',
      ],
      notes: [
        'PagerDuty sends no delivery ID; X-Webhook-Id names the subscription and is the same in all of its requests.',
      ],
    },
  ],
};
