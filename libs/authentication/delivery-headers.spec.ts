/** Which header names may identify deliveries. */
import { readFileSync } from 'node:fs';
import {
  deliveryHeaderProblem,
  deliveryHeadersOf,
  isForbiddenDeliveryHeader,
  schemeHeaders,
  SIGNATURE_SCHEMES,
  UNSHIPPED_SCHEMES,
} from './index.ts';

const { vectors } = JSON.parse(
  readFileSync(new URL('../../test/vectors/signatures.json', import.meta.url), 'utf8'),
) as { vectors: { headers: Record<string, string> }[] };

describe('deliveryHeaderProblem', () => {
  it.each([
    { name: 'X-Order-Id', problem: undefined, why: "a sender of one's own" },
    { name: 'X-GitHub-Delivery', problem: undefined, why: "a provider's delivery header is a fine choice" },
    { name: 'webhook-id', problem: undefined, why: 'the id header is no signature or timestamp' },
    { name: 'X-Millwright-Delivery-Id', problem: undefined, why: 'our own may be named' },
    { name: 'Idempotency-Key', problem: undefined, why: 'request-specific' },
    { name: 'X-Request-Id', problem: undefined, why: 'request-specific' },
    { name: 'Authorization', problem: 'credential', why: 'it would be shown as the delivery id' },
    { name: 'COOKIE', problem: 'credential', why: 'names have no case' },
    { name: 'X-Gitlab-Token', problem: 'signature', why: 'a secret of a scheme that is not served' },
    { name: 'x-api-key', problem: 'credential', why: 'a secret' },
    { name: 'Host', problem: 'constant', why: 'the same in every request' },
    { name: 'User-Agent', problem: 'constant', why: 'the same in every request' },
    { name: 'Content-Type', problem: 'constant', why: 'the same in every request' },
    { name: 'content-length', problem: 'constant', why: 'says nothing about identity' },
    { name: 'Accept', problem: 'constant', why: 'the same in every request' },
    { name: 'X-Forwarded-For', problem: 'constant', why: "the sender's address" },
    { name: 'X-GitHub-Event', problem: 'constant', why: 'the kind of event' },
    { name: 'X-Gitlab-Webhook-UUID', problem: 'constant', why: 'names the hook, not the delivery' },
    { name: 'Connection', problem: 'hop-by-hop', why: 'for the next hop only' },
    { name: 'Transfer-Encoding', problem: 'hop-by-hop', why: 'for the next hop only' },
    { name: 'X-Hub-Signature-256', problem: 'signature', why: 'a signature' },
    { name: 'X-Hub-Signature', problem: 'signature', why: "GitHub's older signature" },
    { name: 'svix-timestamp', problem: 'signature', why: 'a timestamp of the second family' },
    { name: 'X-Slack-Signature', problem: 'signature', why: 'a scheme that is not served' },
    { name: '', problem: 'illegal-name', why: 'no name' },
    { name: 'X Order', problem: 'illegal-name', why: 'a space' },
    { name: 'X-Order:', problem: 'illegal-name', why: 'a colon' },
    { name: 'X-Ördèr', problem: 'illegal-name', why: 'not ASCII' },
    { name: 'X-Order\n', problem: 'illegal-name', why: 'a control character' },
    { name: 'x'.repeat(129), problem: 'illegal-name', why: 'nobody sends that' },
  ])('$name: $problem, because $why', ({ name, problem }) => {
    expect(deliveryHeaderProblem(name)).toBe(problem);
    expect(isForbiddenDeliveryHeader(name)).toBe(problem !== undefined);
  });

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

  it('never forbids the delivery header of a scheme it serves', () => {
    const headers = [...SIGNATURE_SCHEMES.values()].flatMap(deliveryHeadersOf);
    expect(headers.sort()).toEqual(['request-id', 'svix-id', 'webhook-id', 'x-github-delivery']);
    expect(headers.filter(isForbiddenDeliveryHeader)).toEqual([]);
  });
});

describe('UNSHIPPED_SCHEMES', () => {
  it('names a reason for each and none that is served', () => {
    expect([...UNSHIPPED_SCHEMES.keys()].filter((id) => SIGNATURE_SCHEMES.has(id))).toEqual([]);
    expect(UNSHIPPED_SCHEMES.get('slack')).toMatch(/handshake/u);
    expect(UNSHIPPED_SCHEMES.get('mailgun')).toMatch(/does not cover the body/u);
  });
});
