/**
 * The log by webhook, which SQLite fills later: random histories with failed commits and crashes at any statement,
 * after each of which every read says what a scan of all deliveries says. contract §5.9 (Log).
 */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { firstUuidv7 } from '#runs';
import type { OutcomeKind } from '#deliveries';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import type { Database } from '../../apps/server/store/database/database.ts';
import { catchUp, DeferredIndex } from '../../apps/server/store/database/deferred-index.ts';
import { sqliteRunner, type SqliteRunner } from '../../apps/server/store/database/sqlite.ts';
import { insertInto } from '../../apps/server/store/database/table.ts';
import { rows } from '../../apps/server/store/database/transactions.ts';
import { lastDeliveries } from '../../apps/server/store/definitions/webhooks.ts';
import { DeliveryStore, type DeliveryFilter } from '../../apps/server/store/deliveries/deliveries.ts';
import { DELIVERY, DELIVERY_LOG, ID_LEAD_MS_MAX } from '../../apps/server/store/deliveries/delivery.entities.ts';
import { deliverySweep } from '../../apps/server/store/retention/delivery-sweeps.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { histories } from '../support/tier.ts';
import { idAt } from './sweep-runs.ts';

const HISTORIES = histories(60);
const STEPS = 120;
const WEBHOOKS = ['wh_a', 'wh_b', 'wh_c', 'wh_d', 'wh_e'];
const OUTCOMES: readonly OutcomeKind[] = ['accepted', 'duplicate', 'rejectedAuth', 'rejectedInvalidJson'];
const T0 = 1_700_000_000_000;

interface LogRow {
  webhook_uid: string;
  entry_id: string;
  outcome: OutcomeKind;
  received_at: number;
  entries: number;
}

/** What a process begins with; it may have read ahead while another one wrote. */
interface Standby {
  connection: Sqlite.Database;
  index: DeferredIndex;
}

/** So small that passes begin and end within a history; with the most of them as many wait as there are webhooks. */
const PASSES = [
  { min: 12, max: 12 },
  { min: 4, max: 40 },
  { min: 8, max: 15 },
];

const standbyOn = (file: string, seed = 0): Standby => ({
  connection: new Sqlite(file),
  index: new DeferredIndex(DELIVERY_LOG, {
    passRows: PASSES[seed % PASSES.length],
    sliceRowsMin: 1 + (seed % 4),
    changedMax: 3,
  }),
});

/** A process on a file: any of its calls to the connection can fail, once or, when it is killed, for ever. */
class Process {
  readonly runner: SqliteRunner;
  readonly deliveries: DeliveryStore;
  readonly connection: Sqlite.Database;
  private fault: { calls: number; isDeath: boolean } | undefined;
  isDead = false;

  constructor({ connection, index }: Standby) {
    this.connection = connection;
    this.runner = sqliteRunner(this.failing(this.connection), () => T0, [index]);
    const { run, read } = this.runner;
    this.deliveries = new DeliveryStore({ dialect: 'sqlite', run, read, longRead: read } as unknown as Database);
  }

  failAfter(calls: number, isDeath: boolean): void {
    this.fault = { calls, isDeath };
  }

  heal(): void {
    this.fault = undefined;
  }

  private call(): void {
    if (this.isDead) throw new Error('dead');
    if (this.fault === undefined || (this.fault.calls -= 1) >= 0) return;
    this.isDead = this.fault.isDeath;
    this.fault = undefined;
    throw new Error('a call failed');
  }

  /** Calls of the object and of the statements that it prepares; a commit can fail before it and not behind it. */
  private failing<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name, of);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          if (name !== 'pragma' && !(name === 'exec' && given[0] === 'ROLLBACK' && !this.isDead)) this.call();
          const answer: unknown = (value as (...values: unknown[]) => unknown).apply(of, given);
          return name === 'prepare' ? this.failing(answer as object) : answer;
        };
      },
    });
  }
}

describe('the log by webhook', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millwright-delivery-log-'));
    await (await openDatabase({ dataDir: folder, nowMs: () => T0 })).close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  let files = 0;
  /** A database without deliveries. */
  const fileOf = async (): Promise<string> => {
    const file = join(folder, `${(files += 1)}.sqlite`);
    await copyFile(join(folder, 'millwright.sqlite'), file);
    return file;
  };

  it.each(Array.from({ length: HISTORIES }, (_, n) => n + 1))('history %i', async (seed) => {
    const file = await fileOf();
    const random = seededRandom(seed);
    const below = (limit: number): number => Math.floor(random() * limit);
    const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
    let process = new Process(standbyOn(file, seed));
    let standby: Standby | undefined;
    let clockMs = T0;
    const scan = (): LogRow[] =>
      process.connection
        .prepare(`SELECT ${DELIVERY_LOG.columns.join(', ')} FROM delivery ORDER BY webhook_uid, entry_id`)
        .all() as LogRow[];
    const restart = (): void => {
      process.connection.close();
      process = new Process(standby ?? standbyOn(file, seed));
      standby = undefined;
    };
    const readAhead = async (): Promise<void> => {
      standby?.connection.close();
      const { connection, index } = (standby = standbyOn(file, seed));
      await sqliteRunner(connection, () => T0).read(() => index.prepare());
    };

    const insert = (): Promise<unknown> => {
      // Requests overtake each other, and now and then the clock steps.
      clockMs += oneOf([0, 1, 50, 50, 50, 1_000, below(20) === 0 ? -60_000 : 5]);
      const made = Array.from({ length: 1 + below(7) }, () => entryAt(clockMs - below(30), oneOf(WEBHOOKS)));
      return process.runner.run(function* () {
        if (below(5) === 0) yield* catchUp('delivery_log', [oneOf(WEBHOOKS)]);
        yield* insertInto(DELIVERY, made.slice(0, 3));
        yield* insertInto(DELIVERY, made.slice(3));
        if (below(15) === 0) throw new Error('thought better of it');
      });
    };
    const entryAt = (atMs: number, webhookUid: string) => ({
      // In some histories now and then as of a process whose clock was set back.
      entry_id: idAt(atMs + (seed % 3 === 0 && below(12) === 0 ? below(ID_LEAD_MS_MAX) : 0)),
      webhook_uid: webhookUid,
      factory_uid: 'factory',
      delivery_id: 'd',
      outcome: oneOf(OUTCOMES),
      size: 1,
      size_exact: 1,
      received_at: atMs,
      client_address: '192.0.2.1',
      revision: 'r',
      entries: 1,
      slot_at: atMs,
    });
    const anyEntries = (): string[] => {
      const all = scan();
      return all.length === 0 ? [] : Array.from({ length: 1 + below(3) }, () => oneOf(all).entry_id);
    };
    const count = async (): Promise<unknown> =>
      process.deliveries.countRefused(new Map(anyEntries().map((id) => [id, 1])));
    const remove = (): Promise<unknown> => process.runner.run(() => deliverySweep().remove(anyEntries(), T0));

    const list = async (): Promise<void> => {
      const [webhookUid, limit, all] = [oneOf(WEBHOOKS), 1 + below(20), scan()];
      const filter: DeliveryFilter = {
        ...(below(2) === 0 ? {} : { outcomes: OUTCOMES.filter(() => below(2) === 0) }),
        ...(below(2) === 0 ? {} : { sinceMs: T0 + below(2_000) }),
        ...(below(2) === 0 ? {} : { untilMs: clockMs - below(500) }),
      };
      const before = below(2) === 0 ? undefined : (all[below(all.length)]?.entry_id ?? firstUuidv7(clockMs));
      expect((await process.deliveries.list(webhookUid, limit, before, filter)).map(toLogRow)).toEqual(
        all
          .filter((entry) => entry.webhook_uid === webhookUid && (before === undefined || entry.entry_id < before))
          .filter((entry) => matches(entry, filter))
          .toReversed()
          .slice(0, limit),
      );
    };
    const newest = async (): Promise<void> => {
      const [all, some] = [scan().toReversed(), WEBHOOKS.slice(0, 1 + below(5))];
      expect(await process.deliveries.newestAccepted(some, 4)).toEqual(
        some.flatMap((uid) =>
          all
            .filter(({ webhook_uid: of, outcome }) => of === uid && outcome === 'accepted')
            .slice(0, 4)
            .map(({ entry_id: entryId }) => ({ entryId, webhookUid: uid })),
        ),
      );
      expect(await process.runner.read(() => lastDeliveries(some))).toEqual(
        new Map(
          some.flatMap((uid) => {
            const last = all.find(({ webhook_uid: of }) => of === uid);
            return last === undefined ? [] : [[uid, last.received_at]];
          }),
        ),
      );
    };
    const whole = async (): Promise<void> => {
      const all = scan();
      const found = await process.runner.read(function* () {
        yield* catchUp('delivery_log');
        return yield* rows<LogRow>('SELECT * FROM delivery_log ORDER BY webhook_uid, entry_id');
      });
      expect(found).toEqual(all);
    };

    for (let step = 0; step < STEPS; step += 1) {
      const isFaulty = below(6) === 0;
      if (isFaulty) process.failAfter(below(14), below(2) === 0);
      const act = oneOf([insert, insert, insert, insert, insert, count, remove]);
      await act().catch(() => undefined);
      if (isFaulty) process.heal();
      if (below(16) === 0) await readAhead();
      if (below(12) === 0 || process.isDead) restart();
      await oneOf([list, list, newest, whole, async () => undefined])();
    }
    await whole();
    restart();
    await whole();
    process.connection.close();
    standby?.connection.close();
  });

  describe('moves the marker that a start reads from', () => {
    const many = 60;
    const entriesFrom = (start: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        entry_id: idAt(T0 + start + n),
        webhook_uid: WEBHOOKS[n % 5] as string,
        factory_uid: 'f',
        delivery_id: 'd',
        outcome: 'accepted',
        size: 1,
        size_exact: 1,
        received_at: T0 + start + n,
        client_address: '192.0.2.1',
        revision: 'r',
        entries: 1,
      }));

    /** A history of transactions and reads behind them; how many entries a start would read again. */
    async function behindMarkerAfter(read: (process: Process, at: number) => Promise<unknown>): Promise<number> {
      const process = new Process(standbyOn(await fileOf()));
      for (let at = 0; at < many; at += 1) {
        await process.runner.run(() => insertInto(DELIVERY, entriesFrom(at * 10, 5)));
        await read(process, at);
      }
      const left = process.connection
        .prepare(
          "SELECT count(*) FROM delivery WHERE entry_id >= (SELECT marker FROM deferred WHERE name = 'delivery_log')",
        )
        .pluck()
        .get() as number;
      process.connection.close();
      return left;
    }

    it('where every list of a webhook copies what is its own', async () => {
      const left = await behindMarkerAfter(async ({ deliveries }) => {
        for (const uid of WEBHOOKS) await deliveries.list(uid, 1);
      });
      expect(left).toBeLessThan(40);
    });

    it('where reads of everything copy all that waits, within transactions and outside', async () => {
      const everything = () => catchUp('delivery_log');
      const left = await behindMarkerAfter(async ({ runner }) => {
        await runner.read(everything);
        await runner.run(everything);
      });
      expect(left).toBeLessThan(40);
    });

    it('where transactions that insert nothing copy it', async () => {
      const left = await behindMarkerAfter(({ runner }) => runner.run(() => catchUp('delivery_log')));
      expect(left).toBeLessThan(40);
    });

    it('not beyond what is still to be copied', async () => {
      const left = await behindMarkerAfter(async ({ runner, deliveries }, at) => {
        await deliveries.list('wh_a', 1);
        await runner.run(function* () {
          yield* insertInto(DELIVERY, entriesFrom(at * 10 + 5, 1));
          yield* catchUp('delivery_log', ['wh_b']);
        });
      });
      expect(left).toBeGreaterThan(5);
      expect(left).toBeLessThan(80);
    });
  });

  it('is read in parts, and lets others have their turn between them', async () => {
    const process = new Process(standbyOn(await fileOf()));
    const made = Array.from({ length: 3 * 500 }, (_, n) => [idAt(T0 + n), WEBHOOKS[n % 5], 'accepted', T0 + n]);
    await process.runner.run(function* () {
      yield {
        kind: 'insert',
        table: 'delivery',
        columns: ['entry_id', 'webhook_uid', 'outcome', 'received_at', ...REST],
        rows: made.map((row) => [...row, 'f', 'd', 1, 1, '192.0.2.1', 'r', 1] as (string | number)[]),
        ignoreConflicts: false,
      };
    });
    const order: string[] = [];
    const read = process.runner
      .read(function* () {
        yield* catchUp('delivery_log');
        return yield* rows('SELECT entry_id FROM delivery_log');
      })
      .then((found) => order.push(`read ${found.length}`));
    setImmediate(() => order.push('another'));
    await read;
    expect(order).toEqual(['another', 'read 1500']);
    process.connection.close();
  });
});

const REST = ['factory_uid', 'delivery_id', 'size', 'size_exact', 'client_address', 'revision', 'entries'];

function toLogRow({ webhook_uid, entry_id, outcome, received_at, entries }: Record<string, unknown>): unknown {
  return { webhook_uid, entry_id, outcome, received_at, entries };
}

function matches({ outcome, received_at: at }: LogRow, filter: DeliveryFilter): boolean {
  const { outcomes, sinceMs, untilMs } = filter;
  return (
    (outcomes === undefined || outcomes.includes(outcome)) &&
    (sinceMs === undefined || at >= sinceMs) &&
    (untilMs === undefined || at < untilMs)
  );
}
