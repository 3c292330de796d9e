/** How Standard Webhooks signs its requests, and how it is set up there. contract §6. */
import type { ServedScheme } from '../types.ts';
import { SIGNATURE_AGE_SECONDS_MAX } from '../timestamps.ts';

export const standardWebhooks: ServedScheme = {
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
  providers: [
    {
      id: 'standard_webhooks',
      label: 'Standard Webhooks (any compatible sender)',
      secret: 'generated',
      secretPlace:
        'Leave it blank and a secret (whsec_…) is generated for the sender. A sender that makes its own, as ' +
        'those that use Svix do, shows it on the page of the endpoint.',
      steps: [
        'At the sender, add a webhook endpoint with the URL {url}',
        'Give it the signing secret. If it made one of its own instead, enter that one here by “Rotate secret”.',
        'Choose the events that your automations act on, and JSON as the format.',
      ],
      notes: ['A header webhook-id (or svix-id) identifies each delivery.'],
    },
    {
      id: 'gitlab',
      label: 'GitLab (signing token)',
      secret: 'generated',
      secretPlace:
        'The signing token of the webhook (whsec_…). Versions of GitLab without signing tokens have only a ' +
        '“Secret token”, which is no signature.',
      steps: [
        'At GitLab, open Settings → Webhooks of the project or group and add a webhook.',
        'URL: {url}',
        'Signing token: the same secret as here. The field “Secret token” stays empty.',
        'Tick the triggers that your automations act on, and leave SSL verification on.',
      ],
      notes: ['Where there is no field for a signing token, create a webhook with a URL token instead.'],
    },
  ],
};
