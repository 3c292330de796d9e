/** Why a delivery was refused, in sentences: made of the check that it failed, never of a value that was sent. */
import type { components } from '#client/generated';

type Delivery = components['schemas']['Delivery'];
type Refused = Pick<Delivery, 'outcome' | 'refusal' | 'refused_because' | 'count'>;
type Hint = NonNullable<NonNullable<Delivery['refusal']>['hint']>;

const DAY_SECONDS = 86_400;
/** A clock that is off by less explains nothing. */
const SKEW_SHOWN_SECONDS = 60;

/** The first sentence says what failed; further ones what else is known. */
export function refusalWords({ outcome, refusal, refused_because: reason, count }: Refused): string[] {
  if (outcome === 'Throttled') return throttledWords(count);
  if (refusal === undefined) return [unknownWords(outcome, reason, count)];
  const { check, header, skew_seconds: skew } = refusal;
  switch (check) {
    case 'size':
      return ['The body is larger than 256 KB, the most that a delivery may have.'];
    case 'json':
      return ['The body is not one JSON text in UTF-8.'];
    case 'timestamp':
      return [timestampWords(header, skew)];
    case 'credential':
      return [
        headerWords(header, reason) ??
          CREDENTIAL[reason ?? ''] ??
          'The secret that came with the request is not the webhook’s.',
      ];
    case 'signature':
      return [
        headerWords(header, reason) ??
          SIGNATURE[reason ?? ''] ??
          'The signature does not fit the body and the webhook’s secret.',
        ...(skew === undefined || Math.abs(skew) < SKEW_SHOWN_SECONDS ? [] : [clockWords(skew)]),
      ];
  }
}

const UNSET = 'The webhook’s secret has no value yet, so nobody can prove to know it.';
const CREDENTIAL: Readonly<Record<string, string>> = {
  'secret-unset': UNSET,
  'token-missing': 'The URL ends without the secret that belongs there.',
};
const SIGNATURE: Readonly<Record<string, string>> = { 'secret-unset': UNSET };

/** Words about a header that is to blame. What exactly is wrong with it is known to managers. */
function headerWords(header: string | undefined, reason: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  switch (reason) {
    case 'header-missing':
      return `The header ${header} is missing.`;
    case 'header-repeated':
      return `The header ${header} was sent more than once.`;
    case 'header-malformed':
      return `The header ${header} is not written as it must be.`;
    case 'token-missing':
      return `The header ${header} holds no secret.`;
    case 'too-many-candidates':
      return `The header ${header} holds more signatures than are looked at.`;
    default:
      return `The header ${header} is missing, was sent more than once, or is not written as it must be.`;
  }
}

function timestampWords(header: string | undefined, skew: number | undefined): string {
  if (skew !== undefined)
    return (
      `${clockWords(skew)} The signature itself fits: the sender’s clock is wrong, or an old request was sent ` +
      'again.'
    );
  return header === undefined
    ? 'The timestamp cannot be read.'
    : `The timestamp in the header ${header} cannot be read.`;
}

function clockWords(skewSeconds: number): string {
  return `The sender’s clock was ${lengthText(Math.abs(skewSeconds))} ${skewSeconds < 0 ? 'ahead' : 'behind'}.`;
}

/** `45 s`, `7 min 12 s`, `3 h 5 min`, `12 days`. */
export function lengthText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 2 * DAY_SECONDS) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / DAY_SECONDS).toLocaleString('en')} days`;
}

function unknownWords(outcome: Delivery['outcome'], reason: string | undefined, count: number): string {
  if (count > 1 || reason === 'counted')
    return (
      `This entry counts ${count.toLocaleString('en')} refused ${count === 1 ? 'delivery' : 'deliveries'}: there ` +
      'were more than 60 within a minute, of which no more is kept.'
    );
  return `It was refused (${outcome}); nothing more was written down.`;
}

function throttledWords(count: number): string[] {
  return [
    count === 1
      ? 'It was answered 429: the webhook had taken 60 deliveries within a minute, the most that it takes.'
      : `This entry counts ${count.toLocaleString('en')} deliveries of one minute that were answered 429: the ` +
        'webhook had taken 60 within a minute, the most that it takes.',
    'A sender that heeds Retry-After delivers it again. Where it happens often, use several webhooks.',
  ];
}

/** The mistake with which the signature would have fitted, and the way out. */
export const HINTS: Readonly<Record<Hint, { likely: string; wayOut: string }>> = {
  'trailing-newline': {
    likely: 'With one newline more or less at the end, of the body or of the secret, the signature would have fitted.',
    wayOut:
      'Sign exactly the bytes that are sent (curl: --data-binary, not -d @file), and make the secret without a ' +
      'final newline: printf %s instead of echo.',
  },
  're-encoded-json': {
    likely:
      'The signature fits the same JSON printed in another way: it was signed before it was printed again, or ' +
      'something on the way prints it anew.',
    wayOut:
      'Print the JSON once, sign those bytes and send them unchanged; let proxies pass the body through as it is.',
  },
  'key-encoding': {
    likely: 'The signature fits when the secret is read in another form: base64 or hex as text, or text as bytes.',
    wayOut:
      'Give both sides the secret in the form that the scheme says: keys that begin with whsec_ are decoded ' +
      'from base64, all others are used as the text that they are.',
  },
  'other-scheme': {
    likely: 'The request is signed by the scheme of another provider.',
    wayOut: 'Choose that provider’s scheme for a webhook of its own, or let the sender sign by the scheme of this one.',
  },
};
