/** Schedules as the API shows them: those of their own, and the schedule triggers of automations. contract §12.8. */
import { publishedHarness, toAgentConfig, withoutAbsent } from '#agents';
import type { ScheduleItem } from '#contracts';
import { nextDue, readSchedule, schedulesOf } from '#definitions';
import { promptOfSchedule } from '#runs';
import { toTime } from '../http/queries.ts';
import { toCreatorInfo } from '../runs/runs.items.ts';
import type { ScheduledAutomationRow } from '../store/definitions/catalogue.ts';
import type { ScheduledAgent } from '../store/definitions/scheduled-agent-rows.ts';
import type { Schedule } from '../store/definitions/schedules.ts';

/** A schedule of its own. */
export function toScheduleItem(agent: ScheduledAgent, nowMs: number): ScheduleItem {
  const reading = readSchedule(agent.cron);
  return withoutAbsent<ScheduleItem>({
    id: agent.scheduleId,
    name: agent.name,
    cron_schedule: agent.cron,
    enabled: agent.isEnabled,
    prompt: promptOfSchedule(agent),
    agent_config: publishedHarness(agent.agentConfig) as ScheduleItem['agent_config'],
    metadata: { ...agent.metadata },
    mode: agent.mode,
    read_only: false,
    factory_uid: agent.factoryUid,
    agent_uid: agent.agentIdentityUid ?? undefined,
    ignored: agent.ignored.length === 0 ? undefined : [...agent.ignored],
    created_at: toTime(agent.createdAtMs),
    updated_at: toTime(agent.updatedAtMs),
    created_by: toCreatorInfo(agent.creator, agent.creator.uid),
    updated_by: toCreatorInfo(agent.updater, agent.updater.uid),
    history: toHistory(
      agent,
      agent.isEnabled && reading.ok ? nextDue(reading.fields, agent.handledUntilMs, nowMs) : undefined,
    ),
  });
}

/** The schedule triggers of an automation. */
export function toTriggerItems(automation: ScheduledAutomationRow, nowMs: number): ScheduleItem[] {
  const { definition, progress, isEnabled } = automation;
  return schedulesOf(automation.uid, definition).map(({ scheduleId, name, cron, fields }) => ({
    id: scheduleId,
    name: name ?? automation.name,
    cron_schedule: cron,
    enabled: isEnabled,
    prompt: definition.prompt,
    agent_config: publishedHarness(toAgentConfig(definition.agent)) as ScheduleItem['agent_config'],
    metadata: withoutAbsent({
      factory_uid: automation.factoryUid,
      automation_id: automation.uid,
      file: automation.path === '' ? undefined : automation.path,
    }) as Record<string, string>,
    mode: 'normal',
    read_only: true,
    factory_uid: automation.factoryUid,
    created_at: toTime(automation.createdAtMs),
    updated_at: toTime(automation.updatedAtMs),
    history: toHistory(progress.get(scheduleId), isEnabled ? nextDue(fields, nowMs, nowMs) : undefined),
  }));
}

function toHistory(
  progress: Pick<Schedule, 'lastFiredMs' | 'missed' | 'lastMissedMs'> | undefined,
  nextMs: number | undefined,
): ScheduleItem['history'] {
  const time = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : toTime(ms));
  return withoutAbsent({
    last_ran: time(progress?.lastFiredMs),
    next_run: time(nextMs),
    missed: progress?.missed ?? 0,
    last_missed_at: time(progress?.lastMissedMs),
  });
}
