/** The JSON Schemas of definition files as others are given them: each complete in itself. contract §4, §8. */
import { AUTOMATION_VALUES, DEFINITION_SCHEMAS, SHARED_SCHEMAS } from './registry.ts';

/** Version of the definition files' format. */
export const SCHEMA_VERSION = 'v1';

const [AGENT] = SHARED_SCHEMAS as readonly [{ $id: string; $schema?: string; $defs?: object }];

/** The name under which a document holds that schema as a whole. */
const SHARED_NAME = 'agent';

/** Every document by name. `agent` holds the keys that factory.yaml and automations share. */
export const SCHEMA_DOCUMENTS = {
  factory: bundled(DEFINITION_SCHEMAS.factory),
  webhook: bundled(DEFINITION_SCHEMAS.webhook),
  automation: bundled(withValues(DEFINITION_SCHEMAS.automation)),
  environment: bundled(DEFINITION_SCHEMAS.environment),
  agent: AGENT,
} as const satisfies Readonly<Record<string, object>>;
export type SchemaDocumentName = keyof typeof SCHEMA_DOCUMENTS;

/** Whether a text is the name of a document. */
export function isSchemaDocumentName(text: string): text is SchemaDocumentName {
  return Object.hasOwn(SCHEMA_DOCUMENTS, text);
}

/**
 * The schema with the definitions of the one it refers to among its own, so that every reference stays inside: editors
 * read embedded resources of a name of their own differently, and some not at all.
 */
function bundled(schema: object): object {
  const text = JSON.stringify(schema);
  if (!text.includes(`"${AGENT.$id}`)) return schema;
  const { $schema: _dialect, $id: _id, $defs: shared = {}, ...agent } = AGENT;
  const inside = JSON.parse(
    text.replaceAll(`"${AGENT.$id}#/$defs/`, '"#/$defs/').replaceAll(`"${AGENT.$id}"`, `"#/$defs/${SHARED_NAME}"`),
  ) as { $defs?: object };
  const inlined = {
    ...shared,
    ...(JSON.stringify(inside).includes(`"#/$defs/${SHARED_NAME}"`) ? { [SHARED_NAME]: agent } : {}),
  };
  const twice = Object.keys(inlined).find((name) => Object.hasOwn(inside.$defs ?? {}, name));
  if (twice !== undefined) throw new Error(`two schemas define ${twice}`);
  return { ...inside, $defs: { ...inside.$defs, ...inlined } };
}

type Schema = { [key: string]: unknown };

/**
 * The schema of automations with what is checked of payload filters and cron expressions. A key keeps its own words: a
 * description beside a reference says what it is for here.
 */
function withValues(schema: object): object {
  const copy = structuredClone(schema) as Schema & { $defs: object };
  for (const { name, path } of AUTOMATION_VALUES.places) {
    const place = path.reduce<Schema>((parent, key) => parent[key] as Schema, copy);
    place['$ref'] = `#/$defs/${name}`;
  }
  return { ...copy, $defs: { ...copy.$defs, ...AUTOMATION_VALUES.definitions } };
}
