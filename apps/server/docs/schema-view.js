/** How a JSON Schema is shown: one row a member, references and nested members open on demand. */
import { disclosure, element, inline, paragraphs } from './elements.js';
import { resolved } from './examples.js';

/** The members of a schema, or what it is when it has none. */
export function schemaView(api, schema) {
  const known = resolved(api, schema);
  const described = known === schema || known.description === undefined ? [] : paragraphs(known.description);
  return [...described, ...membersOf(api, known)];
}

function membersOf(api, schema) {
  const parts = ['allOf', 'oneOf', 'anyOf'].filter(
    (keyword) => schema[keyword] !== undefined && schema[keyword].some((part) => hasMembers(api, part)),
  );
  const rows = Object.entries(schema.properties ?? {}).map(([name, member]) =>
    row(api, name, member, (schema.required ?? []).includes(name)),
  );
  const further =
    typeof schema.additionalProperties === 'object'
      ? [row(api, 'any name', schema.additionalProperties, false, true)]
      : [];
  return [
    ...(rows.length + further.length > 0 ? [element('ul', { class: 'members' }, ...rows, ...further)] : []),
    ...parts.flatMap((keyword) => schema[keyword].map((part, index) => variant(api, keyword, part, index))),
    ...(schema.items !== undefined && schema.properties === undefined
      ? [element('p', { class: 'note' }, 'Each entry:'), ...valueView(api, schema.items)]
      : []),
    ...(rows.length + further.length + parts.length === 0 && schema.items === undefined
      ? [element('p', { class: 'note' }, ...typeOf(api, schema), ...constraintsOf(schema))]
      : []),
  ];
}

function variant(api, keyword, part, index) {
  const words = { allOf: 'and', oneOf: 'one of', anyOf: 'any of' };
  const title = resolved(api, part).title ?? resolved(api, part).description ?? `variant ${index + 1}`;
  return disclosure([element('span', { class: 'note' }, `${words[keyword]}: `), ...inline(title)], () =>
    membersOf(api, resolved(api, part)),
  );
}

function valueView(api, schema) {
  return hasMembers(api, schema)
    ? [nested(api, schema)]
    : [element('p', { class: 'note' }, ...typeOf(api, schema), ...constraintsOf(resolved(api, schema)))];
}

/** One member: name, type, whether it is always there, bounds, description, and what is below it. */
function row(api, name, schema, isRequired, isPattern = false) {
  const known = resolved(api, schema);
  const below = nestedSchema(api, schema);
  const head = [
    isPattern ? element('em', {}, name) : element('code', { class: 'name' }, name),
    ' ',
    element('span', { class: 'type' }, ...typeOf(api, schema)),
    ...(isRequired ? [' ', element('strong', { class: 'required' }, 'required')] : []),
    ...(known.deprecated === true ? [' ', element('span', { class: 'deprecated' }, 'deprecated')] : []),
  ];
  const text = schema.description ?? known.description ?? '';
  return element(
    'li',
    {},
    element('div', { class: 'head' }, ...head),
    ...(text === '' ? [] : [element('p', {}, ...inline(text))]),
    ...constraintsOf(known),
    ...(below === undefined ? [] : [nested(api, below)]),
  );
}

function nested(api, schema) {
  const name = nameOf(schema);
  return disclosure([name === undefined ? 'Members' : `Members of ${name}`], () =>
    membersOf(api, resolved(api, schema)),
  );
}

/** What is worth opening below a member: the member itself, or its entries. */
function nestedSchema(api, schema) {
  if (hasMembers(api, schema)) return schema;
  const { items, additionalProperties } = resolved(api, schema);
  return [items, additionalProperties].find((inner) => typeof inner === 'object' && hasMembers(api, inner));
}

function hasMembers(api, schema) {
  const known = resolved(api, schema);
  return (
    known.properties !== undefined ||
    ['allOf', 'oneOf', 'anyOf'].some((keyword) =>
      (known[keyword] ?? []).some((part) => part !== schema && hasMembers(api, part)),
    )
  );
}

function nameOf({ $ref }) {
  return $ref?.startsWith('#/components/schemas/') ? $ref.split('/').at(-1) : undefined;
}

/** The type in words, with links to components. */
export function typeOf(api, schema) {
  const name = nameOf(schema);
  if (name !== undefined) return [element('a', { href: `#schema-${name}` }, name)];
  const { type, items, additionalProperties, oneOf, anyOf, enum: values, const: only } = schema;
  if (items !== undefined) return ['list of ', ...typeOf(api, items)];
  if (type === 'object' && typeof additionalProperties === 'object' && schema.properties === undefined)
    return ['map of ', ...typeOf(api, additionalProperties)];
  if (type === undefined && (oneOf ?? anyOf) !== undefined)
    return (oneOf ?? anyOf).flatMap((part, index) => [...(index === 0 ? [] : [' or ']), ...typeOf(api, part)]);
  if (type === undefined) return [values !== undefined || only !== undefined ? 'one value' : 'anything'];
  return [[type].flat().join(' or '), ...(schema.format === undefined ? [] : [` (${schema.format})`])];
}

/** Bounds and allowed values; empty where there are none. */
export function constraintsOf(schema) {
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  const bounds = [
    span(schema.minLength, schema.maxLength, 'characters'),
    span(schema.minimum, schema.maximum, ''),
    span(schema.minItems, schema.maxItems, 'entries'),
    span(schema.minProperties, schema.maxProperties, 'members'),
    ...(schema.uniqueItems === true ? ['no entry twice'] : []),
    ...(schema['x-meaning'] === undefined ? [] : [schema['x-meaning']]),
  ].filter((text) => text !== '');
  const byDefault =
    schema.default === undefined ? [] : ['default ', element('code', {}, JSON.stringify(schema.default))];
  const lines = [
    ...(values === undefined
      ? []
      : [
          [
            'one of ',
            ...values.flatMap((value, index) => [
              ...(index === 0 ? [] : [', ']),
              element('code', {}, typeof value === 'string' ? value : JSON.stringify(value)),
            ]),
          ],
        ]),
    ...(bounds.length === 0 ? [] : [[bounds.join(' · ')]]),
    ...(byDefault.length === 0 ? [] : [byDefault]),
  ];
  return lines.map((line) => element('p', { class: 'bounds' }, ...line));
}

function span(least, most, unit) {
  if (least === undefined && most === undefined) return '';
  const range =
    least === undefined
      ? `at most ${most}`
      : most === undefined
        ? `at least ${least}`
        : least === most
          ? `exactly ${most}`
          : `${least} to ${most}`;
  return `${range} ${unit}`.trim();
}
