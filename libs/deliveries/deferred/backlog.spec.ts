/** Rows that wait to be copied: asked for by value, sorted by value, none twice and none lost. */
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';
import { Backlog, type RowSpan, rowsIn, uncopiedRows, type WaitingRows } from './backlog.ts';

const random = seededRandom(PROPERTY_SEED);
const randomInt = (below: number): number => Math.floor(random() * below);

interface Row {
  leading: string | null;
  no: number;
  isCopied: boolean;
}

/** Random rows of a few values, the first ones of some copied by now; and the same as a plain list. */
function backlogOf(count: number, backlog = new Backlog<string | null, number | string>(2)) {
  const all: Row[] = [];
  for (let no = 0; no < count; no += 1) {
    const of = randomInt(20);
    const row = { leading: of === 0 ? null : `wh_${of}`, no, isCopied: false };
    backlog.add(row.leading, ['passed over', no, `text ${no}`], [2, 1]);
    all.push(row);
  }
  for (const rows of backlog.all()) {
    rows.copiedTo(randomInt(3) === 0 ? rows.size : randomInt(rows.size));
    const own = all.filter(({ leading }) => leading === rows.leading);
    for (const row of own.slice(0, rows.copied)) row.isCopied = true;
  }
  return { backlog, all };
}

const numbers = (spans: readonly RowSpan<string | null, number | string>[]): number[] =>
  spans.flatMap(({ rows, from, to }) =>
    Array.from(rows.uncopied(to - from), (row) => {
      const [, text, no] = rows.store.rowOf(rows.leading, row);
      expect(text).toBe(`text ${no}`);
      return no as number;
    }),
  );
const ascending = (some: readonly number[]): number[] => some.toSorted((a, b) => a - b);
const numbersOf = (rows: readonly Row[]): number[] => rows.map(({ no }) => no);

describe('a backlog', () => {
  it('counts every row once, and holds nothing of those that are copied', () => {
    const { backlog, all } = backlogOf(500);
    expect([backlog.size, backlog.leadingCount]).toEqual([500, new Set(all.map(({ leading }) => leading)).size]);
    expect([...backlog.all()].reduce((sum, { size }) => sum + size, 0)).toBe(500);
    const { store } = [...backlog.all()][0] as WaitingRows<string | null, number | string>;
    const isHeld = ({ no }: Row): boolean => store.rowOf(undefined, no).some((value) => value !== undefined);
    expect(numbersOf(all.filter(isHeld))).toEqual(numbersOf(all.filter(({ isCopied }) => !isCopied)));
  });

  it('takes further rows of a value, also where all of its rows are copied', () => {
    const { backlog, all } = backlogOf(500);
    for (const leading of ['wh_1', null, 'wh_new']) backlog.add(leading, [500, 'text 500'], [1, 0]);
    const left = all.filter(({ isCopied }) => !isCopied);
    expect(ascending(numbers(backlog.uncopied(Infinity)))).toEqual([...numbersOf(left), 500, 500, 500]);
  });

  it('begins anew in the memory that it has', () => {
    const { backlog } = backlogOf(3_000);
    for (const rows of backlog.all()) rows.copiedTo(rows.size);
    backlog.restart();
    expect([backlog.size, backlog.leadingCount, backlog.uncopied(Infinity)]).toEqual([0, 0, []]);
    const { all } = backlogOf(2_000, backlog);
    const left = all.filter(({ isCopied }) => !isCopied);
    expect(ascending(numbers(backlog.uncopied(Infinity)))).toEqual(numbersOf(left));
  });

  it('finds what is still to be copied, of all values and of some', () => {
    const { backlog, all } = backlogOf(500);
    const left = all.filter(({ isCopied }) => !isCopied);
    expect(ascending(numbers(backlog.uncopied(Infinity)))).toEqual(numbersOf(left));
    const some = new Set(['wh_3', null, 'wh_none']);
    expect(ascending(numbers(backlog.uncopied(Infinity, some)))).toEqual(
      numbersOf(left.filter(({ leading }) => some.has(leading))),
    );
  });

  it('finds no more than are asked for, those of a value in the order in which they came', () => {
    const { backlog, all } = backlogOf(500);
    for (const max of [0, 1, 7, 100]) {
      const spans = backlog.uncopied(max);
      expect([rowsIn(spans), numbers(spans).length]).toEqual([max, max]);
      for (const { rows, from } of spans) expect(from).toBe(rows.copied);
    }
    const one = all.find(({ isCopied }) => !isCopied) as Row;
    const own = all.filter(({ leading, isCopied }) => leading === one.leading && !isCopied);
    expect(numbers(backlog.uncopied(3, new Set([one.leading])))).toEqual(numbersOf(own.slice(0, 3)));
    expect(new Backlog<string, number>(1).uncopied(7)).toEqual([]);
  });

  it('sorts by value, and leaves the order in which rows of a value came', () => {
    const { backlog, all } = backlogOf(500);
    const left = all.filter(({ isCopied }) => !isCopied);
    expect(numbers(uncopiedRows(backlog.sorted(), Infinity))).toEqual(
      numbersOf(
        left.toSorted((a, b) =>
          a.leading === b.leading ? a.no - b.no : String(a.leading) < String(b.leading) ? -1 : 1,
        ),
      ),
    );
  });
});
