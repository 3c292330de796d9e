/** Names that the files of a factory declare or use, for whoever writes another file. contract §11.11. */
import { RULES } from '../rules/rules.ts';
import { secretNameDoubt } from '../secrets/secret-values.ts';
import type { AgentDefaults, Reading, WrittenDefinitions } from '../types.ts';
import type { DeclaredNames } from './completions.ts';

/** Of everything that could be read, files with errors too. What looks like the value of a secret is no name. */
export function declaredNames({ definitions, unsound }: Reading): DeclaredNames {
  const all = [definitions, unsound];
  const agents = all.flatMap(agentsOf);
  return {
    webhooks: unique(all.flatMap(({ webhooks }) => webhooks.map(({ name }) => name))),
    environments: unique(all.flatMap(({ environments }) => environments.map(({ name }) => name))),
    skills: unique(all.flatMap(({ skills }) => skills.map(({ name }) => name))),
    secrets: unique(all.flatMap(secretsOf)).filter((name) => secretNameDoubt('secretName', name) === undefined),
    models: unique(agents.flatMap(({ model, harness }) => [model, harness?.modelId])),
    harnesses: unique(agents.map(({ harness }) => harness?.type)),
    trustRules: Object.keys(RULES).filter((id) => id.startsWith('trust-')),
  };
}

function agentsOf({ factory, automations }: WrittenDefinitions): AgentDefaults[] {
  return [factory.agentDefaults ?? {}, ...automations.map(({ agent }) => agent)];
}

function secretsOf(definitions: WrittenDefinitions): string[] {
  const { webhooks, environments } = definitions;
  const ofRuns = [...environments, ...agentsOf(definitions)].flatMap(({ secrets = [] }) => secrets);
  const ofRepositories = environments.flatMap(({ repositories }) =>
    Array.isArray(repositories) ? repositories.flatMap(credentialOf) : [],
  );
  return [...webhooks.map(({ secretName }) => secretName), ...ofRuns.map(({ name }) => name), ...ofRepositories];
}

function credentialOf(repository: unknown): string[] {
  if (typeof repository !== 'object' || repository === null) return [];
  const { credentialSecret } = repository as { credentialSecret?: unknown };
  return typeof credentialSecret === 'string' ? [credentialSecret] : [];
}

function unique(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names.filter((name) => name !== undefined).filter((name) => name !== ''))].sort();
}
