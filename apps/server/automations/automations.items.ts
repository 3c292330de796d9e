/** Automations as the API shows them, with how far their schedules got. contract §4, §12.3. */
import { toAgentConfig, withoutAbsent } from '#agents';
import type { AutomationAgent, Automation as AutomationItem, AutomationTrigger } from '#contracts';
import type { AutomationDefinition, Trigger } from '#definitions';
import { nextDue, schedulesOf } from '#definitions';
import { toTime } from '../http/queries.ts';
import type { RecentRuns } from '../store/definitions/automations.ts';
import type { AutomationRow } from '../store/definitions/definition.entities.ts';
import type { Schedule } from '../store/definitions/schedules.ts';

/** What an automation's item needs beside its row. */
export interface AutomationView {
  /** Whether files decide it. */
  isManaged: boolean;
  lastFiredAtMs?: number;
  /** Runs of the last seven days; undefined: none. */
  recentRuns?: RecentRuns;
  /** Its schedules that were looked at, and the time. */
  schedules: readonly Schedule[];
  nowMs: number;
}

/** `agent` is what the automation itself says, before factory and server. */
export function toAutomationItem(
  automation: AutomationRow,
  { isManaged, lastFiredAtMs, recentRuns, schedules, nowMs }: AutomationView,
): AutomationItem {
  const definition = JSON.parse(automation.definition) as AutomationDefinition;
  const { description, triggers, prompt, agent, concurrency, limits, network } = definition;
  const isEnabled = automation.enabled === 1;
  return {
    uid: automation.uid,
    slug: automation.slug,
    name: automation.name,
    enabled: isEnabled,
    triggers: triggers.map(toTriggerItem),
    prompt,
    agent: toAgentConfig(agent) as AutomationAgent,
    ...withoutAbsent({
      description,
      concurrency: concurrency && withoutAbsent({ group: concurrency.group, when_busy: concurrency.whenBusy }),
      limits,
      network: network as AutomationItem['network'],
    }),
    ...withoutAbsent({
      schedules: toScheduleItems(automation.uid, definition, { isEnabled, stored: schedules, nowMs }),
    }),
    version: automation.version,
    revision: automation.revision,
    file: isManaged && automation.path !== '' ? automation.path : null,
    created_at: toTime(automation.created_at),
    updated_at: toTime(automation.updated_at),
    last_fired_at: lastFiredAtMs === undefined ? null : toTime(lastFiredAtMs),
    recent_runs: { total: recentRuns?.total ?? 0, states: { ...recentRuns?.states } },
  };
}

function toTriggerItem(trigger: Trigger): AutomationTrigger {
  switch (trigger.provider) {
    case 'webhook':
      return withoutAbsent({
        provider: 'webhook',
        webhook_uids: trigger.webhookUids,
        payload: trigger.payload as AutomationTrigger['payload'],
      });
    case 'schedule':
      return withoutAbsent({ provider: 'schedule', name: trigger.name, cron: trigger.cron });
    case 'inactive':
      return { provider: 'inactive', declared_provider: trigger.declaredProvider };
  }
}

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
