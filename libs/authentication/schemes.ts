/**
 * The signature schemes that webhooks may name: one more scheme is one more file and its line here. The light door of
 * `#authentication`: data without what verifies, for the readers of files and the web page. contract §6.
 */
import { circleci } from './schemes/circleci.ts';
import { github } from './schemes/github.ts';
import { pagerduty } from './schemes/pagerduty.ts';
import { sentry } from './schemes/sentry.ts';
import { standardWebhooks } from './schemes/standard-webhooks.ts';
import { stripe } from './schemes/stripe.ts';
import { vercel } from './schemes/vercel.ts';
import type { ServedScheme, SignatureScheme } from './types.ts';

export type { SchemeProvider, ServedScheme } from './types.ts';
export { UNSHIPPED_SCHEMES, UNSHIPPED_SCHEME_HEADERS } from './unshipped-schemes.ts';

/** In the order in which people are offered them. */
const SCHEMES: readonly ServedScheme[] = [github, stripe, standardWebhooks, sentry, pagerduty, vercel, circleci];

/** Every scheme a webhook may name, by identifier. Total: a scheme that is not here does not exist. */
export const SIGNATURE_SCHEMES: ReadonlyMap<string, ServedScheme> = new Map(
  SCHEMES.map((scheme) => [scheme.id, scheme]),
);

/** Whether a request of this scheme stays good for ever: no time is signed with it. Unknown schemes do not count. */
export function signsNoTime(schemeId: string): boolean {
  const scheme = SIGNATURE_SCHEMES.get(schemeId);
  return scheme !== undefined && scheme.timestamp === undefined;
}

/** The header families of a scheme, in the order they are tried; schemes without families have one, the empty one. */
export function familiesOf(scheme: SignatureScheme): readonly string[] {
  return scheme.families ?? [''];
}

/** A header name of the scheme within one family: `{n}-id` → `svix-id`. */
export function inFamily(template: string, family: string): string {
  return template.replaceAll('{n}', family);
}

/** Every header in which the scheme's senders may put a signature, lower-case, in the order they are tried. */
export function signatureHeadersOf(scheme: SignatureScheme): readonly string[] {
  return familiesOf(scheme).map((family) => inFamily(scheme.signature.header, family));
}

/**
 * The header that carries the scheme's timestamp in this family; undefined when the timestamp is elsewhere or absent.
 */
export function timestampHeader(scheme: SignatureScheme, family: string): string | undefined {
  const from = scheme.timestamp?.from;
  return from?.startsWith('header:') ? inFamily(from.slice('header:'.length), family) : undefined;
}

/**
 * Every header in which the scheme's senders may put their delivery id, lower-case, in the order they are tried.
 * Empty for providers that send none. contract §6.
 */
export function deliveryHeadersOf(scheme: SignatureScheme): readonly string[] {
  const { deliveryHeader } = scheme;
  return deliveryHeader === undefined ? [] : familiesOf(scheme).map((family) => inFamily(deliveryHeader, family));
}

const SCHEME_HEADERS: ReadonlySet<string> = new Set(
  [...SIGNATURE_SCHEMES.values()].flatMap((scheme) =>
    familiesOf(scheme).flatMap((family) => {
      const timestamp = timestampHeader(scheme, family);
      return [inFamily(scheme.signature.header, family), ...(timestamp === undefined ? [] : [timestamp])];
    }),
  ),
);

/** Signature and timestamp headers of every scheme that is served, all families, lower-case. */
export function schemeHeaders(): ReadonlySet<string> {
  return SCHEME_HEADERS;
}
