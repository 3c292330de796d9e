/** What factory.yaml and environment files say. contract §8. */
import type { JsonValue } from '#filters';
import { runSecretProblems, toAgentDefaults } from './agent-keys.ts';
import { readDocument } from './yaml/document.ts';
import type { FileReading } from './file-reading.ts';
import type { SourceText } from './yaml/source-text.ts';
import type { EnvironmentDefinition, FactoryDefinition } from './types.ts';

/** The factory of a tree without factory.yaml: the file is optional. */
export const DEFAULT_FACTORY: FactoryDefinition = { applyMode: 'atomic' };

/** Reads factory.yaml. */
export function readFactory(source: SourceText): FileReading<FactoryDefinition> {
  const { document, problems, positions } = readDocument('factory', source, { start: 0, end: source.text.length });
  if (document === undefined) return { definition: undefined, problems, positions };
  problems.push(
    ...runSecretProblems(source.path, document.agentDefaults?.secrets, '/agentDefaults/secrets', positions),
  );
  const { name, description, agentDefaults, trust } = document;
  const definition: FactoryDefinition = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(agentDefaults === undefined ? {} : { agentDefaults: toAgentDefaults(agentDefaults) }),
    applyMode: document.applyMode ?? DEFAULT_FACTORY.applyMode,
    ...(trust === undefined ? {} : { trust }),
  };
  return { definition, problems, positions };
}

/** Reads environments/<name>.yaml. */
export function readEnvironment(name: string, source: SourceText): FileReading<EnvironmentDefinition> {
  const { document, problems, positions } = readDocument('environment', source, { start: 0, end: source.text.length });
  if (document === undefined) return { definition: undefined, problems, positions };
  problems.push(...runSecretProblems(source.path, document.secrets, '/secrets', positions));
  const definition: EnvironmentDefinition = {
    name,
    path: source.path,
    ...document,
    repositories: document.repositories as JsonValue | undefined,
  };
  if (definition.repositories === undefined) delete definition.repositories;
  return { definition, problems, positions };
}
