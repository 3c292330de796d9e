/** Schedules that are made over the API, out of their rows and into them. contract §12.8 (Schedules). */
import type { AmbientAgentConfig } from '#agents';
import type { ScheduledAgentSettings } from '#runs';
import { toPrincipal, type Principal } from '../access/access.ts';
import type { RunMode } from '../runs/new-run.ts';
import { SCHEDULED_AGENT, type ScheduledAgentRow } from './definition.entities.ts';

/** How far a schedule got; times in milliseconds. */
export interface ScheduledAgentClock {
  scheduleId: string;
  factoryUid?: string;
  name: string;
  cron: string;
  /** Moves with every change of its settings; what was decided on another one counts no more. */
  version: number;
  /** Ticks up to here have started something, or never will. */
  handledUntilMs: number;
}

export interface ScheduledAgent extends ScheduledAgentClock, ScheduledAgentSettings {
  mode: RunMode;
  creator: Principal;
  updater: Principal;
  createdAtMs: number;
  updatedAtMs: number;
  lastFiredMs?: number;
  missed: number;
  lastMissedMs?: number;
}

/** What is asked for when one is made. */
export type NewScheduledAgent = Omit<ScheduledAgent, 'creator' | 'updater' | 'lastFiredMs' | 'missed' | 'lastMissedMs'>;

const COLUMNS = SCHEDULED_AGENT.columns.map((column) => `s.${column}`).join(', ');

/** Each with who made and who changed it. */
export const SELECT_AGENTS =
  `SELECT ${COLUMNS}, c.kind AS creator_kind, c.display_name AS creator_name, c.email AS creator_email, ` +
  'u.kind AS updater_kind, u.display_name AS updater_name, u.email AS updater_email FROM scheduled_agent s ' +
  'LEFT JOIN principal c ON c.uid = s.creator_uid LEFT JOIN principal u ON u.uid = s.updater_uid';

/** A row of that. */
export interface NamedAgentRow extends ScheduledAgentRow {
  creator_kind: string | null;
  creator_name: string | null;
  creator_email: string | null;
  updater_kind: string | null;
  updater_name: string | null;
  updater_email: string | null;
}

/** `updaterUid`: who makes or changes it. */
export function toAgentRow(agent: NewScheduledAgent & Partial<ScheduledAgent>, updaterUid: string): ScheduledAgentRow {
  return {
    schedule_id: agent.scheduleId,
    factory_uid: agent.factoryUid ?? null,
    name: agent.name,
    cron: agent.cron,
    prompt: agent.prompt ?? null,
    agent_config: JSON.stringify(agent.agentConfig),
    metadata: JSON.stringify(agent.metadata),
    mode: agent.mode,
    enabled: agent.isEnabled ? 1 : 0,
    creator_uid: updaterUid,
    updater_uid: updaterUid,
    version: agent.version,
    created_at: agent.createdAtMs,
    updated_at: agent.updatedAtMs,
    handled_until: agent.handledUntilMs,
    last_fired_at: agent.lastFiredMs ?? null,
    missed: agent.missed ?? 0,
    last_missed_at: agent.lastMissedMs ?? null,
    agent_identity_uid: agent.agentIdentityUid,
    ignored: JSON.stringify(agent.ignored),
  };
}

export function toClock(found: ScheduledAgentRow): ScheduledAgentClock {
  return {
    scheduleId: found.schedule_id,
    factoryUid: found.factory_uid ?? undefined,
    name: found.name,
    cron: found.cron,
    version: found.version,
    handledUntilMs: found.handled_until,
  };
}

export function toAgent(found: NamedAgentRow): ScheduledAgent {
  return {
    ...toClock(found),
    prompt: found.prompt ?? undefined,
    agentConfig: JSON.parse(found.agent_config) as AmbientAgentConfig,
    metadata: JSON.parse(found.metadata) as Record<string, string>,
    mode: found.mode as RunMode,
    isEnabled: found.enabled === 1,
    agentIdentityUid: found.agent_identity_uid,
    ignored: JSON.parse(found.ignored) as string[],
    creator: principalOf(found.creator_uid, found.creator_kind, found.creator_name, found.creator_email),
    updater: principalOf(found.updater_uid, found.updater_kind, found.updater_name, found.updater_email),
    createdAtMs: found.created_at,
    updatedAtMs: found.updated_at,
    lastFiredMs: found.last_fired_at ?? undefined,
    missed: found.missed,
    lastMissedMs: found.last_missed_at ?? undefined,
  };
}

function principalOf(uid: string, kind: string | null, name: string | null, email: string | null): Principal {
  return toPrincipal({ uid, kind: kind ?? 'user', display_name: name ?? uid, email });
}
