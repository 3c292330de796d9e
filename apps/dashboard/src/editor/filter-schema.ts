/**
 * The JSON Schema of payload filters, for completion and hover: what the grammar offers, and the names and values that
 * deliveries had. contract §7.
 */
import { DEPTH_MAX, SET_VALUES_MAX, type JsonValue } from '#filters';
import type { JSONSchema } from 'vscode-json-languageservice';

/** Names that are offered of one object, and elements of an array that are looked at: enough for every known sender. */
const NAMES_MAX = 200;
const ELEMENTS_MAX = 20;
const VALUE_LENGTH_MAX = 100;

const OPERATORS: Readonly<Record<string, JSONSchema>> = {
  in: {
    type: 'array',
    description: 'The field equals one of these values, or is an array that holds one of them.',
    maxItems: SET_VALUES_MAX,
    items: { $ref: '#/$defs/value' },
    defaultSnippets: [{ label: '[ ]', body: ['$1'] }],
  },
  not_in: {
    type: 'array',
    description: 'The field equals none of these values; a missing field passes.',
    maxItems: SET_VALUES_MAX,
    items: { $ref: '#/$defs/value' },
    defaultSnippets: [{ label: '[ ]', body: ['$1'] }],
  },
  exists: { type: 'boolean', description: 'true: the field is there, also as null. false: it is not.' },
};
const FIELD_MEANING =
  'A list of allowed values, operators (in, not_in, exists), or the fields of a nested object. Every key must match.';
const FORMS: JSONSchema['defaultSnippets'] = [
  { label: '[ ] allowed values', body: ['$1'] },
  { label: 'not_in: refused values', body: { not_in: ['$1'] } },
  { label: 'exists: is it there', body: { exists: true } },
];

/** The schema; `specimens` are payloads of the webhooks, as far as they are known. */
export function filterSchema(specimens: readonly JsonValue[]): JSONSchema {
  return {
    type: 'object',
    description:
      'Payload filter: an object that mirrors the body of a delivery. Every key must match; {} takes every delivery.',
    properties: fieldsOf(
      specimens.flatMap((specimen) => objectsOf(specimen)),
      1,
    ),
    additionalProperties: { $ref: '#/$defs/field' },
    $defs: {
      field: {
        type: ['array', 'object'],
        description: FIELD_MEANING,
        items: { $ref: '#/$defs/value' },
        properties: OPERATORS,
        additionalProperties: { $ref: '#/$defs/field' },
        defaultSnippets: FORMS,
      },
      value: {
        type: ['string', 'number', 'boolean', 'null'],
        description: 'One value, compared exactly: same type, numbers by value.',
      },
    },
  };
}

function fieldsOf(objects: readonly JsonObject[], depth: number): Record<string, JSONSchema> {
  if (depth > DEPTH_MAX) return {};
  const members = objects.flatMap((object) => Object.entries(object));
  const fields = new Map<string, JsonValue[]>();
  for (const [name, value] of members) {
    const values = fields.get(name);
    if (values !== undefined) values.push(value);
    else if (fields.size < NAMES_MAX) fields.set(name, [value]);
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, fieldOf(values, depth)]));
}

function fieldOf(seen: readonly JsonValue[], depth: number): JSONSchema {
  const scalars = [
    ...new Set(seen.flatMap((value) => (Array.isArray(value) ? value : [value])).filter((value) => isOffered(value))),
  ].slice(0, SET_VALUES_MAX);
  const items: JSONSchema = { $ref: '#/$defs/value', ...(scalars.length === 0 ? {} : { examples: scalars }) };
  const isNested = seen.some((value) => objectsOf(value).length > 0);
  return {
    type: ['array', 'object'],
    description: FIELD_MEANING,
    items,
    properties: {
      ...(isNested
        ? fieldsOf(
            seen.flatMap((value) => objectsOf(value)),
            depth + 1,
          )
        : {}),
      ...OPERATORS,
    },
    additionalProperties: { $ref: '#/$defs/field' },
    defaultSnippets: [
      ...scalars.slice(0, 5).map((value) => ({ label: JSON.stringify([value]), body: [value] })),
      ...(FORMS ?? []),
    ],
  };
}

function isOffered(value: JsonValue): boolean {
  return (
    value === null ||
    typeof value === 'boolean' ||
    typeof value === 'number' ||
    (typeof value === 'string' && value.length <= VALUE_LENGTH_MAX)
  );
}

type JsonObject = { [name: string]: JsonValue };

function objectsOf(value: JsonValue): JsonObject[] {
  const candidates = Array.isArray(value) ? value.slice(0, ELEMENTS_MAX) : [value];
  return candidates.filter(
    (candidate): candidate is JsonObject =>
      typeof candidate === 'object' && candidate !== null && !Array.isArray(candidate),
  );
}
