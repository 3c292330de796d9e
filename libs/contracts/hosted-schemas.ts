/**
 * The schemas that editors are given: with the shapes of the hosted service's format, which are read here with a
 * warning and so are no errors in an editor either. contract §8.6 (Definitions of the hosted format).
 */
import { HOSTED_KEYS } from './hosted-keys.ts';
import { SCHEMA_DOCUMENTS, type SchemaDocumentName } from './schema-documents.ts';

interface Schema {
  [key: string]: unknown;
  properties?: Record<string, Schema>;
  $defs?: Record<string, Schema>;
}

/** What says where the key of a model is. */
const AUTH = {
  source: { enum: ['managedSecret', 'workerEnvironment'] },
  secretName: {},
} as const;

/** What the keys of an entry need of each other: outside a host and its header, inside nothing else. */
const GOES_WHERE = {
  dependentRequired: { host: ['header'], header: ['host'], methods: ['host'], paths: ['host'] },
  not: { required: ['expose', 'host'] },
} as const;

/** A filter that names no schedule stands beside one; without a schedule it names some, by their IDs. */
const NO_IDS = {
  anyOf: [
    { type: 'null' },
    {
      type: 'object',
      additionalProperties: false,
      properties: { schedule_ids: { anyOf: [{ type: 'null' }, { type: 'array', maxItems: 0 }, inside(0)] } },
    },
  ],
};
const SOME_IDS = {
  type: 'object',
  additionalProperties: false,
  required: ['schedule_ids'],
  properties: { schedule_ids: { anyOf: [{ type: 'array', minItems: 1 }, inside(1)] } },
};
const SCHEDULE_OR_IDS = {
  anyOf: [
    { required: ['schedule'], properties: { filter: NO_IDS } },
    { required: ['filter'], properties: { filter: SOME_IDS }, not: { required: ['schedule'] } },
  ],
};

/** `{in: […]}` of a list with nothing in it (or null), or with something. */
function inside(least: 0 | 1): Schema {
  const list = least === 0 ? { type: ['array', 'null'], maxItems: 0 } : { type: 'array', minItems: 1 };
  return { type: 'object', additionalProperties: false, required: ['in'], properties: { in: list } };
}

/** One of the two names of a harness's model. */
const ONE_MODEL = { not: { required: ['model', 'modelId'], properties: { model: { type: 'string' } } } } as const;

/** Every document by name, as editors and other checkers are given it. */
export const EDITOR_DOCUMENTS = Object.fromEntries(
  Object.entries(SCHEMA_DOCUMENTS).map(([name, schema]) => [name, editorDocument(name as SchemaDocumentName, schema)]),
) as Readonly<Record<SchemaDocumentName, object>>;

function editorDocument(name: SchemaDocumentName, schema: object): object {
  const document = structuredClone(schema) as Schema;
  const defs = document.$defs ?? {};
  if (name !== 'agent') {
    Object.assign(document, { properties: { ...document.properties, ...ignoredKeys(name, '') } });
    if (name === 'factory') widenFactory(document, defs);
  }
  if (name === 'automation') widenTriggers(defs);
  widenAgent(name === 'automation' ? document : (defs['agent'] ?? document), defs);
  widenSecrets(document);
  return document;
}

/** Keys that mean nothing here, with what is lost. */
function ignoredKeys(name: Exclude<SchemaDocumentName, 'agent'>, pointer: string): Record<string, Schema> {
  const losses = Object.entries(HOSTED_KEYS[name][pointer] ?? {});
  const version = pointer === '' ? [['schemaVersion', 'the version of the format']] : [];
  return Object.fromEntries(
    [...losses, ...version].map(([key = '', loss = '']) => [
      key,
      { description: `Of the hosted service's format, and ignored: ${loss}.`, deprecated: true },
    ]),
  );
}

function widenFactory({ properties = {} }: Schema, defs: Record<string, Schema>): void {
  const { agent } = defs;
  if (agent !== undefined) agent.properties = { ...agent.properties, ...ignoredKeys('factory', '/agentDefaults') };
  for (const key of ['secrets', 'mcpServers'])
    properties[key] = { description: `Of all agents, beside those of agentDefaults.`, $ref: `#/$defs/${key}` };
  orNull(properties, 'description');
}

/** `model`, `auth` and nulls of a harness; MCP servers by their ID. */
function widenAgent({ properties = {} }: Schema, defs: Record<string, Schema>): void {
  for (const key of ['model', 'environmentId', 'harness', 'description']) orNull(properties, key);
  const { harness, mcpServers } = defs;
  if (harness?.properties !== undefined) {
    Object.assign(harness, ONE_MODEL);
    const { type, modelId, reasoningLevel } = harness.properties;
    harness.properties = {
      ...harness.properties,
      type: nullable(type),
      model: nullable(modelId),
      reasoningLevel: { anyOf: [reasoningLevel, { const: '' }, { type: 'null' }] },
      auth: {
        description: 'Where the key of the model is.',
        anyOf: [{ type: 'null' }, { type: 'object', required: ['source'], properties: AUTH }],
      },
    };
  }
  if (mcpServers === undefined) return;
  const warpId = { description: 'Of the hosted service, and ignored.' };
  const { then: started, else: reached } = (defs['mcpServer'] ?? {}) as Record<'then' | 'else', Schema | undefined>;
  for (const part of [started, reached]) Object.assign(part?.properties ?? {}, { warpId });
  const byId = { type: 'object', required: ['warpId'], maxProperties: 1 };
  mcpServers['additionalProperties'] = { anyOf: [mcpServers['additionalProperties'], byId] };
}

/** Names alone, beside entries. */
function widenSecrets({ properties = {}, $defs: defs = {} }: Schema): void {
  for (const secrets of [properties['secrets'], defs['secrets']]) {
    const items = secrets?.['items'] as Schema | undefined;
    if (secrets === undefined || items === undefined) continue;
    const entry = { ...items, ...GOES_WHERE };
    secrets['items'] = { anyOf: [entry, items.properties?.['name'] ?? { type: 'string' }] };
  }
}

/** `{in: […]}` of a list, nulls, and schedules by their IDs. */
function widenTriggers({ webhookTrigger, scheduleTrigger }: Record<string, Schema>): void {
  const filter = webhookTrigger?.properties?.['filter'];
  for (const key of ['webhook_ids', 'webhooks'])
    if (filter?.properties !== undefined) filter.properties[key] = orIn(filter.properties[key]);
  if (filter !== undefined) orNull(filter.properties ?? {}, 'payload');
  const { properties = {} } = scheduleTrigger ?? {};
  properties['filter'] = { description: 'Of the hosted service: schedules by their IDs, of which none is here.' };
  const { schedule } = properties;
  if (schedule?.properties !== undefined) orNull(schedule.properties, 'name');
  if (scheduleTrigger !== undefined) {
    scheduleTrigger['required'] = ['provider', 'event'];
    Object.assign(scheduleTrigger, SCHEDULE_OR_IDS);
  }
}

function orIn(list: Schema | undefined): Schema {
  const { description, examples, ...schema } = list ?? {};
  const inside = { type: 'object', additionalProperties: false, required: ['in'], properties: { in: schema } };
  return { description, examples, anyOf: [schema, inside, { type: 'null' }] };
}

function orNull(properties: Record<string, Schema>, key: string): void {
  if (properties[key] !== undefined) properties[key] = nullable(properties[key]);
}

/** With its words beside: editors show those of the place. */
function nullable(schema: Schema | undefined): Schema {
  const { description, examples, ...rest } = schema ?? {};
  return { ...(description === undefined ? {} : { description, examples }), anyOf: [rest, { type: 'null' }] };
}
