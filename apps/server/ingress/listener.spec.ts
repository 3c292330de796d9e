/** Which request targets the ingress takes for its own. contract 5 (one wildcard route below /webhooks/). */
import { describe, expect, it } from '@jest/globals';
import { isIngressTarget } from './listener.ts';

describe('the ingress answers for', () => {
  it.each([
    { target: '/webhooks/', its: true, why: 'the prefix' },
    { target: '/webhooks/w/wh_1', its: true, why: 'a webhook' },
    { target: '/webhooks/anything/else?x', its: true, why: 'all below it' },
    { target: 'http://host/webhooks/w/x', its: true, why: 'absolute form' },
    { target: 'HTTPS://host:1/webhooks/w/x', its: true, why: 'absolute form, any case and port' },
    { target: '/webhooks', its: false, why: 'not below it' },
    { target: '/webhooksy/w/x', its: false, why: 'another name' },
    { target: '/Webhooks/w/x', its: false, why: 'paths are exact' },
    { target: '//webhooks/w/x', its: false, why: 'not resolved' },
    { target: '/api/v1/webhooks/', its: false, why: 'not at the root' },
    { target: 'http://host/api?/webhooks/', its: false, why: 'in the query' },
    { target: 'http://host#/webhooks/', its: false, why: 'in a fragment' },
    { target: '', its: false, why: 'empty' },
    { target: '*', its: false, why: 'the server itself' },
  ])('$target: $its, $why', ({ target, its }) => {
    expect(isIngressTarget(target)).toBe(its);
  });
});
