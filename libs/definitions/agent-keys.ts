/**
 * What files say about how an agent runs: the keys that factory.yaml and automations share. contract §3.4, §8.
 */
import type { AutomationFrontMatter, FactoryFile } from '#contracts';
import type { JsonValue } from '#filters';
import { problemAt } from './rules/problems.ts';
import { isExposedSilently, isReservedVariable, runSecretFault, type RunSecret } from './run-secrets.ts';
import type { AgentDefaults, FilePositions, Problem, Range } from './types.ts';

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

/** Problems of a `secrets` list that stands at `pointer`. contract §2.2 (injected into a run), §10.4. */
export function runSecretProblems(
  path: string,
  secrets: readonly RunSecret[] | undefined,
  pointer: string,
  positions: FilePositions,
): Problem[] {
  return (secrets ?? []).flatMap((secret, index) => {
    const { name } = secret;
    const at = (key: string): Range => positions.value(`${pointer}/${index}/${key}`);
    if (isReservedVariable(name)) {
      const users = 'shells, loaders, git or the service itself';
      const wayOut = 'name the secret otherwise';
      const message = `"${name}" cannot be the name of a run's secret: ${users} use this variable; ${wayOut}`;
      return [problemAt(path, at('name'), 'run-secret-name', message)];
    }
    const fault = runSecretFault(secret);
    if (fault !== undefined) return [problemAt(path, at(fault.key), 'run-secret-host', fault.message)];
    return isExposedSilently(secret) ? [problemAt(path, at('name'), 'run-secret-exposed', exposedWords(name))] : [];
  });
}

function exposedWords(name: string): string {
  return (
    `${name} is inside the sandbox, where an agent that was talked into it can take it along; add host and header to ` +
    'keep it outside, or say expose: env'
  );
}
