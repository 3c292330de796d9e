/** Slugs of objects that no file names. contract §1.3 (Identifiers), §8. */
import * as fc from 'fast-check';
import { isValidName } from './definition-paths.ts';
import { slugOf } from './slugs.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

describe('a slug', () => {
  it.each<{ name: string; taken?: string[]; slug: string; why: string }>([
    { name: 'orders', slug: 'orders', why: 'a slug already' },
    { name: 'Orders (EU)', slug: 'orders-eu', why: 'what is not allowed becomes one hyphen' },
    { name: ' -- Größe für Çelik -- ', slug: 'gro-e-fur-celik', why: 'letters lose their marks' },
    { name: '日本語', slug: 'webhook', why: 'no letter of it can be used' },
    { name: '日本語', taken: ['webhook'], slug: 'webhook-2', why: 'nor is that name free' },
    { name: 'Orders', taken: ['orders', 'orders-2'], slug: 'orders-3', why: 'the first number that is free' },
    { name: 'a'.repeat(70), slug: 'a'.repeat(63), why: 'cut' },
    { name: 'a'.repeat(70), taken: ['a'.repeat(63)], slug: `${'a'.repeat(61)}-2`, why: 'cut so that the number fits' },
    { name: `${'a'.repeat(62)} b`, slug: 'a'.repeat(62), why: 'no hyphen at the end of a cut name' },
  ])('of $name is $slug: $why', ({ name, taken = [], slug }) => {
    expect(slugOf(name, 'webhook', new Set(taken))).toBe(slug);
  });

  it('of any name is a possible file name that nobody has', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 12 }), (name, count) => {
        const taken = new Set<string>();
        for (let made = 0; made <= count; made += 1) {
          const slug = slugOf(name, 'automation', taken);
          expect([isValidName(slug), taken.has(slug)]).toEqual([true, false]);
          taken.add(slug);
        }
      }),
    );
  });
});
