/**
 * What is wrong with a request for a schedule whatever the installation holds, and what of it nothing here serves.
 * contract §12.8 (Schedules).
 */
import { knownConfigMembers, type AmbientAgentConfig } from '#agents';
import { membersOf } from '#contracts';
import { readSchedule } from '#definitions';
import { agentConfigProblems, blankPromptProblems, metadataProblems } from '../requests.ts';
import type { RequestProblem } from '../types.ts';

/** Everything that a schema cannot state, each by its pointer. The body may be anything. */
export function scheduleProblems(body: unknown): RequestProblem[] {
  const { cron_schedule: cron, prompt, metadata, agent_config: config } = membersOf(body);
  return [
    ...cronProblems(cron),
    ...blankPromptProblems(prompt),
    ...metadataProblems(metadata),
    ...agentConfigProblems(config, '/agent_config'),
  ];
}

/** The same for a new one, which has to say what its runs do. */
export function newScheduleProblems(body: unknown): RequestProblem[] {
  const { prompt, agent_config: config } = membersOf(body);
  const { skill_spec: skill, skills } = membersOf(config);
  const namesSkill = skill !== undefined || (Array.isArray(skills) && skills.length > 0);
  const isIdle = prompt === undefined && !namesSkill;
  return [...(isIdle ? [{ pointer: '/prompt', message: NEEDS_PROMPT }] : []), ...scheduleProblems(body)];
}

/** What is said of a prompt that is missing. */
export const NEEDS_PROMPT = 'is required unless agent_config.skill_spec or agent_config.skills is given';

function cronProblems(cron: unknown): RequestProblem[] {
  if (typeof cron !== 'string' || cron === '') return [];
  const reading = readSchedule(cron);
  return reading.ok ? [] : [{ pointer: '/cron_schedule', message: reading.reason }];
}

/** What is kept of a configuration: what was checked. */
export function scheduledConfig(config: object | undefined): AmbientAgentConfig | undefined {
  return config && knownConfigMembers(config);
}

/**
 * What is ignored of a schedule behind a request that changes it: what the request asks for in vain, and what was
 * ignored before of a configuration that the request leaves as it is.
 */
export function ignoredAfter(before: readonly string[], body: object, now: readonly string[]): string[] {
  const stays = 'agent_config' in body ? [] : before.filter((pointer) => pointer.startsWith('/agent_config/'));
  return [...stays, ...now];
}

/** What is wrong with the skills of a schedule without a factory: only a factory has one by its bare name. */
export function bareSkillProblems({ skill_spec: skill, skills }: AmbientAgentConfig): RequestProblem[] {
  const named = Object.entries(
    skills === undefined ? { skill_spec: skill } : Object.fromEntries(skills.map((name, at) => [`skills/${at}`, name])),
  );
  return named.flatMap(([member, name]) =>
    name === undefined || name.includes(':')
      ? []
      : [
          {
            pointer: `/agent_config/${member}`,
            message:
              `agent_config.${member.replace('/', '.')} must be owner/repo:skill-name or ` +
              'owner/repo:path/to/SKILL.md: a bare name is a skill of a factory, and the schedule has none',
          },
        ],
  );
}
