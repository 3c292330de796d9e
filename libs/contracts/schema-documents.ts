/** The JSON Schemas of definition files as others are given them: each complete in itself. contract 4, 8. */
import { DEFINITION_SCHEMAS, SHARED_SCHEMAS } from './registry.ts';

/** Version of the definition files' format. */
export const SCHEMA_VERSION = 'v1';

const [AGENT] = SHARED_SCHEMAS as readonly [{ $id: string }];

/** Every document by name. `agent` holds the keys that factory.yaml and automations share. */
export const SCHEMA_DOCUMENTS = {
  factory: bundled(DEFINITION_SCHEMAS.factory),
  webhook: bundled(DEFINITION_SCHEMAS.webhook),
  automation: bundled(DEFINITION_SCHEMAS.automation),
  environment: bundled(DEFINITION_SCHEMAS.environment),
  agent: AGENT,
} as const satisfies Readonly<Record<string, object>>;
export type SchemaDocumentName = keyof typeof SCHEMA_DOCUMENTS;

/** Whether a text is the name of a document. */
export function isSchemaDocumentName(text: string): text is SchemaDocumentName {
  return Object.hasOwn(SCHEMA_DOCUMENTS, text);
}

/** The schema with the one it refers to inside, under its `$id`, as JSON Schema 2020-12 bundles them. */
function bundled(schema: object): object {
  const refersToAgent = JSON.stringify(schema).includes(`"${AGENT.$id}`);
  return refersToAgent ? { ...schema, $defs: { ...(schema as { $defs?: object }).$defs, [AGENT.$id]: AGENT } } : schema;
}
