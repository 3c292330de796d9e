/** Schedules as the API shows them: what the automation says, with how far each got. contract §4, §12.3. */
import { withoutAbsent } from '#agents';
import type { Automation as AutomationItem } from '#contracts';
import { nextDue, schedulesOf, type AutomationDefinition } from '#definitions';
import type { Schedule } from '../store/definitions/schedules.ts';
import { toTime } from '../http/queries.ts';

/** State of an automation's schedules at a time. */
export interface ScheduleView {
  isEnabled: boolean;
  /** Those that were looked at already. */
  stored: readonly Schedule[];
  nowMs: number;
}

/** In the order of the triggers; undefined for an automation without any. */
export function toScheduleItems(
  automationUid: string,
  definition: AutomationDefinition,
  { isEnabled, stored, nowMs }: ScheduleView,
): AutomationItem['schedules'] {
  const wanted = schedulesOf(automationUid, definition);
  if (wanted.length === 0) return undefined;
  return wanted.map(({ scheduleId, name, cron, fields }) => {
    const state = stored.find((one) => one.scheduleId === scheduleId);
    const next = isEnabled ? nextDue(fields, state?.handledUntilMs ?? nowMs, nowMs) : undefined;
    return withoutAbsent({
      schedule_id: scheduleId,
      name,
      cron,
      next_at: timeOf(next),
      last_fired_at: timeOf(state?.lastFiredMs),
      missed: state?.missed ?? 0,
      last_missed_at: timeOf(state?.lastMissedMs),
    });
  });
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : toTime(ms);
}
