/**
 * Examples that follow from the document: a value of a schema, and the curl command of an operation. Knows nothing of
 * the page.
 */

/** Deeper than this an example says nothing more. */
const DEPTH_MAX = 6;

/** The value that a JSON pointer of the document (`#/a/b`) leads to. */
export function resolved(api, value) {
  let current = value;
  for (let hops = 0; typeof current?.$ref === 'string' && hops < 10; hops += 1) {
    current = current.$ref
      .slice(2)
      .split('/')
      .reduce((inner, segment) => inner?.[segment.replaceAll('~1', '/').replaceAll('~0', '~')], api);
  }
  return current ?? {};
}

/**
 * A value that a schema accepts: its own example, else what its type and bounds suggest; of an object the required
 * members.
 */
export function exampleOf(api, schema, depth = 0) {
  const known = resolved(api, schema);
  if (Array.isArray(known.examples) && known.examples.length > 0) return known.examples[0];
  if (known.default !== undefined) return known.default;
  if (known.const !== undefined) return known.const;
  if (Array.isArray(known.enum)) return known.enum[0];
  const [variant] = known.oneOf ?? known.anyOf ?? [];
  if (variant !== undefined && known.properties === undefined) return exampleOf(api, variant, depth);
  return exampleOfType(api, known, depth);
}

function exampleOfType(api, schema, depth) {
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type;
  switch (type) {
    case 'object':
      return exampleObject(api, schema, depth);
    case 'array':
      return depth < DEPTH_MAX && schema.items !== undefined && (schema.minItems ?? 0) > 0
        ? [exampleOf(api, schema.items, depth + 1)]
        : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return exampleText(schema);
  }
}

function exampleObject(api, schema, depth) {
  const required = depth < DEPTH_MAX ? (schema.required ?? []) : [];
  // A body without required members would be an empty example: its first member says more.
  const names = required.length === 0 && depth === 0 ? Object.keys(schema.properties ?? {}).slice(0, 1) : required;
  return Object.fromEntries(names.map((name) => [name, exampleOf(api, schema.properties?.[name] ?? {}, depth + 1)]));
}

function exampleText({ format }) {
  switch (format) {
    case 'date-time':
      return '2026-01-31T12:00:00Z';
    case 'uuid':
      return '01890a5d-ac96-774b-bcce-b302099a8057';
    case 'uri':
      return 'https://example.com/';
    default:
      return '…';
  }
}

/**
 * The command that calls an operation; parameters of the path are shell variables, the key comes from the environment.
 */
export function curlOf(api, { method, path, operation }) {
  const base = api.servers[0].url;
  const url = `${base}${path.replace(/\{([^}]+)\}/g, (_, name) => `$${name.toUpperCase()}`)}${queryOf(api, operation)}`;
  const type = Object.keys(operation.requestBody?.content ?? {})[0];
  const answer = Object.values(operation.responses).flatMap((response) =>
    Object.keys(resolved(api, response).content ?? {}),
  )[0];
  return [
    `curl -sS ${answer === 'text/event-stream' ? '-N ' : ''}` +
      `${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${url}"`,
    ...((operation.security ?? []).length > 0 ? ['-H "Authorization: Bearer $MILLWRIGHT_API_KEY"'] : []),
    ...(type === undefined
      ? []
      : [
          `-H 'Content-Type: ${type}'`,
          `-d '${JSON.stringify(exampleOf(api, operation.requestBody.content[type].schema)).replaceAll("'", `'\\''`)}'`,
        ]),
  ].join(' \\\n  ');
}

/** Only what must be there. */
function queryOf(api, { parameters = [] }) {
  const required = parameters
    .map((parameter) => resolved(api, parameter))
    .filter((parameter) => parameter.in === 'query' && parameter.required);
  const pairs = required.map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(api, schema)))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
