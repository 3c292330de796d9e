/** Rows that wait to be copied: asked for by value, sorted by value, none twice and none lost. */
import { randomInt } from 'node:crypto';
import { Backlog, type Deferred } from './backlog.ts';

interface Row extends Deferred<string> {
  readonly no: number;
}

/** Random rows of a few values, some of them copied by now; and the same as a plain list. */
function backlogOf(rows: number) {
  const backlog = new Backlog<string, Row>();
  const all: Row[] = [];
  for (let no = 0; no < rows; no += 1) {
    const row = { leading: `wh_${randomInt(20)}`, isCopied: false, no };
    backlog.add(row);
    all.push(row);
  }
  for (const row of all) row.isCopied = randomInt(3) === 0;
  return { backlog, all };
}

const numbers = (rows: Iterable<Row>): number[] => [...rows].map(({ no }) => no).sort((a, b) => a - b);

describe('a backlog', () => {
  it('holds every row once', () => {
    const { backlog, all } = backlogOf(500);
    expect(backlog.size).toBe(500);
    expect(numbers(backlog.rows())).toEqual(numbers(all));
  });

  it('finds what is still to be copied, of all values and of some', () => {
    const { backlog, all } = backlogOf(500);
    const left = all.filter(({ isCopied }) => !isCopied);
    expect(numbers(backlog.uncopied(Infinity))).toEqual(numbers(left));
    const some = new Set(['wh_3', 'wh_17', 'wh_none']);
    expect(numbers(backlog.uncopied(Infinity, some))).toEqual(numbers(left.filter(({ leading }) => some.has(leading))));
  });

  it('finds no more than are asked for', () => {
    const { backlog } = backlogOf(500);
    expect(backlog.uncopied(7)).toHaveLength(7);
    expect(backlog.uncopied(0)).toEqual([]);
    expect(new Backlog<string, Row>().uncopied(7)).toEqual([]);
  });

  it('sorts by value, and leaves the order in which rows of a value came', () => {
    const { backlog, all } = backlogOf(500);
    const left = all.filter(({ isCopied }) => !isCopied);
    expect(backlog.sorted()).toEqual(
      left.toSorted((a, b) => (a.leading === b.leading ? a.no - b.no : a.leading < b.leading ? -1 : 1)),
    );
  });
});
