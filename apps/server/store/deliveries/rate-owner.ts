/**
 * Who accepts, where several processes may: one that accepts alone counts rate slots in its memory, and has identities
 * there; several have the log and a table for that.
 *
 * Why the count is exact: whoever accepts a batch shares a lock until it has committed, and stores nothing unless the
 * owner and the epoch are those that it decided on; whoever changes them holds that lock alone. So while a process
 * owns an epoch nobody else has taken a slot, and what it reads of the log after it came to own it holds all slots of
 * before. After a failure, of which it may not be known what was stored, the epoch is given up: the next one waits for
 * what is still under way, and memory begins with the log again. contract §5.6 (Slots).
 */
import { randomInt } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { SERVER } from '../database/server-number.ts';
import { change, databaseNow, lock, matching, row, type Transaction } from '../database/transactions.ts';

/** Whoever takes part shares it; a function of the database too. */
const RATE_OWNER_LOCK = 'rate owner';

/** A process owns no sooner than this after another change: two that accept disturb each other once a minute. */
const QUIET_MS = 60_000;

/** What a process decides by. */
export interface Ownership {
  readonly epoch: number;
  /** Whether the slots are counted in memory; otherwise all count them in the log. */
  readonly isSole: boolean;
  readonly changedAtMs: number;
  /** Which server it was looked at on, and since when that runs: another one may lack what was committed last. */
  readonly server: number;
}

interface OwnerRow {
  owner: string | null;
  epoch: number;
  changed_at: number;
  server: number;
}

/** The ownership that a transaction decided by is another's by now. */
export class OwnershipLostError extends Error {}

export class RateOwner {
  private readonly database: Database;
  /** The name of this process in its present life. */
  private readonly name: string;
  private known: Ownership | undefined;
  private acquiring: Promise<Ownership> | undefined;
  /** What the database's clock said last, and when that was by the clock of this process that never steps. */
  private seen = { databaseMs: 0, monotonicMs: 0 };

  constructor(database: Database, name: string) {
    [this.database, this.name] = [database, name];
  }

  /** As it was last known, which whoever writes compares; looked at where it is not known, or may be taken. */
  current(): Ownership | Promise<Ownership> {
    const { held } = this;
    if (held !== undefined && (held.isSole || this.nowMs() - held.changedAtMs < QUIET_MS)) return held;
    return (this.acquiring ??= this.acquire().finally(() => (this.acquiring = undefined)));
  }

  /** As it was last known. */
  get held(): Ownership | undefined {
    return this.known;
  }

  /** Whether it is still what was decided by. */
  isHeld(ownership: Ownership): boolean {
    return this.known === ownership;
  }

  /** It is looked at before anything else is decided. */
  forget(): void {
    this.known = undefined;
  }

  /** The database's time, never ahead of it while both clocks go. */
  nowMs(): number {
    return this.seen.databaseMs + Math.floor(performance.now() - this.seen.monotonicMs);
  }

  /** The database has just said its time. */
  observe(databaseMs: number): void {
    this.seen = { databaseMs, monotonicMs: performance.now() };
  }

  /** Shares the lock until the transaction ends. Throws OwnershipLostError. */
  *share({ epoch, isSole, server }: Ownership): Transaction<void> {
    yield* lock(RATE_OWNER_LOCK, { isShared: true });
    const [found] = yield* matching<OwnerRow>(
      { columns: `owner, epoch, changed_at, ${SERVER}`, table: 'rate_owner', keys: ['id'] },
      [[1]],
    );
    if (found?.epoch !== epoch || (found.owner === this.name) !== isSole || found.server !== server)
      throw new OwnershipLostError();
  }

  private async acquire(): Promise<Ownership> {
    const { name, known } = this;
    const [{ owner, epoch, changed_at: changedAtMs, server }, nowMs] = await this.database.run(
      function* (): Transaction<[OwnerRow, number]> {
        yield* lock(RATE_OWNER_LOCK); // waits for what others, and we, have under way
        const at = yield* databaseNow();
        const present =
          (yield* row<OwnerRow>(`SELECT owner, epoch, changed_at, ${SERVER} FROM rate_owner WHERE id = 1`)) ?? NOBODY;
        // What was read in an epoch of one server may not be on another one: it gets an epoch of its own.
        const isMoved = known !== undefined && known.server !== present.server;
        const next = isMoved ? inNextEpoch(nextOwner(present, name, at)) : nextOwner(present, name, at);
        if (next !== present)
          yield* change(
            'UPDATE rate_owner SET owner = ?, epoch = ?, changed_at = ? WHERE id = 1',
            next.owner,
            next.epoch,
            next.changed_at,
          );
        return [next, at];
      },
    );
    this.observe(nowMs);
    return (this.known = { epoch, isSole: owner === name, changedAtMs, server });
  }
}

const NOBODY: OwnerRow = { owner: null, epoch: 0, changed_at: 0, server: 0 };

/** Epochs grow by a random number up to this: one that a server has lost is not given to another process anew. */
const EPOCH_STEP_MAX = 2 ** 20;

function inNextEpoch(row: OwnerRow): OwnerRow {
  return { ...row, epoch: row.epoch + 1 + randomInt(EPOCH_STEP_MAX) };
}

/** Who owns from now on: the one who asks, where nobody has changed it lately; otherwise nobody. */
function nextOwner(present: OwnerRow, name: string, nowMs: number): OwnerRow {
  const { owner, changed_at: changedAt } = present;
  if (owner === name) return inNextEpoch(present);
  // A clock that was set back does not keep it from anybody.
  if (Math.abs(nowMs - changedAt) >= QUIET_MS) return inNextEpoch({ ...present, owner: name, changed_at: nowMs });
  return owner === null ? present : inNextEpoch({ ...present, owner: null, changed_at: nowMs });
}
