/** What is remembered of what factories serve, while two lanes read at once. contract §5.8 (Transaction). */
import { ServingVersions } from './acceptance.ts';
import type { Outcome, SqlValue, Statement, Transaction } from '../database/transactions.ts';

const FACTORY = 'f';

/** One lane that reads the versions of the factory; each answer comes when a test gives it. */
class Lane {
  private readonly work: Transaction<ReadonlyMap<string, number>>;
  asked: Statement | undefined;

  constructor(versions: ServingVersions) {
    this.work = versions.of([FACTORY]);
    this.asked = this.work.next().value as Statement;
  }

  clock(version: number): this {
    return this.answer({ version });
  }

  factory(version: number): this {
    return this.answer({ uid: FACTORY, serving_version: version });
  }

  private answer(row: Record<string, SqlValue>): this {
    const outcome: Outcome = { rows: [row], changes: 0 };
    this.asked = this.work.next(outcome).value as Statement;
    return this;
  }
}

describe('serving versions', () => {
  it('keep nothing that was read as of an earlier number of the clock', () => {
    const versions = new ServingVersions();
    const slow = new Lane(versions).clock(1);
    new Lane(versions).clock(2).factory(2);
    slow.factory(1);
    expect([versions.clock, versions.known([FACTORY])?.get(FACTORY)]).toEqual([2, 2]);
  });

  it('know nothing of a factory that is still being read', () => {
    const versions = new ServingVersions();
    const reading = new Lane(versions).clock(1);
    expect(versions.known([FACTORY])).toBeUndefined();
    reading.factory(1);
    expect(versions.known([FACTORY])?.get(FACTORY)).toBe(1);
  });

  it('trust nothing that was being read when they were forgotten', () => {
    const versions = new ServingVersions();
    const slow = new Lane(versions).clock(1);
    versions.forget();
    slow.factory(1);
    expect(versions.known([FACTORY])).toBeUndefined();
    new Lane(versions).clock(1).factory(2);
    expect(versions.known([FACTORY])?.get(FACTORY)).toBe(2);
  });
});
