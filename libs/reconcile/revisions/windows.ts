/** Knows when a sync policy lets definitions apply. Windows are of UTC. contract §9. */
import { firesOn, readCron, type CronFields } from '#definitions';
import type { SyncWindow } from './sync-policy.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** Days that are looked through for a time at which something may apply: whatever comes once a year is found. */
export const WINDOW_DAYS_SEARCHED = 400;

/** A time at which nothing applies. `opensAtMs` is absent when that does not end within the days that are searched. */
export interface Closure {
  opensAtMs?: number;
}

/**
 * A window as minutes: what it covers of the day on which it opens, and of each one after that, as bits; minute n is
 * bit n. Days are all alike but for whether a window opens on them, so that however often it opens, a day costs one
 * look at it.
 */
interface Pattern {
  kind: SyncWindow['kind'];
  fields: CronFields;
  slices: readonly bigint[];
}

/** Why nothing may apply now; undefined while something may. A window whose schedule cannot be read is no window. */
export function closureAt(windows: readonly SyncWindow[] | undefined, nowMs: number): Closure | undefined {
  const { opensAtMs } = openingFrom(windows ?? [], nowMs);
  if (opensAtMs === nowMs) return undefined;
  return opensAtMs === undefined ? {} : { opensAtMs };
}

/**
 * The first time from `fromMs` on at which something may apply, and how many times that asked whether a window opens on
 * a day.
 */
export function openingFrom(
  windows: readonly SyncWindow[],
  fromMs: number,
): { opensAtMs?: number; evaluations: number } {
  const patterns = windows.flatMap(patternOf);
  const isAllowedOnly = windows.some(({ kind }) => kind === 'allow');
  const today = Math.floor(fromMs / DAY_MS);
  /** Which of each pattern's slices count on the day that is looked at: one for each day that it opened on. */
  const opened = patterns.map(({ fields, slices }) =>
    slices.slice(1).map((_slice, ago) => firesOn(fields, (today - ago - 1) * DAY_MS)),
  );
  let looks = opened.flat().length;
  let from = Math.floor((fromMs - today * DAY_MS) / MINUTE_MS);
  for (let day = today; day < today + WINDOW_DAYS_SEARCHED; day += 1) {
    const covered = { allow: isAllowedOnly ? 0n : WHOLE_DAY, deny: 0n };
    for (const [n, { kind, fields, slices }] of patterns.entries()) {
      const recent = opened[n] as boolean[];
      recent.unshift(firesOn(fields, day * DAY_MS));
      recent.length = slices.length;
      looks += 1;
      for (const [ago, slice] of slices.entries()) if (recent[ago] === true) covered[kind] |= slice;
    }
    const open = (covered.allow & ~covered.deny & WHOLE_DAY) >> BigInt(from);
    if (open !== 0n)
      return { opensAtMs: Math.max(fromMs, day * DAY_MS + (from + lowestBit(open)) * MINUTE_MS), evaluations: looks };
    from = 0;
  }
  return { evaluations: looks };
}

function patternOf({ kind, schedule, durationMinutes }: SyncWindow): Pattern[] {
  const reading = readCron(schedule);
  if (!reading.ok) return [];
  const { fields } = reading;
  const slices: bigint[] = [];
  for (let rest = coverFromOneDay(fields, durationMinutes); rest !== 0n; rest >>= BigInt(DAY_MINUTES))
    slices.push(rest & WHOLE_DAY);
  return [{ kind, fields, slices }];
}

/** All that a window covers that opens on one day. Openings that overlap or touch are one span. */
function coverFromOneDay({ hours, minutes }: CronFields, durationMinutes: number): bigint {
  let covered = 0n;
  let span: { from: number; to: number } | undefined;
  const add = (): void => {
    if (span !== undefined) covered |= ones(span.to - span.from) << BigInt(span.from);
  };
  for (const opens of hours.flatMap((hour) => minutes.map((minute) => hour * 60 + minute))) {
    if (span !== undefined && opens <= span.to) span.to = opens + durationMinutes;
    else {
      add();
      span = { from: opens, to: opens + durationMinutes };
    }
  }
  add();
  return covered;
}

function ones(count: number): bigint {
  return (1n << BigInt(count)) - 1n;
}

function lowestBit(bits: bigint): number {
  return (bits & -bits).toString(2).length - 1;
}

const WHOLE_DAY = ones(DAY_MINUTES);
