/**
 * Schedules that are made over the API: what a change makes of one, and the run that its ticks start. contract §12.8
 * (Schedules).
 */
import {
  identityConfig,
  resolveAgentConfig,
  toAgentConfig,
  type AgentIdentitySettings,
  type AmbientAgentConfig,
  type ServerAgent,
} from '#agents';
import type { AgentDefaults } from '#definitions';
import { configColumns, type RunSnapshot } from '../new-runs.ts';
import { webhookTitle } from '../titles.ts';

/** What people say of a schedule. */
export interface ScheduledAgentSettings {
  name: string;
  cron: string;
  /** Undefined: its skill says what to do. */
  prompt?: string;
  agentConfig: AmbientAgentConfig;
  metadata: Readonly<Record<string, string>>;
  mode: 'normal' | 'plan' | 'orchestrate';
  isEnabled: boolean;
  /** Whose defaults its runs have. */
  agentIdentityUid: string | null;
  /** JSON pointers of what nothing here served of the request that said all this. */
  ignored: readonly string[];
}

/** A schedule as of one change of its settings. */
export interface ScheduledAgentState extends ScheduledAgentSettings {
  /** Moves with every change of its settings. */
  version: number;
  /** Ticks up to here have started something, or never will. */
  handledUntilMs: number;
  updatedAtMs: number;
}

/** A schedule that was made just now, and counts from now. */
export function newSchedule<Settings extends ScheduledAgentSettings>(
  settings: Settings,
  nowMs: number,
): Settings & ScheduledAgentState {
  return { ...settings, version: 1, handledUntilMs: nowMs, updatedAtMs: nowMs };
}

/**
 * The schedule after a change; undefined where it changes nothing. With another expression, and when it begins to fire
 * again, it counts from now: ticks of before are neither made up for nor missed.
 */
export function changedSchedule<State extends ScheduledAgentState>(
  before: State,
  wanted: Partial<ScheduledAgentSettings>,
  nowMs: number,
): State | undefined {
  const said = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if (said.every(([member, value]) => isSame(before[member as keyof ScheduledAgentSettings], value))) return undefined;
  const after = { ...before, ...Object.fromEntries(said), version: before.version + 1, updatedAtMs: nowMs };
  const beginsAnew = after.cron !== before.cron || (after.isEnabled && !before.isEnabled);
  return beginsAnew ? { ...after, handledUntilMs: nowMs } : after;
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Whether nothing says what the runs of a schedule do. */
export function lacksWork({ prompt, agentConfig }: Pick<ScheduledAgentSettings, 'prompt' | 'agentConfig'>): boolean {
  return prompt === undefined && agentConfig.skill_spec === undefined;
}

/** What a run is asked whose schedule names nothing but a skill. */
export function promptOfSchedule({
  prompt,
  agentConfig,
}: Pick<ScheduledAgentSettings, 'prompt' | 'agentConfig'>): string {
  if (prompt !== undefined) return prompt;
  const { skill_spec: skill, skills = [skill] } = agentConfig;
  return `Use the skill${skills.length > 1 ? 's' : ''} ${skills.join(', ')}.`;
}

/** Whose defaults stand below a schedule: its agent identity's, then its factory's, then the server's. */
export interface ScheduleLevels {
  identity?: { uid: string; name: string; settings: AgentIdentitySettings };
  defaults?: AgentDefaults;
  server: ServerAgent;
}

/** What every run of a schedule takes from it and from the levels below, whatever happens to them later. */
export function scheduledRun(
  settings: ScheduledAgentSettings,
  { identity, defaults, server }: ScheduleLevels,
): Omit<RunSnapshot, 'creatorUid' | 'factoryUid' | 'automationUid' | 'definitionRevision'> & {
  mode: ScheduledAgentSettings['mode'];
} {
  const { name, agentConfig, metadata, mode } = settings;
  const prompt = promptOfSchedule(settings);
  const levels = [agentConfig, identity && identityConfig(identity.settings), defaults && toAgentConfig(defaults)];
  return {
    title: webhookTitle(name, prompt),
    prompt,
    ...configColumns(resolveAgentConfig(levels, identity?.name ?? name, server)),
    metadata: JSON.stringify({ ...metadata, ...(identity === undefined ? {} : { agent_identity_uid: identity.uid }) }),
    mode,
  };
}
