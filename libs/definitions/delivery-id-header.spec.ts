/** Which header names may identify deliveries. */
import { deliveryHeadersOf, schemeHeaders, SIGNATURE_SCHEMES } from '#authentication';
import { refuseDeliveryIdHeader } from './index.ts';

const CREDENTIAL = 'it carries a credential';
const CONNECTION = 'it belongs to the connection, not to the request';
const CONSTANT = 'it is the same for many deliveries';
const SIGNATURE = 'it carries a signature or its timestamp, which change when a delivery is sent again';

describe('refuseDeliveryIdHeader', () => {
  it.each([
    { name: 'x-order-id', reason: undefined, why: "a sender of one's own" },
    { name: 'x-github-delivery', reason: undefined, why: "a provider's delivery header is a fine choice" },
    { name: 'webhook-id', reason: undefined, why: 'the id header is no signature or timestamp' },
    { name: 'x-millwright-delivery-id', reason: undefined, why: 'our own may be named' },
    { name: 'idempotency-key', reason: undefined, why: 'request-specific' },
    { name: 'x-request-id', reason: undefined, why: 'request-specific' },
    { name: 'authorization', reason: CREDENTIAL, why: 'it would be shown as the delivery id' },
    { name: 'cookie', reason: CREDENTIAL, why: 'it would be shown as the delivery id' },
    {
      name: 'x-gitlab-token',
      reason: CREDENTIAL,
      why: 'a fixed secret, although a scheme that is not served reads it',
    },
    { name: 'x-api-key', reason: CREDENTIAL, why: 'a secret' },
    { name: 'host', reason: CONSTANT, why: 'the same in every request' },
    { name: 'user-agent', reason: CONSTANT, why: 'the same in every request' },
    { name: 'content-type', reason: CONSTANT, why: 'the same in every request' },
    { name: 'content-length', reason: CONSTANT, why: 'says nothing about identity' },
    { name: 'x-forwarded-for', reason: CONSTANT, why: "the sender's address" },
    { name: 'x-github-event', reason: CONSTANT, why: 'the kind of event' },
    { name: 'x-gitlab-webhook-uuid', reason: CONSTANT, why: 'names the hook, not the delivery' },
    { name: 'connection', reason: CONNECTION, why: 'for the next hop only' },
    { name: 'transfer-encoding', reason: CONNECTION, why: 'for the next hop only' },
    { name: 'x-hub-signature-256', reason: SIGNATURE, why: 'a signature' },
    { name: 'x-hub-signature', reason: SIGNATURE, why: "GitHub's older signature" },
    { name: 'svix-timestamp', reason: SIGNATURE, why: 'a timestamp of the second family' },
    { name: 'x-slack-signature', reason: SIGNATURE, why: 'a scheme that is not served' },
  ])('$name: $reason, because $why', ({ name, reason }) => {
    expect(refuseDeliveryIdHeader(name, undefined)).toBe(reason);
  });

  it('refuses every header that a served scheme signs with', () => {
    const headers = [...schemeHeaders()];
    expect(headers.length).toBeGreaterThan(8);
    expect(headers.filter((name) => refuseDeliveryIdHeader(name, undefined) === undefined)).toEqual([]);
  });

  it('never refuses the delivery header of a scheme that is served', () => {
    const headers = [...SIGNATURE_SCHEMES.values()].flatMap(deliveryHeadersOf);
    expect(headers.sort()).toEqual(['request-id', 'svix-id', 'webhook-id', 'x-github-delivery']);
    expect(headers.filter((name) => refuseDeliveryIdHeader(name, undefined) !== undefined)).toEqual([]);
  });

  it('refuses the header in which PagerDuty names a subscription, with its scheme only', () => {
    expect(refuseDeliveryIdHeader('x-webhook-id', 'pagerduty')).toBe(
      'PagerDuty sends the same value with every delivery',
    );
    expect(refuseDeliveryIdHeader('x-webhook-id', undefined)).toBeUndefined();
  });
});
