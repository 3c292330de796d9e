/** What has come since joins what was read: nothing twice, nothing missing, counts as they are now. */
import type { components } from '#client/generated';
import { newestFirst, reaches, withNewest, type LogPage } from './newer-deliveries.ts';

type Delivery = components['schemas']['Delivery'];

const entry = (id: string, count = 1): Delivery => ({
  entry_id: id,
  delivery_id: id,
  outcome: 'Accepted',
  size: 1,
  size_exact: true,
  received_at: '2026-01-01T00:00:00Z',
  client_address: '',
  revision: '',
  count,
});
const entries = (ids: string): Delivery[] => [...ids].map((id) => entry(id));
const page = (ids: string, next?: string): LogPage => ({ entries: entries(ids), next });
const idsOf = (deliveries: readonly Delivery[]): string => deliveries.map(({ entry_id: id }) => id).join('');

describe('newestFirst', () => {
  it('has each entry once, newest first', () =>
    expect(idsOf(newestFirst(entries('gf'), entries('fed'), entries('cba')))).toBe('gfedcba'));

  it('takes the count of the first part', () =>
    expect(newestFirst([entry('b', 7)], [entry('b', 3), entry('a')]).map(({ count }) => count)).toEqual([7, 1]));

  it('keeps what was pruned meanwhile', () =>
    expect(idsOf(newestFirst(entries('fe'), entries('fed'), entries('cba')))).toBe('fedcba'));
});

describe('reaches', () => {
  it('is so where the page goes back to what is known, or to the end', () => {
    expect([
      reaches(page('hg', 'f'), 'g'),
      reaches(page('hg', 'f'), 'f'),
      reaches(page('hg'), 'a'),
      reaches(page('hg', 'f'), undefined),
    ]).toEqual([true, false, true, true]);
  });

  it('is also so where the entry that is known was pruned', () => expect(reaches(page('hgdc', 'b'), 'f')).toBe(true));
});

describe('withNewest', () => {
  it('adds to what came before', () => {
    const first = withNewest(undefined, page('dc', 'b'), 'd');
    expect([idsOf(first.entries), idsOf(first.arrived)]).toEqual(['dc', '']);
    const second = withNewest(first, page('fed', 'c'), 'd');
    expect([idsOf(second.entries), idsOf(second.arrived)]).toEqual(['fedc', 'fe']);
    expect(idsOf(withNewest(second, page('fed', 'c'), 'f').arrived)).toBe('fe');
  });

  it('begins anew where entries between are missing', () =>
    expect(idsOf(withNewest({ entries: entries('cb'), arrived: [] }, page('hg', 'f'), 'c').entries)).toBe('hg'));

  it('tells of all in a log that was empty', () =>
    expect(idsOf(withNewest({ entries: [], arrived: [] }, page('ba'), undefined).arrived)).toBe('ba'));
});
