/** Schemas of definition files; those of the API are found by their operations. */
import agent from '../../schemas/agent.schema.json' with { type: 'json' };
import agentProfiles from '../../schemas/agent-profiles.schema.json' with { type: 'json' };
import automation from '../../schemas/automation.schema.json' with { type: 'json' };
import automationValues from '../../schemas/automation-values.schema.json' with { type: 'json' };
import environment from '../../schemas/environment.schema.json' with { type: 'json' };
import factory from '../../schemas/factory.schema.json' with { type: 'json' };
import webhook from '../../schemas/webhook.schema.json' with { type: 'json' };
import type { AutomationFrontMatter } from './generated/automation.ts';
import type { EnvironmentFile } from './generated/environment.ts';
import type { FactoryFile } from './generated/factory.ts';
import type { WebhookFile } from './generated/webhook.ts';

/** Schema of each definition document by name; a schema may refer to another by its `$id`. contract §8. */
export const DEFINITION_SCHEMAS = { factory, webhook, automation, environment } as const;
export type DefinitionSchemaName = keyof typeof DEFINITION_SCHEMAS;

/** What a value is once its validator has accepted it. */
export interface DefinitionDocuments {
  factory: FactoryFile;
  webhook: WebhookFile;
  automation: AutomationFrontMatter;
  environment: EnvironmentFile;
}

/** Schema of the operator's file of launch profiles, which is no definition. */
export const AGENT_PROFILES_SCHEMA: object = agentProfiles;

/** Schemas that are only referred to. */
export const SHARED_SCHEMAS: readonly object[] = [agent];

/**
 * What editors check of an automation's values beside their types, by the place in its schema. The service reads these
 * values by rules of its own, which know what they found and what was meant: contract §7, §12.3.
 */
export const AUTOMATION_VALUES = {
  definitions: automationValues.$defs,
  places: [
    { name: 'payloadFilter', path: ['$defs', 'webhookTrigger', 'properties', 'filter', 'properties', 'payload'] },
    { name: 'cron', path: ['$defs', 'scheduleTrigger', 'properties', 'schedule', 'properties', 'cron'] },
  ],
} as const;
