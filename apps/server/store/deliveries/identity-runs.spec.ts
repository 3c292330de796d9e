/** Accepted identities in sorted runs: histories with failures and restarts at any statement, against a set. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { identityKey, type MergePolicy } from '#deliveries';
import { seedRun } from '../../../../test/bench/seeds/identity-seeds.ts';
import { seededRandom } from '../../../../test/support/seeded-random.ts';
import { examples } from '../../../../test/support/tier.ts';
import type { Database } from '../database/database.ts';
import { change, row, type Transaction } from '../database/transactions.ts';
import { openDatabase } from '../open-database.ts';
import { identitySweep } from '../retention/identity-sweeps.ts';
import type { IdentityDatabase } from './acceptance.ts';
import { findInChunks } from './identity-merges.ts';
import { IdentityRuns, OwnIdentities } from './identity-runs.ts';

/** So small that a history of a few hundred keys has runs of every level. */
const POLICY: MergePolicy = { runKeys: 6, fanout: 2, levelMax: 2, chunkKeys: 2 };
const HISTORIES = examples(100);
const STEPS = 150;
const DAY_MS = 86_400_000;
const RETENTION_DAYS = 30;

const EXACT = { forgotten: [], invented: [] };

class Crash extends Error {}

/** As for the only writer. */
function ownedBy(database: Database, forget: () => void = () => undefined): IdentityDatabase {
  return { find: findInChunks, mayMaintain: () => true, maintain: (body) => database.run(body, 'lazily'), forget };
}

describe('IdentityRuns', () => {
  let dataDir: string;
  let database: Database;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'millwright-identities-'));
    database = await openDatabase({ dataDir, nowMs: Date.now });
  });
  afterAll(async () => {
    await database.close();
    await rm(dataDir, { recursive: true });
  });
  beforeEach(async () => {
    await setImmediate(); // a step that the test before has left
    for (const table of ['batch', 'run', 'chunk']) await database.run(() => change(`DELETE FROM identity_${table}`));
  });

  it.each(Array.from({ length: HISTORIES }, (_, seed) => ({ seed })))(
    'knows what was accepted, and nothing else, whatever fails (seed $seed)',
    async ({ seed }) => {
      const history = new History(database, seed);
      for (let step = 0; step < STEPS; step += 1) await history.next();
      expect(await history.faults()).toEqual(EXACT);
      history.restart();
      expect(await history.faults()).toEqual(EXACT);
      expect(history.levels).toContain(1);
    },
  );

  it('is exact where every filter says "look"', async () => {
    const history = new History(database, 1);
    for (let batch = 0; batch < 40; batch += 1) await history.accept();
    await history.maintain();
    await database.run(() => change('UPDATE identity_run SET size = 0'));
    history.restart();
    expect(await history.faults()).toEqual(EXACT);
  });

  it('holds few pages of the keys that it reads of large runs', async () => {
    const pages = 32; // of a mebibyte each
    for (let run = 0; run < 2; run += 1) await database.run(() => seedRun((pages / 2) * 65_536, Date.now()));
    const held: number[] = [];
    await database.read(() => sampled(new IdentityRuns(ownedBy(database)).recover(), held));
    expect(held.length).toBeGreaterThan(pages);
    expect(growthOf(held)).toBeLessThan((pages * 2 ** 20) / 4);
  });

  it('keeps a key as long as it is told, and lets it go with its run', async () => {
    const history = new History(database, 2);
    for (let batch = 0; batch < 40; batch += 1) await history.accept();
    await history.maintain();
    history.nowMs += (RETENTION_DAYS + 1) * DAY_MS;
    await history.accept();
    await history.sweep();
    expect(await history.faults()).toEqual(EXACT);
    expect(await history.stored()).toBeLessThan(10);
  });
});

/** How far a value rises above one before it; what falls meanwhile, as garbage of others may, counts nothing. */
function growthOf(values: readonly number[]): number {
  return Math.max(...values.map((value, at) => value - Math.min(...values.slice(0, at + 1))));
}

/** The same, with the bytes outside of V8's heap before each statement. */
function* sampled(body: Transaction<void>, held: number[]): Transaction<void> {
  for (let step = body.next(); step.done !== true;) {
    held.push(process.memoryUsage().arrayBuffers);
    step = body.next(yield step.value);
  }
}

/** One life of the identities of one database, and a set that says what they must be. */
class History {
  nowMs = 1_700_000_000_000;
  readonly levels = new Set<number>();
  private readonly accepted = new Map<string, number>();
  private readonly forgotten: string[] = [];
  private readonly random: () => number;
  /** How many statements of the next transaction run before it fails; undefined: it does not. */
  private fuse: number | undefined;
  private runs: IdentityRuns;
  private readonly database: Database;
  private isTrue = false;
  private made = 0;

  private readonly seed: number;

  constructor(database: Database, seed: number) {
    this.seed = seed;
    this.random = seededRandom(seed);
    this.database = { ...database, run: (body, durability) => database.run(() => this.fused(body()), durability) };
    this.runs = this.newRuns();
  }

  private newRuns(): IdentityRuns {
    return new IdentityRuns(
      ownedBy(this.database, () => (this.isTrue = false)),
      { ...POLICY },
    );
  }

  /** Something of all that may happen. */
  async next(): Promise<void> {
    this.nowMs += Math.floor(this.random() * DAY_MS);
    this.fuse = this.random() < 0.3 ? Math.floor(this.random() * 12) : undefined;
    const chance = this.random();
    if (chance < 0.55) await this.accept();
    else if (chance < 0.9) for (let step = 0; step < 4; step += 1) await this.takeStep();
    else if (chance < 0.97) this.restart();
    else await this.sweep();
    this.fuse = undefined;
    const levels = await this.database.read(() =>
      row<{ level: number }>('SELECT max(level) AS level FROM identity_run'),
    );
    this.levels.add(levels?.level ?? 0);
  }

  /** A batch of new keys and old ones, decided as a batch of deliveries is. */
  async accept(): Promise<void> {
    const batch = Array.from({ length: 1 + Math.floor(this.random() * 6) }, () => this.identity());
    try {
      const own = new OwnIdentities(this.runs);
      const fresh = await this.database.run(() => this.decide(batch, own));
      own.committed();
      this.isTrue = true;
      for (const key of fresh) this.accepted.set(key, this.nowMs);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  }

  async maintain(): Promise<void> {
    for (let step = 0; step < 500; step += 1) await this.runs.step();
  }

  async takeStep(): Promise<void> {
    if (!this.isTrue) return;
    await this.runs.step().catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
  }

  /** Another process goes on: memory is what the database says. */
  restart(): void {
    this.runs = this.newRuns();
    this.isTrue = false;
  }

  async sweep(): Promise<void> {
    this.fuse = undefined;
    const sweep = identitySweep(RETENTION_DAYS);
    const { targets } = await this.database.read(() => sweep.scan('', this.nowMs));
    await this.database.run(() =>
      sweep.remove(
        targets.map(({ target }) => target),
        this.nowMs,
      ),
    );
    for (const [key, atMs] of this.accepted) if (atMs < this.nowMs - RETENTION_DAYS * DAY_MS) this.accepted.delete(key);
  }

  /** Keys that were accepted and are young enough, but not known; and those that are known, but never were. */
  async faults(): Promise<{ forgotten: string[]; invented: string[] }> {
    const strangers = Array.from({ length: 50 }, (_, n) => this.named(`stranger-${n}`));
    const known = await this.database.run(() => this.knownOf([...this.accepted.keys(), ...strangers]));
    this.isTrue = true;
    return {
      forgotten: [...this.forgotten, ...[...this.accepted.keys()].filter((key) => !known.has(key))],
      invented: strangers.filter((key) => known.has(key)),
    };
  }

  /** How many keys the database holds. */
  async stored(): Promise<number> {
    const found = await this.database.read(() =>
      row<{ bytes: number }>(
        'SELECT COALESCE((SELECT sum(length(keys)) FROM identity_batch), 0) + ' +
          'COALESCE((SELECT sum(length(keys)) FROM identity_chunk), 0) AS bytes',
      ),
    );
    return Number(found?.bytes) / 16;
  }

  private *decide(batch: readonly string[], own: OwnIdentities): Transaction<string[]> {
    const known = yield* this.knownOf(batch);
    for (const key of batch) if (this.accepted.has(key) && !known.has(key)) this.forgotten.push(key);
    const fresh = [...new Set(batch.filter((key) => !known.has(key)))];
    yield* own.store(fresh, this.nowMs);
    return fresh;
  }

  private *knownOf(keys: readonly string[]): Transaction<Set<string>> {
    if (!this.isTrue) yield* this.runs.recover();
    this.isTrue = false; // until it has committed: after a lost race, the next attempt reads all again
    return yield* this.runs.known(keys);
  }

  private *fused<T>(body: Transaction<T>): Transaction<T> {
    let left = this.fuse ?? Infinity;
    for (let step = body.next(); ;) {
      if (step.done) {
        // Between the last statement and the commit.
        if (left < 3) throw new Crash();
        return step.value;
      }
      if (left === 0) throw new Crash();
      left -= 1;
      step = body.next(yield step.value);
    }
  }

  private identity(): string {
    const old = [...this.accepted.keys()];
    if (old.length > 0 && this.random() < 0.3) return old[Math.floor(this.random() * old.length)] as string;
    return this.named(`id-${this.seed}-${(this.made += 1)}`);
  }

  private named(name: string): string {
    return identityKey('wh', name);
  }
}
