/** Providers that sign their requests, as the page offers them: one of an unknown scheme by the scheme's name. */
import { SIGNATURE_SCHEMES, type SchemeProvider } from '#authentication/schemes';

/** A provider, and what `signature_scheme` names for it. */
export interface Provider extends SchemeProvider {
  scheme: string;
}

export const PROVIDERS: readonly Provider[] = [...SIGNATURE_SCHEMES.values()].flatMap(({ id, providers }) =>
  providers.map((provider) => ({ ...provider, scheme: id })),
);

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
