/** When the marker behind copied rows moves, and how far: in every sequence of inserts, passes and reads. */
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';
import { DeferredRows } from './deferred-rows.ts';

const PASS = 10;
const orderOf = (no: number): string => String(no).padStart(6, '0');

/** A table of rows with their order alone, copied by transactions as they come. */
class Copying {
  readonly memory = new DeferredRows<string, string>(
    { width: 1, orderAt: 0 },
    { passRows: { min: PASS, max: PASS }, changedMax: 100 },
    '',
  );
  inserted = 0;
  marker = '';
  moved = 0;
  readonly copied = new Set<string>();
  /** Rows before a marker, which a start does not read again, that were not copied; markers that went back. */
  readonly lost: string[] = [];

  /** `insert`: so many rows of these values; `read`: what waits is copied, of a value or of all, `max` at most. */
  transaction({ insert = [], read }: { insert?: string[]; read?: { leading?: string; max?: number } }): void {
    const { memory } = this;
    for (const leading of insert) {
      const order = orderOf((this.inserted += 1));
      memory.note(leading, order, [order], [0]);
    }
    const written: string[] = [];
    const write = (known: string[][]): void => void written.push(...known.map(([, order]) => order as string));
    if (read !== undefined) {
      if (read.leading === undefined) memory.startPassIfOver();
      const leading = read.leading === undefined ? undefined : new Set([read.leading]);
      write(memory.take(memory.pending(leading, read.max ?? Infinity), []).known);
    }
    if (memory.hasInserted && memory.startPassIfDue()) write(memory.take(memory.restOfPass(4), []).known);
    const marker = memory.endsPass() ? memory.moveMarker() : undefined;
    memory.committed();
    for (const order of written) this.copied.add(order);
    if (marker === undefined) return;
    this.moved += 1;
    if (marker < this.marker) this.lost.push(marker);
    this.marker = marker;
    this.lost.push(...Array.from({ length: this.inserted }, (_, at) => orderOf(at + 1)).filter(this.isLost));
  }

  private readonly isLost = (order: string): boolean => order < this.marker && !this.copied.has(order);

  get behind(): number {
    return this.inserted - Number(this.marker);
  }
}

describe('the marker behind copied rows', () => {
  it('moves where every row is copied by a read of its value before a pass is due', () => {
    const copying = new Copying();
    for (let at = 0; at < 100; at += 1) {
      copying.transaction({ insert: ['wh'] });
      copying.transaction({ read: { leading: 'wh' } });
    }
    expect(copying.moved).toBeGreaterThanOrEqual(8);
    expect(copying.lost).toEqual([]);
    expect(copying.behind).toBeLessThanOrEqual(2 * PASS);
  });

  it('moves where reads of everything copy it in parts, and further ones find nothing', () => {
    const copying = new Copying();
    for (let at = 0; at < 100; at += 1) {
      copying.transaction({ insert: ['wh_a', 'wh_b', 'wh_a'] });
      for (let part = 0; part < 3; part += 1) copying.transaction({ read: { max: 2 } });
      copying.transaction({ read: {} });
    }
    expect(copying.lost).toEqual([]);
    expect(copying.behind).toBeLessThanOrEqual(3);
  });

  it('moves with no transaction that copies nothing', () => {
    const copying = new Copying();
    copying.transaction({ insert: ['wh'] });
    copying.transaction({ read: { leading: 'wh' } });
    for (let at = 0; at < 5; at += 1) copying.transaction({ read: {} });
    expect(copying.moved).toBe(0);
    copying.transaction({ insert: ['wh'] });
    expect([copying.moved, copying.marker]).toEqual([1, orderOf(1)]);
  });

  it('moves up to the first row that is to be copied, whatever comes between', () => {
    const random = seededRandom(PROPERTY_SEED);
    const below = (limit: number): number => Math.floor(random() * limit);
    const leading = (): string => `wh_${below(4)}`;
    for (let history = 0; history < 60; history += 1) {
      const copying = new Copying();
      for (let step = 0; step < 60; step += 1)
        copying.transaction({
          insert: Array.from({ length: below(2) * below(6) }, leading),
          read: [undefined, { leading: leading() }, { max: 1 + below(5) }, { leading: leading(), max: 2 }, {}][
            below(5)
          ],
        });
      copying.transaction({ read: {} });
      copying.transaction({ insert: ['wh_0'] });
      copying.transaction({ read: {} });
      expect(copying.lost).toEqual([]);
      expect(copying.copied.size).toBe(copying.inserted);
      expect(copying.behind).toBeLessThanOrEqual(1);
    }
  });
});
