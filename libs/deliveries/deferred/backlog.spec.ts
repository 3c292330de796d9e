/** Rows that wait to be copied: asked for by value, sorted by value, none twice and none lost. */
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';
import { Backlog, type DeferredRow } from './backlog.ts';

interface Row extends DeferredRow<string | null> {
  readonly no: number;
}

const random = seededRandom(PROPERTY_SEED);
const randomInt = (below: number): number => Math.floor(random() * below);

/** Random rows of a few values, some of them copied by now; and the same as a plain list. */
function backlogOf(rows: number) {
  const backlog = new Backlog<string | null, Row>();
  const all: Row[] = [];
  for (let no = 0; no < rows; no += 1) {
    const of = randomInt(20);
    const row = { leading: of === 0 ? null : `wh_${of}`, isCopied: false, no };
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
    const some = new Set(['wh_3', null, 'wh_none']);
    expect(numbers(backlog.uncopied(Infinity, some))).toEqual(numbers(left.filter(({ leading }) => some.has(leading))));
  });

  it('finds no more than are asked for', () => {
    const { backlog } = backlogOf(500);
    expect(backlog.uncopied(7)).toHaveLength(7);
    expect(backlog.uncopied(0)).toEqual([]);
    expect(new Backlog<string | null, Row>().uncopied(7)).toEqual([]);
  });

  it('sorts by value, and leaves the order in which rows of a value came', () => {
    const { backlog, all } = backlogOf(500);
    const left = all.filter(({ isCopied }) => !isCopied);
    expect(backlog.sorted()).toEqual(
      left.toSorted((a, b) => (a.leading === b.leading ? a.no - b.no : String(a.leading) < String(b.leading) ? -1 : 1)),
    );
  });
});
