/**
 * Which header names may identify a delivery: legal, different in every request, and never a credential. contract §8.2.
 */
import { schemeHeaders, UNSHIPPED_SCHEME_HEADERS } from './schemes.ts';

/** RFC 9110 token, bounded: a longer name is no header anybody sends. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;

/** Their values are secrets, and a delivery id is shown in answers, logs and prompts. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'cookie2',
  'set-cookie',
  'set-cookie2',
  'authentication-info',
  'www-authenticate',
  'x-api-key',
  'api-key',
  'x-auth-token',
  'x-access-token',
  'x-csrf-token',
  'x-xsrf-token',
  'x-amz-security-token',
  'x-hook-secret',
]);

/** The same in many or all requests of one sender: every delivery after the first would be a duplicate. */
const CONSTANT_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'user-agent',
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
  'content-disposition',
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'accept-datetime',
  'expect',
  'from',
  'origin',
  'referer',
  'date',
  'cache-control',
  'pragma',
  'range',
  'if-range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'max-forwards',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-visitor',
  'cf-ipcountry',
  'dnt',
  'priority',
  'prefer',
  'upgrade-insecure-requests',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
  // Providers' event names and configuration ids: they name the hook, not the delivery.
  'x-github-event',
  'x-github-hook-id',
  'x-github-hook-installation-target-id',
  'x-github-hook-installation-target-type',
  'x-gitlab-event',
  'x-gitlab-webhook-uuid',
  'x-gitlab-instance',
  'x-event-key',
  'x-hook-uuid',
  'sentry-hook-resource',
]);

/** Meant for the next hop only; a proxy removes or rewrites them. */
const HOP_BY_HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

export type DeliveryHeaderProblem = 'illegal-name' | 'credential' | 'constant' | 'hop-by-hop' | 'signature';

/** Why a header name, in any case, cannot identify deliveries; undefined when it can. */
export function deliveryHeaderProblem(name: string): DeliveryHeaderProblem | undefined {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name)) return 'illegal-name';
  if (CREDENTIAL_HEADERS.has(lower)) return 'credential';
  if (schemeHeaders().has(lower) || UNSHIPPED_SCHEME_HEADERS.has(lower)) return 'signature';
  if (HOP_BY_HOP_HEADERS.has(lower)) return 'hop-by-hop';
  return CONSTANT_HEADERS.has(lower) ? 'constant' : undefined;
}

/** Whether a header name may not be a webhook's `deliveryIdHeader`. */
export function isForbiddenDeliveryHeader(name: string): boolean {
  return deliveryHeaderProblem(name) !== undefined;
}
