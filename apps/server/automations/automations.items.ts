/** Automations as the API shows them. contract §4. */
import { toAgentConfig, withoutAbsent } from '#agents';
import type { Automation as AutomationItem, AutomationAgent, AutomationTrigger } from '#contracts';
import type { AutomationDefinition, Trigger } from '#definitions';
import type { Schedule } from '../store/definitions/schedules.ts';
import type { RecentRuns } from '../store/definitions/automations.ts';
import type { AutomationRow } from '../store/definitions/definition.entities.ts';
import { toScheduleItems } from '../schedules/schedules.items.ts';
import { toTime } from '../http/queries.ts';

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
