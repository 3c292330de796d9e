/** How CircleCI signs its requests, and how it is set up there. contract §6. */
import type { ServedScheme } from '../types.ts';

export const circleci: ServedScheme = {
  id: 'circleci',
  signature: { header: 'circleci-signature', itemSeparator: ',', pairSeparator: '=', keys: ['v1'] },
  algorithm: 'sha256',
  encoding: 'hex',
  key: 'utf8',
  signed: '{body}',
  // No deliveryHeader: the event's id is a member of the body.
  source: 'circleci.com/docs/outbound-webhooks',
  providers: [
    {
      id: 'circleci',
      label: 'CircleCI',
      secret: 'chosen',
      secretPlace: 'You choose it: the same text goes into the field “Secret token” at CircleCI.',
      steps: [
        'At CircleCI, open Project Settings → Webhooks of the project and choose “Add Webhook”.',
        'URL: {url}',
        'Secret token: the same secret as here. Without one CircleCI does not sign.',
        'Leave certificate validation on, and select the events that your automations act on.',
      ],
      notes: [
        'CircleCI sends no delivery ID: a request with the very same body is told as a duplicate.',
        '“Test Ping Event” sends a shorter event. An automation without a payload filter would act on it.',
      ],
    },
  ],
};
