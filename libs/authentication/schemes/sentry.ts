/** How Sentry signs its requests, and how it is set up there. contract §6. */
import type { ServedScheme } from '../types.ts';

export const sentry: ServedScheme = {
  id: 'sentry',
  signature: { header: 'sentry-hook-signature' },
  algorithm: 'sha256',
  encoding: 'hex',
  key: 'utf8',
  signed: '{body}',
  deliveryHeader: 'request-id',
  source: 'docs.sentry.io/organization/integrations/integration-platform/webhooks',
  headerNames: ['Sentry-Hook-Signature', 'Request-ID'],
  providers: [
    {
      id: 'sentry',
      label: 'Sentry',
      secret: 'revealed',
      secretPlace: 'The “Client Secret” of the integration, shown under Credentials once it is saved.',
      steps: [
        'At Sentry, open Settings → Custom Integrations (Developer Settings in older versions) and create an ' +
          'internal integration.',
        'Webhook URL: {url}',
        'For alerts turn on “Alert Rule Action” and name the integration in the alert’s actions; for other ' +
          'events choose permissions and tick the resources under “Webhooks”.',
        'Save the integration and copy its client secret.',
      ],
      notes: [],
    },
  ],
};
