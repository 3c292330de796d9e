/** The schemes that are served and those that are not: their headers, and why. */
import { readFileSync } from 'node:fs';
import { schemeHeaders, SIGNATURE_SCHEMES, UNSHIPPED_SCHEMES } from './index.ts';

const { vectors } = JSON.parse(
  readFileSync(new URL('../../test/vectors/signatures.json', import.meta.url), 'utf8'),
) as { vectors: { headers: Record<string, string> }[] };

describe('schemeHeaders', () => {
  it('knows the signature and timestamp headers of all families', () => {
    const ofVectors = new Set(vectors.flatMap(({ headers }) => Object.keys(headers)));
    expect([...schemeHeaders()].filter((name) => !ofVectors.has(name))).toEqual([]);
    const hosted = [...schemeHeaders()].slice(0, 9);
    expect(hosted.sort()).toEqual([
      'sentry-hook-signature',
      'stripe-signature',
      'svix-signature',
      'svix-timestamp',
      'webhook-signature',
      'webhook-timestamp',
      'x-hub-signature-256',
      'x-pagerduty-signature',
      'x-vercel-signature',
    ]);
  });
});

describe('UNSHIPPED_SCHEMES', () => {
  it('names a reason for each and none that is served', () => {
    expect([...UNSHIPPED_SCHEMES.keys()].filter((id) => SIGNATURE_SCHEMES.has(id))).toEqual([]);
    expect(UNSHIPPED_SCHEMES.get('slack')).toMatch(/handshake/u);
    expect(UNSHIPPED_SCHEMES.get('mailgun')).toMatch(/does not cover the body/u);
  });
});
