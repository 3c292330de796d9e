/** Providers that sign their requests, and what to do at each of them: where to click, what to choose, where the secret is. One more provider is one more entry; a scheme without an entry is offered by its name. */

export interface Provider {
  id: string;
  label: string;
  /** What `signature_scheme` names. */
  scheme: string;
  /** Where the secret comes from. `chosen`: somebody makes it up and types it in both places. `revealed`: the provider shows it once it knows the URL. `generated`: it is made here, or taken from the provider. */
  secret: 'chosen' | 'revealed' | 'generated';
  /** Where the secret is found. */
  secretPlace: string;
  /** In order; `{url}` is the address. */
  steps: readonly string[];
  /** What surprises people. */
  notes: readonly string[];
}

export const PROVIDERS: readonly Provider[] = [
  {
    id: 'github',
    label: 'GitHub',
    scheme: 'github',
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
  {
    id: 'stripe',
    label: 'Stripe',
    scheme: 'stripe',
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
  {
    id: 'standard_webhooks',
    label: 'Standard Webhooks (any compatible sender)',
    scheme: 'standard_webhooks',
    secret: 'generated',
    secretPlace:
      'Leave it blank and a secret (whsec_…) is generated for the sender. A sender that makes its own, as those that use Svix do, shows it on the page of the endpoint.',
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
    scheme: 'standard_webhooks',
    secret: 'generated',
    secretPlace:
      'The signing token of the webhook (whsec_…). Versions of GitLab without signing tokens have only a “Secret token”, which is no signature.',
    steps: [
      'At GitLab, open Settings → Webhooks of the project or group and add a webhook.',
      'URL: {url}',
      'Signing token: the same secret as here. The field “Secret token” stays empty.',
      'Tick the triggers that your automations act on, and leave SSL verification on.',
    ],
    notes: ['Where there is no field for a signing token, create a webhook with a URL token instead.'],
  },
  {
    id: 'sentry',
    label: 'Sentry',
    scheme: 'sentry',
    secret: 'revealed',
    secretPlace: 'The “Client Secret” of the integration, shown under Credentials once it is saved.',
    steps: [
      'At Sentry, open Settings → Custom Integrations (Developer Settings in older versions) and create an internal integration.',
      'Webhook URL: {url}',
      'For alerts turn on “Alert Rule Action” and name the integration in the alert’s actions; for other events choose permissions and tick the resources under “Webhooks”.',
      'Save the integration and copy its client secret.',
    ],
    notes: [],
  },
  {
    id: 'pagerduty',
    label: 'PagerDuty',
    scheme: 'pagerduty',
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
  {
    id: 'vercel',
    label: 'Vercel',
    scheme: 'vercel',
    secret: 'revealed',
    secretPlace:
      'Vercel shows it once, when the webhook is created. Webhooks of an integration are signed with its Client Secret.',
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
];

/** Providers of the schemes that the server serves, those without an entry by the scheme's name. */
export function providersOf(schemes: readonly { id: string; secret_origin: 'provider' | 'either' }[]): Provider[] {
  return schemes.flatMap(({ id, secret_origin: origin }) => {
    const known = PROVIDERS.filter(({ scheme }) => scheme === id);
    return known.length > 0 ? known : [unknownProvider(id, origin)];
  });
}

/** The provider that a stored scheme most likely belongs to: the first one. */
export function providerOfScheme(scheme: string): Provider {
  return PROVIDERS.find((provider) => provider.scheme === scheme) ?? unknownProvider(scheme, 'provider');
}

export function schemeLabel(scheme: string): string {
  return scheme === 'standard_webhooks' ? 'Standard Webhooks' : providerOfScheme(scheme).label;
}

function unknownProvider(scheme: string, origin: 'provider' | 'either'): Provider {
  return {
    id: scheme,
    label: scheme,
    scheme,
    secret: origin === 'either' ? 'generated' : 'revealed',
    secretPlace: 'The signing secret of the webhook at the provider.',
    steps: [
      'At the provider, add a webhook with the URL {url}',
      'Choose JSON as the format and the events that your automations act on.',
      'Copy the signing secret.',
    ],
    notes: [],
  };
}

/** The steps as text that can be given to somebody else; the secret is in it where it is known. */
export function setUpText(provider: Provider, url: string, secret?: string): string {
  return [
    `Webhook for ${provider.label}`,
    '',
    `URL: ${url}`,
    ...(secret === undefined ? [] : [`Secret: ${secret}`]),
    '',
    ...provider.steps.map((step, index) => `${index + 1}. ${step.replaceAll('{url}', url)}`),
    ...(provider.notes.length === 0 ? [] : ['', ...provider.notes.map((note) => `Note: ${note}`)]),
    '',
  ].join('\n');
}
