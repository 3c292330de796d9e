/** Pages of a list: the last entry of one is where the next begins, and a cursor fits its own query only. */
import { encodeCursor } from '#runs';
import { RefusalError } from './error-codes.ts';
import { pageOf, pageKeyOf } from './queries.ts';

const DIGEST = 'of-this-query';

describe('a page', () => {
  it.each([
    { found: [], limit: 2, page: [], more: false, why: 'nothing there' },
    { found: [1], limit: 2, page: [1], more: false, why: 'fewer than asked for' },
    { found: [1, 2], limit: 2, page: [1, 2], more: false, why: 'exactly as many: nobody asks in vain' },
    { found: [1, 2, 3], limit: 2, page: [1, 2], more: true, why: 'one more than asked for' },
  ])('of $limit from $found is $page ($why)', ({ found, limit, page, more }) => {
    const answer = pageOf(found, limit, DIGEST, (last) => [last, `id ${last}`]);
    expect([answer.page, answer.pageInfo.has_next_page, answer.pageInfo.next_cursor !== undefined]).toEqual([
      page,
      more,
      more,
    ]);
    if (more) expect(pageKeyOf(answer.pageInfo.next_cursor, DIGEST, ['number', 'string'])).toEqual([2, 'id 2']);
  });
});

describe('a cursor', () => {
  const cursorOf = (...key: (string | number | null)[]): string => encodeCursor({ query: DIGEST, key });

  it('that is not there is the beginning', () => expect(pageKeyOf(undefined, DIGEST, ['string'])).toBeUndefined());

  it.each([
    { cursor: encodeCursor({ query: 'of-another', key: ['a'] }), why: 'another query' },
    { cursor: '', why: 'empty' },
    { cursor: 'nonsense', why: 'made up' },
    { cursor: cursorOf(1), why: 'a number where a text belongs' },
    { cursor: cursorOf('a', 'b'), why: 'more than belongs there' },
    { cursor: cursorOf(null), why: 'nothing where a text belongs' },
    { cursor: cursorOf('a\0'), why: 'a text that PostgreSQL cannot be asked for' },
  ])('is refused by name: $why', ({ cursor }) => {
    const refused = thrownBy(() => pageKeyOf(cursor, DIGEST, ['string']));
    expect(refused).toMatchObject({ status: 400, errors: [{ pointer: 'cursor' }] });
  });

  it('holds whole numbers only', () => {
    const uuid = '01a20ae6-096b-718b-aa55-f6445023b87e';
    expect(pageKeyOf(cursorOf(uuid), DIGEST, ['uuid'])).toEqual([uuid]);
    expect(thrownBy(() => pageKeyOf(cursorOf('no-uuid'), DIGEST, ['uuid']))).toBeInstanceOf(RefusalError);
    expect(pageKeyOf(cursorOf(7), DIGEST, ['number'])).toEqual([7]);
    expect(thrownBy(() => pageKeyOf(cursorOf(7.5), DIGEST, ['number']))).toBeInstanceOf(RefusalError);
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
