/** What a schedule has to do now: start, count what was missed, or wait. contract §12.3 (schedule trigger). */
import { createHash } from 'node:crypto';
import { nextTick, ticksBetween } from './cron-ticks.ts';
import { readSchedule, type ScheduleTimes } from './cron.ts';
import type { AutomationDefinition } from '../types.ts';

/** A tick that is older is not made up for: what was due then may be wrong now. Milliseconds. */
export const TICK_LATE_MAX_MS = 300_000;

/**
 * `nothing`: no tick is due. `start`: the latest due tick starts a run. `missed`: it is too late for it. The other due
 * ones are missed either way.
 */
export type TickDecision =
  | { kind: 'nothing' }
  | ({ kind: 'start'; atMs: number } & Missed)
  | ({ kind: 'missed'; atMs: number } & Missed);

export interface Missed {
  missed: number;
  /** The latest tick that was missed. */
  lastMissedMs?: number;
}

/**
 * Decides at `nowMs` on the ticks after `handledUntilMs`; all up to `atMs` are handled with it. A clock that was set
 * back finds nothing due.
 */
export function dueTick(fields: ScheduleTimes, handledUntilMs: number, nowMs: number): TickDecision {
  const { count, latestMs } = ticksBetween(fields, handledUntilMs, nowMs);
  if (latestMs === undefined) return { kind: 'nothing' };
  if (nowMs - latestMs >= TICK_LATE_MAX_MS)
    return { kind: 'missed', atMs: latestMs, missed: count, lastMissedMs: latestMs };
  if (count === 1) return { kind: 'start', atMs: latestMs, missed: 0 };
  return {
    kind: 'start',
    atMs: latestMs,
    missed: count - 1,
    lastMissedMs: ticksBetween(fields, handledUntilMs, latestMs - 1).latestMs,
  };
}

/** A schedule trigger of an automation. */
export interface WantedSchedule {
  scheduleId: string;
  name?: string;
  cron: string;
  fields: ScheduleTimes;
}

/**
 * The schedules that an automation says, each once, in order. An expression that cannot be read, from a time with other
 * rules, never fires.
 */
export function schedulesOf(
  automationUid: string,
  { triggers }: Pick<AutomationDefinition, 'triggers'>,
): WantedSchedule[] {
  const wanted = new Map<string, WantedSchedule>();
  for (const trigger of triggers) {
    const reading = trigger.provider === 'schedule' ? readSchedule(trigger.cron) : undefined;
    if (trigger.provider !== 'schedule' || reading?.ok !== true) continue;
    const { name, cron } = trigger;
    const scheduleId = scheduleIdOf(automationUid, name, cron);
    wanted.set(scheduleId, { scheduleId, ...(name === undefined ? {} : { name }), cron, fields: reading.fields });
  }
  return [...wanted.values()];
}

/** The same for the same automation, name and expression: with another one a schedule begins anew. */
function scheduleIdOf(automationUid: string, name: string | undefined, cron: string): string {
  return `sched_${createHash('sha256')
    .update(JSON.stringify([automationUid, name ?? null, cron]))
    .digest('hex')
    .slice(0, ID_CHARACTERS)}`;
}

/** 128 bits. */
const ID_CHARACTERS = 32;

/** When a schedule fires next. */
export function nextDue(fields: ScheduleTimes, handledUntilMs: number, nowMs: number): number | undefined {
  return nextTick(fields, Math.max(handledUntilMs, nowMs));
}
