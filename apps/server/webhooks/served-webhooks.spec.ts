/** What is packed comes back as it was, for any number of webhooks, and never as it was before. contract §5.8. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { SIGNATURE_SCHEMES } from '#authentication';
import { MATCH_EVERYTHING, UNREADABLE_FILTER } from '#filters';
import { CompiledFilters } from './definition-cache.ts';
import { type FactoryContents, type ServedWebhook, ServedWebhooks } from './served-webhooks.ts';

type Webhook = FactoryContents['webhooks'][number];
type Automation = FactoryContents['automations'][number];
type Trigger = Automation['definition']['triggers'][number];

const bytes = (fill: number, length = 32): Uint8Array => new Uint8Array(length).fill(fill);
const webhook = (uid: string, more: Partial<Webhook> = {}): Webhook => ({
  uid,
  slug: `slug of ${uid}`,
  name: `name of ${uid}`,
  enabled: true,
  authMode: 'token',
  ...more,
});
const automation = (uid: string, triggers: Trigger[], enabled = true): Automation => ({
  uid,
  name: `name of ${uid}`,
  definition: { name: uid, path: '', enabled, prompt: 'x', agent: {}, triggers },
});
const on = (webhookUids: string[], more: Partial<Extract<Trigger, { provider: 'webhook' }>> = {}): Trigger => ({
  provider: 'webhook',
  webhookUids,
  ...more,
});
const factory = (uid: string, version = 1): FactoryContents['factory'] => ({
  uid,
  slug: uid,
  version,
  revision: `r${version}`,
  serviceAccountUid: 'sa',
});

let webhooks: ServedWebhooks;
beforeEach(() => {
  webhooks = new ServedWebhooks(new CompiledFilters());
});

/** All that is said of it, and its automations by what a decision asks of them. */
function shownOf(found: ServedWebhook) {
  const { uid, slug, name, enabled, authMode, deliveryIdHeader, replayProtection } = found;
  const { scheme, tokenDigest, signingKey, previous, factory: itsFactory } = found;
  return {
    uid,
    slug,
    name,
    enabled,
    authMode,
    deliveryIdHeader,
    replayProtection,
    scheme,
    tokenDigest,
    signingKey,
    previous,
    factory: itsFactory,
    automations: found.automations.map((one) => ({
      uid: one.uid,
      id: one.id,
      name: one.name,
      enabled: one.enabled,
    })),
  };
}

describe('a packed webhook', () => {
  it.each<{ what: string; packed: Webhook }>([
    { what: 'token', packed: webhook('w', { tokenDigest: bytes(1) }) },
    { what: 'no credential', packed: webhook('w', { authMode: 'url_token' }) },
    {
      what: 'signature',
      packed: webhook('w', {
        authMode: 'signature',
        signatureScheme: 'stripe',
        signingKey: bytes(255, 24),
        deliveryIdHeader: 'X-Id',
        replayProtection: 'body',
        enabled: false,
      }),
    },
    {
      what: 'the value of before',
      packed: webhook('w', {
        tokenDigest: bytes(1),
        previous: { tokenDigest: bytes(2), untilMs: 9_007_199_254_740_991 },
      }),
    },
    { what: 'texts of every kind', packed: webhook('w\u{1f600}', { slug: 'ä', name: '"\\\u2028\ud800€\n' }) },
  ])('comes back as it was: $what', ({ packed }) => {
    webhooks.replace({
      factory: factory('f'),
      webhooks: [webhook('before', { tokenDigest: bytes(7) }), packed],
      automations: [],
    });
    const { signatureScheme, ...rest } = packed;
    expect(shownOf(webhooks.find(packed.uid) as ServedWebhook)).toEqual({
      ...rest,
      ...(rest.tokenDigest && { tokenDigest: Buffer.from(rest.tokenDigest) }),
      ...(rest.signingKey && { signingKey: Buffer.from(rest.signingKey) }),
      ...(rest.previous && { previous: { tokenDigest: Buffer.from(bytes(2)), untilMs: rest.previous.untilMs } }),
      scheme: signatureScheme && SIGNATURE_SCHEMES.get(signatureScheme),
      automations: [],
      factory: factory('f'),
    });
  });

  it('has its triggers in order, each of them with its filter', () => {
    webhooks.replace({
      factory: factory('f'),
      webhooks: [webhook('a'), webhook('b')],
      automations: [
        automation('first', [
          on(['a', 'b'], { payload: { 'ключ €': ['ä'] } }),
          { provider: 'schedule', cron: '* * * * *' },
          on(['b', 'elsewhere']),
        ]),
        automation('second', [on(['a'], { payload: { a: 'no array' } })], false),
      ],
    });
    const [a, b] = ['a', 'b'].map((uid) => webhooks.find(uid) as ServedWebhook);
    const entry = (uid: string, enabled = true) => ({
      uid,
      id: uid,
      name: `name of ${uid}`,
      enabled,
    });
    expect(shownOf(a as ServedWebhook).automations).toEqual([entry('first'), entry('second', false)]);
    expect(shownOf(b as ServedWebhook).automations).toEqual([entry('first'), entry('first')]);
    expect(a?.automations.map(({ filter }) => filter.matches({ 'ключ €': 'ä' }))).toEqual([true, false]);
    expect(b?.automations[0]).toBe(a?.automations[0]); // what ten thousand triggers take, they take once
    expect([a?.automations[1]?.filter, b?.automations[1]?.filter]).toEqual([UNREADABLE_FILTER, MATCH_EVERYTHING]);
  });
});

describe('webhooks in memory', () => {
  it('are all found, also when they are more than are kept as objects', () => {
    const uids = Array.from({ length: 9_000 }, (_, n) => `w${n}`);
    for (let from = 0; from < uids.length; from += 30)
      webhooks.replace({
        factory: factory(`f${from}`),
        webhooks: uids.slice(from, from + 30).map((uid) => webhook(uid)),
        automations: [],
      });
    for (let again = 0; again < 2; again += 1)
      expect(uids.map((uid) => webhooks.find(uid)?.name)).toEqual(uids.map((uid) => `name of ${uid}`));
    expect([webhooks.find('nobody'), webhooks.find('__proto__')]).toEqual([undefined, undefined]);
  });

  it('are served as their factory says now, and no more when it is gone', () => {
    const contents = (version: number, ...uids: string[]): FactoryContents => ({
      factory: factory('f', version),
      webhooks: uids.map((uid) => webhook(uid, { name: `${uid} ${version}` })),
      automations: [],
    });
    webhooks.replace(contents(1, 'a', 'b'));
    webhooks.replace({ factory: factory('other'), webhooks: [webhook('c')], automations: [] });
    const a = webhooks.find('a') as ServedWebhook;
    expect([webhooks.find('a') === a, webhooks.isCurrent(a)]).toEqual([true, true]);
    webhooks.replace(contents(2, 'a'));
    expect([webhooks.isCurrent(a), webhooks.find('a')?.name, webhooks.find('b')]).toEqual([false, 'a 2', undefined]);
    const after = webhooks.find('a') as ServedWebhook;
    webhooks.delete('f');
    expect([webhooks.isCurrent(after), webhooks.find('a'), webhooks.find('c')?.uid]).toEqual([false, undefined, 'c']);
  });

  it('with more triggers than are kept are answered each time', () => {
    const triggers = Array.from({ length: 1_000 }, () => on(['w']));
    const automations = Array.from({ length: 1_001 }, (_, n) => automation(`a${n}`, triggers));
    webhooks.replace({ factory: factory('f'), webhooks: [webhook('w')], automations });
    const found = webhooks.find('w') as ServedWebhook;
    expect([found.automations.length, found.automations.at(-1)?.uid]).toEqual([1_001_000, 'a1000']);
    expect([webhooks.find('w') === found, webhooks.isCurrent(found)]).toEqual([false, true]);
  });

  it('leave their triggers to those that are still kept', () => {
    const contents = (uid: string, ...uids: string[]): FactoryContents => ({
      factory: factory(uid),
      webhooks: uids.map((each) => webhook(each)),
      automations: [automation(`of ${uid}`, [on(uids)])],
    });
    webhooks.replace(contents('f', 'a', 'b'));
    const [a, b] = ['a', 'b'].map((uid) => webhooks.find(uid)?.automations[0]);
    expect(a).toBe(b);
    const others = Array.from({ length: 3_999 }, (_, n) => `other ${n}`);
    webhooks.replace(contents('g', ...others));
    for (const uid of others) webhooks.find(uid); // a is kept no more
    expect(webhooks.find('b')?.automations[0]).toBe(a);
    expect(webhooks.find('a')?.automations[0]).toBe(a);
    for (const uid of others) webhooks.find(uid); // neither is
    const again = webhooks.find('b')?.automations[0];
    expect([again === a, again?.uid]).toEqual([false, 'of f']);
  });
});
