/** What factory.yaml and environment files say. contract §8. */
import type { EnvironmentFile } from '#contracts';
import type { JsonValue } from '#filters';
import { runSecretProblems, toAgentDefaults, toRunSecrets } from './agent-keys.ts';
import { readDocument } from './yaml/document.ts';
import type { FileReading } from './file-reading.ts';
import type { SourceText } from './yaml/source-text.ts';
import type { EnvironmentDefinition, FactoryDefinition } from './types.ts';

/** The factory of a tree without factory.yaml: the file is optional. */
export const DEFAULT_FACTORY: FactoryDefinition = { applyMode: 'atomic' };

/** Reads factory.yaml. */
export function readFactory(source: SourceText): FileReading<FactoryDefinition> {
  const read = readDocument('factory', source, { start: 0, end: source.text.length });
  const { document, faults, problems, positions } = read;
  if (document === undefined) return { definition: undefined, faults, problems, positions };
  const { name, description, agentDefaults, trust } = document;
  problems.push(...runSecretProblems(source.path, agentDefaults?.secrets, '/agentDefaults/secrets', read));
  const definition: FactoryDefinition = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(agentDefaults === undefined ? {} : { agentDefaults: toAgentDefaults(agentDefaults) }),
    applyMode: document.applyMode ?? DEFAULT_FACTORY.applyMode,
    ...(trust === undefined ? {} : { trust: trust as FactoryDefinition['trust'] }),
  };
  return { definition, faults, problems, positions };
}

/** Reads environments/<name>.yaml. */
export function readEnvironment(name: string, source: SourceText): FileReading<EnvironmentDefinition> {
  const read = readDocument('environment', source, { start: 0, end: source.text.length });
  const { document, faults, problems, positions } = read;
  if (document === undefined) return { definition: undefined, faults, problems, positions };
  problems.push(...runSecretProblems(source.path, document.secrets, '/secrets', read));
  const { secrets, repositories } = document;
  const definition: EnvironmentDefinition = {
    name,
    path: source.path,
    ...(document as EnvironmentFile),
    repositories: repositories?.map((repository) => (repository ?? null) as JsonValue),
  };
  if (secrets !== undefined) definition.secrets = toRunSecrets(secrets);
  if (repositories === undefined) delete definition.repositories;
  return { definition, faults, problems, positions };
}
