/** Which requests to test a filter can be answered. contract §4, §7. */
import { filterTestProblems } from './index.ts';

describe('filterTestProblems', () => {
  it.each<[unknown, string[], string]>([
    [{ filter: {}, payload: null }, [], 'null is a payload'],
    [{ filter: { a: [1] }, entry_id: 'x' }, [], 'a stored delivery'],
    [{ filter: {} }, ['/entry_id', '/payload'], 'nothing to test against'],
    [{ filter: {}, entry_id: 'x', payload: 1 }, ['/entry_id', '/payload'], 'which of the two?'],
    [{ filter: { a: 1, b: { c: 2 } }, payload: 1 }, ['/filter/a', '/filter/b/c'], 'every problem of the filter'],
    [{ filter: [] }, ['/filter', '/entry_id', '/payload'], 'everything at once'],
    [{ filter: null, payload: 1 }, ['/filter'], 'null is no filter'],
    [{ payload: 1 }, [], 'a missing filter is named by the schema'],
    [null, [], 'no object'],
    [[], [], 'no object'],
  ])('of %j names %j (%s)', (body, pointers) => {
    expect(filterTestProblems(body).map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it('says what each of the two is to the other', () => {
    const messagesOf = (body: object): string[] =>
      filterTestProblems({ filter: {}, ...body }).map(({ message }) => message);
    expect(messagesOf({})).toEqual(['is required unless there is payload', 'is required unless there is entry_id']);
    expect(messagesOf({ entry_id: 'x', payload: 1 })).toEqual([
      'cannot be given together with payload',
      'cannot be given together with entry_id',
    ]);
  });
});
