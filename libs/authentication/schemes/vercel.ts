/** How Vercel signs its requests, and how it is set up there. contract §6. */
import type { ServedScheme } from '../types.ts';

export const vercel: ServedScheme = {
  id: 'vercel',
  signature: { header: 'x-vercel-signature' },
  algorithm: 'sha1',
  encoding: 'hex',
  key: 'utf8',
  signed: '{body}',
  source: 'vercel.com/docs/webhooks/webhooks-api',
  providers: [
    {
      id: 'vercel',
      label: 'Vercel',
      secret: 'revealed',
      secretPlace:
        'Vercel shows it once, when the webhook is created. Webhooks of an integration are signed with its ' +
        'Client Secret.',
      steps: [
        'At Vercel, open Settings → Webhooks of the team.',
        'Select the events that your automations act on, and the projects.',
        'Endpoint URL: {url}',
        'Create the webhook and copy the secret that is shown then.',
      ],
      notes: [
        'Webhooks of a team need a plan that has them.',
        'Vercel sends no delivery ID: a request with the very same body is told as a duplicate.',
      ],
    },
  ],
};
