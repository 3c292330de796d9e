/** Every way to be refused has its words, and none of them shows what was sent. */
import { HINTS, lengthText, refusalWords } from './refusal-words.ts';

const REFUSED = { outcome: 'Rejected (auth)', count: 1 } as const;

describe('refusalWords', () => {
  it.each([
    [
      { refusal: { check: 'credential', header: 'authorization' }, refused_because: 'header-missing' },
      ['The header authorization is missing.'],
    ],
    [
      { refusal: { check: 'credential', header: 'authorization' }, refused_because: 'header-repeated' },
      ['The header authorization was sent more than once.'],
    ],
    [
      { refusal: { check: 'credential', header: 'authorization' } },
      ['The header authorization is missing, was sent more than once, or is not written as it must be.'],
    ],
    [
      { refusal: { check: 'credential' }, refused_because: 'mismatch' },
      ['The secret that came with the request is not the webhook’s.'],
    ],
    [
      { refusal: { check: 'credential' }, refused_because: 'token-missing' },
      ['The URL ends without the secret that belongs there.'],
    ],
    [
      { refusal: { check: 'signature' }, refused_because: 'secret-unset' },
      ['The webhook’s secret has no value yet, so nobody can prove to know it.'],
    ],
    [
      { refusal: { check: 'signature', skew_seconds: 2 }, refused_because: 'mismatch' },
      ['The signature does not fit the body and the webhook’s secret.'],
    ],
    [
      { refusal: { check: 'signature', skew_seconds: -4_000 } },
      ['The signature does not fit the body and the webhook’s secret.', 'The sender’s clock was 1 h 6 min ahead.'],
    ],
    [
      { refusal: { check: 'timestamp', skew_seconds: 432 } },
      [
        'The sender’s clock was 7 min 12 s behind. The signature itself fits: the sender’s clock is wrong, or ' +
          'an old request was sent again.',
      ],
    ],
    [
      { refusal: { check: 'timestamp', header: 'webhook-timestamp' } },
      ['The timestamp in the header webhook-timestamp cannot be read.'],
    ],
    [{ refusal: { check: 'size' } }, ['The body is larger than 256 KB, the most that a delivery may have.']],
    [{ refusal: { check: 'json' } }, ['The body is not one JSON text in UTF-8.']],
    [
      { count: 12 },
      ['This entry counts 12 refused deliveries: there were more than 60 within a minute, of which no more is kept.'],
    ],
    [
      { refused_because: 'counted' },
      ['This entry counts 1 refused delivery: there were more than 60 within a minute, of which no more is kept.'],
    ],
    [{}, ['It was refused (Rejected (auth)); nothing more was written down.']],
    [
      { outcome: 'Throttled', refused_because: 'over-rate' },
      [
        'It was answered 429: the webhook had taken 60 deliveries within a minute, the most that it takes.',
        'A sender that heeds Retry-After delivers it again. Where it happens often, use several webhooks.',
      ],
    ],
    [
      { outcome: 'Throttled', count: 1_234 },
      [
        'This entry counts 1,234 deliveries of one minute that were answered 429: the webhook had taken 60 within a ' +
          'minute, the most that it takes.',
        'A sender that heeds Retry-After delivers it again. Where it happens often, use several webhooks.',
      ],
    ],
  ] as const)('%j', (refused, words) => expect(refusalWords({ ...REFUSED, ...refused })).toEqual(words));
});

describe('lengthText', () => {
  it.each([
    [0, '0 s'],
    [45, '45 s'],
    [60, '1 min 0 s'],
    [432, '7 min 12 s'],
    [11_100, '3 h 5 min'],
    [1_036_800, '12 days'],
    [1_795_300_000, '20,778 days'],
  ])('%d', (seconds, text) => expect(lengthText(seconds)).toBe(text));
});

describe('HINTS', () => {
  it.each([
    ['trailing-newline', 'With one newline more or less at the end', 'Sign exactly the bytes that are sent'],
    [
      're-encoded-json',
      'The signature fits the same JSON printed in another way',
      'Print the JSON once, sign those bytes and send them unchanged',
    ],
    [
      'key-encoding',
      'The signature fits when the secret is read in another form',
      'Give both sides the secret in the form that the scheme says',
    ],
    [
      'other-scheme',
      'The request is signed by the scheme of another provider',
      'Choose that provider’s scheme for a webhook of its own',
    ],
  ] as const)('%s says what was likely, and the way out', (hint, likely, wayOut) => {
    expect(HINTS[hint].likely).toContain(likely);
    expect(HINTS[hint].wayOut).toContain(wayOut);
  });

  it('are no more than these', () => expect(Object.keys(HINTS)).toHaveLength(4));
});
