/**
 * What files say about how an agent runs: the keys that factory.yaml and automations share. contract §3.4, §8.
 */
import type { AutomationFrontMatter, FactoryFile } from '#contracts';
import type { JsonValue } from '#filters';
import { problemAt } from './rules/problems.ts';
import { isReservedVariable } from './run-secrets.ts';
import type { AgentDefaults, FilePositions, Problem } from './types.ts';

type AgentKeys = NonNullable<FactoryFile['agentDefaults']> | AutomationFrontMatter;

/** The agent's keys of a document, absent ones left out. */
export function toAgentDefaults(keys: AgentKeys): AgentDefaults {
  const { model, harness, environmentId, skill, basePrompt, mcpServers, secrets, idleTimeoutMinutes } = keys;
  const all = {
    model,
    harness,
    environmentId,
    skill,
    basePrompt,
    mcpServers: mcpServers as Record<string, JsonValue> | undefined,
    secrets,
    idleTimeoutMinutes,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Problems of the names in a `secrets` list that stands at `pointer`. contract §2.2 (injected into a run). */
export function runSecretProblems(
  path: string,
  secrets: readonly { name: string }[] | undefined,
  pointer: string,
  positions: FilePositions,
): Problem[] {
  return (secrets ?? []).flatMap(({ name }, index) => {
    if (!isReservedVariable(name)) return [];
    const users = 'shells, loaders, git or the service itself';
    const message = `${name} cannot be the name of a run's secret: ${users} use this variable`;
    return [problemAt(path, positions.value(`${pointer}/${index}/name`), 'run-secret-name', message)];
  });
}
