/** Which secrets the runs of a changed object have, and where those are, for a plan. contract §12.1 (Plan). */
import type { Definitions, RunSecret } from '#definitions';
import type { Change } from '../types.ts';

/** Those that a created or updated object names; undefined: none, or it has no runs. */
export function runSecretsOf(
  { factory, automations, environments }: Pick<Definitions, 'factory' | 'automations' | 'environments'>,
  { action, kind, slug }: Pick<Change, 'action' | 'kind' | 'slug'>,
): readonly RunSecret[] | undefined {
  if (action === 'delete') return undefined;
  const secrets = {
    factory: () => factory.agentDefaults?.secrets,
    environment: () => environments.find(({ name }) => name === slug)?.secrets,
    automation: () => automations.find(({ name }) => name === slug)?.agent.secrets,
    webhook: () => undefined,
    skill: () => undefined,
  }[kind]();
  return secrets === undefined || secrets.length === 0 ? undefined : secrets;
}
