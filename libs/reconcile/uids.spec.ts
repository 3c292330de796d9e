/** UIDs against vectors computed by another implementation of contract §1, and what must make them differ. */
import { deriveUid, UID_KEY_BYTES_MIN, type ObjectKind } from './index.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const OTHER_KEY = new Uint8Array(32).fill(0xff);

describe('deriveUid', () => {
  it.each<[Uint8Array, ObjectKind, string, string | undefined, string, string]>([
    [KEY, 'factory', 'acme', undefined, 'fac_ayz0tgjthbmh7fhkfvns03pvvr', 'a factory has one name'],
    [KEY, 'factory', 'acme', '', 'fac_ayz0tgjthbmh7fhkfvns03pvvr', 'an empty object name is none'],
    [KEY, 'webhook', 'acme', 'orders', 'wh_qgbwh9tzeqkcy0evz970m4s6xc', 'a webhook'],
    [KEY, 'automation', 'acme', 'orders', 'auto_a03t69dswcn0e1t2yj5zt9h4vh', 'the same names, another kind'],
    [KEY, 'environment', 'acme', 'orders', 'env_s7qh1cv99c5gh4aq6fzg2h1htj', 'an environment'],
    [KEY, 'skill', 'acme', 'orders', 'skill_9f13cc1rm6ada3h0shh02bxv33', 'a skill'],
    [KEY, 'webhook', 'acme-orders', 'x', 'wh_6fbtfvsrpbmreg4b1d3zpnedtn', 'another factory'],
    [OTHER_KEY, 'webhook', 'acme', 'orders', 'wh_2g8rwcyhstrthz1k2k6rcedzxc', 'another installation'],
  ])('vector %#: %p %s %s %s is %s (%s)', (key, kind, factorySlug, slug, expected) => {
    expect(deriveUid(key, kind, factorySlug, slug)).toBe(expected);
  });

  it.each<[[string, string], [string, string], string]>([
    [['ab', 'c'], ['a', 'bc'], 'the same letters, cut elsewhere'],
    [['a', 'b-c'], ['a-b', 'c'], 'the same text with a separator that slugs may hold'],
    [['acme', 'x'], ['x', 'acme'], 'the names swapped'],
  ])('%p and %p differ: %s', (one, other) => {
    expect(deriveUid(KEY, 'webhook', ...one)).not.toBe(deriveUid(KEY, 'webhook', ...other));
  });

  it('is 26 characters that can be read aloud, all of which occur', () => {
    const uids = Array.from({ length: 200 }, (_, i) => deriveUid(KEY, 'webhook', 'acme', `w${i}`).slice('wh_'.length));
    for (const uid of uids) expect(uid).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
    expect(new Set(uids.join('')).size).toBe(32);
    expect(new Set(uids).size).toBe(200);
  });

  it.each<[Uint8Array, ObjectKind, string, string | undefined, string]>([
    [new Uint8Array(0), 'webhook', 'acme', 'orders', 'an empty key: anybody could compute the URL'],
    [new Uint8Array(UID_KEY_BYTES_MIN - 1), 'webhook', 'acme', 'orders', 'a short key'],
    [KEY, 'webhook', '', 'orders', 'no factory'],
    [KEY, 'webhook', 'acme', undefined, 'no slug: all webhooks would be one'],
    [KEY, 'automation', 'acme', '', 'an empty slug'],
    [KEY, 'factory', 'acme', 'orders', 'a factory inside a factory'],
  ])('refuses %#: %p %p %p %p (%s)', (key, kind, factorySlug, slug) => {
    expect(() => deriveUid(key, kind, factorySlug, slug)).toThrow(RangeError);
  });
});
