/**
 * Rate windows of webhooks in memory, read from the delivery log: one by one when they are asked for, or all at once
 * ahead of a start. contract §5.6 (Slots), §1.8 (Upgrades).
 */
import { RATE_WINDOW_MS, type SlotResult, SlotWindows } from '#deliveries';
import { firstUuidv7 } from '#runs';
import type { Database } from '../database/database.ts';
import { catchUp } from '../database/deferred-index.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { databaseNow, type Match, matching, row, rows, together, type Transaction } from '../database/transactions.ts';
import { ENTRY_TIME_SLACK_MS } from './delivery.entities.ts';

/** Beyond this many webhooks, those without a slot in the last minute are forgotten. */
const WEBHOOKS_MAX = 20_000;

interface Slot {
  webhook_uid: string;
  slot_at: number;
}

/** An entry by the order in which a SQLite file was written. */
interface LogPosition {
  position: number;
  entry_id: string;
}

/** Slots of the last minute up to an entry; undefined: there was none. */
interface PreparedWindows {
  nowMs: number;
  position: LogPosition | undefined;
  slots: readonly Slot[];
}

const LAST_ENTRY = 'SELECT rowid AS position, entry_id FROM delivery ORDER BY rowid DESC LIMIT 1';
const SAME_ENTRY = 'SELECT 1 AS same FROM delivery WHERE rowid = ? AND entry_id = ?';

/** A window for each webhook, changed while a transaction decides: when that fails, all are read from the log again. */
export class RateWindows {
  private readonly windows = new SlotWindows();
  private webhooksMax = WEBHOOKS_MAX;
  private prepared: PreparedWindows | undefined;
  /** From then on a webhook that is not known has no slot; until the log has to be asked for it. */
  private completeSinceMs = Infinity;
  private readonly log: Match;

  /** `log`: where the slots of webhooks lie, with conditions for the lowest ID of an entry and the first time. */
  constructor(log: Match = LOG_BY_WEBHOOK) {
    this.log = log;
  }

  /** Whether nothing has to be read of these webhooks. */
  has(webhookUids: readonly string[]): boolean {
    return webhookUids.every((uid) => this.windows.has(uid));
  }

  /**
   * Reads the windows of all webhooks that had deliveries lately, of a SQLite file that another process writes to.
   * Answers these webhooks.
   */
  async prepare(database: Database): Promise<readonly string[]> {
    const position = await database.read(() => row<LogPosition>(LAST_ENTRY));
    const nowMs = await database.read(databaseNow);
    const sinceMs = nowMs - RATE_WINDOW_MS;
    const slots = await database.longRead(() =>
      rows<Slot>(
        'SELECT webhook_uid, slot_at FROM delivery WHERE entry_id >= ? AND slot_at > ? AND rowid <= ?',
        firstUuidv7(sinceMs - ENTRY_TIME_SLACK_MS),
        sinceMs,
        position?.position ?? 0,
      ),
    );
    this.prepared = { nowMs, position, slots };
    return [...new Set(slots.map(({ webhook_uid: uid }) => uid))];
  }

  /** Takes in what was prepared and what was written since. Where that is not known, each is read when asked for. */
  *takePrepared(nowMs: number): Transaction<void> {
    const { prepared } = this;
    this.prepared = undefined;
    // Of a clock that has stepped back the log knows more.
    if (prepared === undefined || nowMs < prepared.nowMs) return;
    const { position, slots } = prepared;
    // While the last entry of then is there, whatever came later has a higher number.
    if (position !== undefined && (yield* row(SAME_ENTRY, position.position, position.entry_id)) === undefined) return;
    const later = yield* rows<Slot>(
      'SELECT webhook_uid, slot_at FROM delivery WHERE rowid > ? AND slot_at IS NOT NULL',
      position?.position ?? 0,
    );
    const times = new Map<string, number[]>();
    for (const { webhook_uid: uid, slot_at: slotAt } of [...slots, ...later]) {
      const known = times.get(uid);
      if (known === undefined) times.set(uid, [slotAt]);
      else known.push(slotAt);
    }
    for (const [uid, slotTimes] of times) this.windows.set(uid, slotTimes, nowMs);
    this.completeSinceMs = nowMs;
  }

  /** Reads the windows of these webhooks from the log, unless they are known. */
  *load(webhookUids: readonly string[], nowMs: number): Transaction<void> {
    const missing = unique(webhookUids.filter((uid) => !this.windows.has(uid)));
    if (missing.length === 0) return;
    if (nowMs >= this.completeSinceMs) {
      for (const [uid] of missing) this.windows.set(uid, [], nowMs);
      return;
    }
    const [, found] = yield* together(
      catchUp('delivery_log', missing.flat()),
      matching<Slot>(
        {
          ...this.log,
          params: [firstUuidv7(nowMs - RATE_WINDOW_MS - ENTRY_TIME_SLACK_MS), nowMs - RATE_WINDOW_MS],
        },
        missing,
      ),
    );
    const times = new Map<string, number[]>(missing.map(([uid]) => [uid, []]));
    for (const { webhook_uid: uid, slot_at: slotAt } of found) times.get(uid)?.push(slotAt);
    for (const [uid, slotTimes] of times) this.windows.set(uid, slotTimes, nowMs);
  }

  /** A slot of a webhook that was loaded. Throws LostRaceError where it was forgotten meanwhile. */
  take(webhookUid: string, nowMs: number): SlotResult {
    const taken = this.windows.take(webhookUid, nowMs);
    if (taken === undefined) throw new LostRaceError('a rate window was forgotten');
    return taken;
  }

  /** What was taken is in the log: the windows of webhooks without deliveries may go. */
  commit(nowMs: number): void {
    if (this.windows.size <= this.webhooksMax) return;
    this.completeSinceMs = Infinity; // of those that were forgotten the log knows more, where the clock steps back
    this.windows.deleteIdle(nowMs);
    // Where nearly all are busy, none is looked through at every commit.
    this.webhooksMax = Math.max(WEBHOOKS_MAX, this.windows.size * 2);
  }

  /** What was taken may not be in the log, which is asked again; of these webhooks alone. */
  forget(webhookUids?: readonly string[]): void {
    if (webhookUids === undefined) this.windows.clear();
    else for (const uid of webhookUids) this.windows.delete(uid);
    this.completeSinceMs = Infinity;
  }
}

/** The log by webhook of the only writer. */
const LOG_BY_WEBHOOK: Match = {
  columns: 'l.webhook_uid, d.slot_at',
  table: 'delivery_log l CROSS JOIN delivery d',
  keys: ['l.webhook_uid'],
  and: 'AND l.entry_id >= ? AND d.entry_id = l.entry_id AND d.slot_at > ?',
};

/** As keys to look for: each once, in the order in which all lock them. */
export function unique(values: readonly string[]): [string][] {
  return [...new Set(values)].sort().map((value) => [value]);
}
