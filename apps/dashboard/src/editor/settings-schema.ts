/**
 * The JSON Schema of what an automation says beside name, triggers and prompt: that of the interface's requests, with
 * unheard members refused.
 */
import agentKeys from '../../../../schemas/agent.schema.json' with { type: 'json' };
import automationAgent from '../../../../schemas/api/automation-agent.schema.json' with { type: 'json' };
import automationCreate from '../../../../schemas/api/automation-create.schema.json' with { type: 'json' };
import type { JSONSchema } from 'vscode-json-languageservice';

const { concurrency, limits, network } = automationCreate.properties;
const { $schema: _dialect, $id: _id, properties: agentProperties, ...agent } = automationAgent;

export const SETTINGS_SCHEMA: JSONSchema = {
  type: 'object',
  description: 'What the automation says beside name, triggers and prompt. What is absent, factory and server decide.',
  additionalProperties: false,
  properties: {
    agent: closed({
      ...agent,
      properties: {
        ...agentProperties,
        mcp_servers: { ...agentProperties.mcp_servers, additionalProperties: agentKeys.$defs.mcpServer },
      },
    }),
    concurrency: closed(concurrency),
    limits: closed(limits),
    network: closed(network),
  },
};

/** The server passes over members that it does not know; here they are probably mistyped. */
function closed(schema: object): JSONSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('properties' in value) || key === 'if') return value;
    return 'additionalProperties' in value ? value : { additionalProperties: false, ...value };
  }) as JSONSchema;
}
