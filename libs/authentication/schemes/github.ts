/** How GitHub signs its requests, and how it is set up there. contract §6. */
import type { ServedScheme } from '../types.ts';

export const github: ServedScheme = {
  id: 'github',
  signature: { header: 'x-hub-signature-256', prefix: 'sha256=' },
  algorithm: 'sha256',
  encoding: 'hex',
  key: 'utf8',
  signed: '{body}',
  deliveryHeader: 'x-github-delivery',
  source: 'docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries',
  headerNames: ['X-Hub-Signature-256', 'X-GitHub-Delivery'],
  providers: [
    {
      id: 'github',
      label: 'GitHub',
      secret: 'chosen',
      secretPlace: 'You choose it: the same text goes into the field Secret at GitHub.',
      steps: [
        'At GitHub, open Settings → Webhooks of the repository or organisation and choose “Add webhook”.',
        'Payload URL: {url}',
        'Content type: application/json. GitHub’s first choice is a form, which is no JSON and is refused.',
        'Secret: the same secret as here.',
        'Choose “Let me select individual events” and tick those that your automations act on.',
      ],
      notes: ['GitHub sends an event “ping” at once. An automation without a payload filter would act on it.'],
    },
  ],
};
