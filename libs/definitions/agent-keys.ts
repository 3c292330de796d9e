/**
 * What files say about how an agent runs: the keys that factory.yaml and automations share. contract §3.4, §8.
 */
import type { AutomationFrontMatter, FactoryFile } from '#contracts';
import type { JsonValue } from '#filters';
import { problemAt } from './rules/problems.ts';
import { isExposedSilently, isReservedVariable, runSecretFault, type RunSecret } from './run-secrets.ts';
import type { AgentDefaults, FilePositions, Problem, Range } from './types.ts';
import type { DeepPartial, DocumentFaults } from './yaml/faults.ts';

type AgentKeys = DeepPartial<NonNullable<FactoryFile['agentDefaults']> | AutomationFrontMatter>;

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
    secrets: secrets && toRunSecrets(secrets),
    idleTimeoutMinutes,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Entries of a `secrets` list; a name that is wrong is an empty one. */
export function toRunSecrets(secrets: readonly (DeepPartial<RunSecret> | undefined)[]): RunSecret[] {
  return secrets.map((secret) => ({ ...(secret as RunSecret | undefined), name: secret?.name ?? '' }));
}

/** Keys of a secret that say together where it goes. */
const PLACING_KEYS: readonly (keyof RunSecret)[] = ['host', 'header', 'expose'];

/** Problems of a `secrets` list that stands at `pointer`. contract §2.2 (injected into a run), §10.4. */
export function runSecretProblems(
  path: string,
  secrets: readonly (DeepPartial<RunSecret> | undefined)[] | undefined,
  pointer: string,
  { faults, positions }: { faults: DocumentFaults; positions: FilePositions },
): Problem[] {
  return toRunSecrets(secrets ?? []).flatMap((secret, index) => {
    const { name } = secret;
    const at = (key: string): Range => positions.value(`${pointer}/${index}/${key}`);
    const found: Problem[] = [];
    if (isReservedVariable(name)) {
      const users = 'shells, loaders, git or the service itself';
      const wayOut = 'name the secret otherwise';
      const message = `"${name}" cannot be the name of a run's secret: ${users} use this variable; ${wayOut}`;
      found.push(problemAt(path, at('name'), 'run-secret-name', message));
    }
    if (PLACING_KEYS.some((key) => faults.cover(`${pointer}/${index}/${key}`))) return found;
    const fault = runSecretFault(name === '' ? { ...secret, name: 'the secret' } : secret);
    if (fault !== undefined) found.push(problemAt(path, at(fault.key), 'run-secret-host', fault.message));
    return found.length === 0 && name !== '' && isExposedSilently(secret)
      ? [problemAt(path, at('name'), 'run-secret-exposed', exposedWords(name))]
      : found;
  });
}

function exposedWords(name: string): string {
  return (
    `${name} is inside the sandbox, where an agent that was talked into it can take it along; add host and header to ` +
    'keep it outside, or say expose: env'
  );
}
