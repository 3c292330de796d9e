/**
 * Which keys of the hosted service's files are not served here: ignored with a warning, so that existing files carry
 * over. contract §8.
 */
import type { DefinitionSchemaName } from '#contracts';

/** Pointer of the mapping (`''` = root) → keys in it. */
export const HOSTED_KEYS: Readonly<Record<DefinitionSchemaName, Readonly<Record<string, ReadonlySet<string>>>>> = {
  factory: {
    '': new Set(['schemaVersion', 'alias', 'repositories', 'skills', 'agents', 'runner', 'workerHost']),
    '/agentDefaults': new Set(['agent', 'runner', 'workerHost', 'credentials', 'integrations']),
  },
  webhook: { '': new Set(['schemaVersion', 'agent']) },
  automation: { '': new Set(['schemaVersion', 'agent', 'agents', 'runner', 'workerHost', 'skills', 'scorers']) },
  environment: { '': new Set(['schemaVersion', 'runner', 'workerHost']) },
};
