/** The page: the API document of this service for people. */
import { codeBlock, disclosure, element, inline, paragraphs } from './elements.js';
import { curlOf, resolved } from './examples.js';
import { constraintsOf, schemaView, typeOf } from './schema-view.js';

const DOCUMENT = 'api/v1/openapi.json';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const content = document.getElementById('content');
const contents = document.getElementById('contents');

try {
  const answer = await fetch(new URL(DOCUMENT, document.baseURI));
  if (!answer.ok) throw new Error(`it was answered ${answer.status}`);
  show(await answer.json());
} catch (error) {
  content.replaceChildren(
    element('h1', {}, 'Millwright API'),
    element(
      'p',
      { role: 'alert' },
      `The document could not be loaded: ${error.message}. `,
      element('a', { href: DOCUMENT }, DOCUMENT),
    ),
  );
}

function show(api) {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method] !== undefined).map((method) => ({
      path,
      method,
      operation: methods[method],
    })),
  );
  const groups = api.tags
    .map((tag) => ({ ...tag, operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)) }))
    .filter((group) => group.operations.length > 0);
  content.replaceChildren(
    introduction(api),
    ...groups.map((group) => groupSection(api, group)),
    problemSection(api, operations),
    schemaSection(api),
  );
  contents.replaceChildren(
    ...groups.map(groupEntry),
    element('p', {}, element('a', { href: '#problems' }, 'Problems')),
    element('p', {}, element('a', { href: '#schemas' }, 'Schemas')),
  );
  search(operations);
  showTarget();
  addEventListener('hashchange', showTarget);
}

function introduction({ info, servers }) {
  return element(
    'section',
    { id: 'introduction' },
    element('h1', {}, `${info.title} API`, ' ', element('small', {}, info.version)),
    ...paragraphs(info.description),
    element(
      'p',
      {},
      'Base address: ',
      element('code', {}, servers[0].url),
      ' · ',
      element('a', { href: DOCUMENT }, 'openapi.json'),
    ),
  );
}

function groupSection(api, { name, description, operations }) {
  return element(
    'section',
    { class: 'group', 'aria-labelledby': `group-${slugOf(name)}` },
    element('h2', { id: `group-${slugOf(name)}` }, name),
    ...paragraphs(description),
    ...operations.map((entry) => operationArticle(api, entry)),
  );
}

function operationArticle(api, { path, method, operation }) {
  const id = operation.operationId;
  const parameters = operation.parameters.map((parameter) => resolved(api, parameter));
  return element(
    'article',
    { id, 'aria-labelledby': `${id}-title`, tabindex: '-1' },
    element(
      'h3',
      { id: `${id}-title` },
      operation.summary,
      ' ',
      element('a', { class: 'anchor', href: `#${id}`, 'aria-label': `Link to ${operation.summary}` }, '#'),
    ),
    element(
      'p',
      { class: 'route' },
      element('span', { class: `method ${method}` }, method.toUpperCase()),
      ' ',
      element('code', {}, path),
      ...(operation.deprecated === true ? [' ', element('span', { class: 'deprecated' }, 'deprecated')] : []),
    ),
    ...paragraphs(operation.description),
    ...(parameters.length === 0
      ? []
      : [
          element('h4', {}, 'Parameters'),
          element('ul', { class: 'members' }, ...parameters.map((parameter) => parameterRow(api, parameter))),
        ]),
    ...bodyView(api, operation.requestBody),
    element('h4', {}, 'Answers'),
    ...Object.entries(operation.responses).map(([status, response]) => answerView(api, status, response)),
    element('h4', {}, 'Example'),
    codeBlock(curlOf(api, { path, method, operation }), `the curl command of ${operation.summary}`),
  );
}

function parameterRow(api, { name, in: place, description, required, schema, style }) {
  const written = style === 'deepObject' ? `${name}[key]=value` : name;
  return element(
    'li',
    {},
    element(
      'div',
      { class: 'head' },
      element('code', { class: 'name' }, written),
      ' ',
      element('span', { class: 'type' }, ...typeOf(api, schema)),
      ' ',
      element('span', { class: 'place' }, place),
      ...(required === true ? [' ', element('strong', { class: 'required' }, 'required')] : []),
    ),
    element('p', {}, ...inline(description)),
    ...(schema.items === undefined
      ? []
      : [element('p', { class: 'bounds' }, 'repeatable'), ...constraintsOf(resolved(api, schema.items))]),
    ...constraintsOf(resolved(api, schema)),
  );
}

function bodyView(api, requestBody) {
  if (requestBody === undefined) return [];
  return Object.entries(requestBody.content).flatMap(([type, { schema }]) => [
    element(
      'h4',
      {},
      'Body ',
      element(
        'span',
        { class: 'type' },
        type,
        ' · ',
        ...typeOf(api, schema),
        requestBody.required === true ? '' : ' · optional',
      ),
    ),
    ...schemaView(api, schema),
  ]);
}

function answerView(api, status, response) {
  const { description, content: types = {}, headers = {} } = resolved(api, response);
  const names = Object.entries(types).map(([type, { schema }]) =>
    element('span', { class: 'type' }, type, ...(schema === undefined ? [] : [' · ', ...typeOf(api, schema)])),
  );
  const head = [element('span', { class: `status s${status[0]}` }, status), ' ', ...inline(description)];
  const inside = () => [
    ...(names.length === 0
      ? [element('p', { class: 'note' }, 'No body.')]
      : [element('p', {}, ...names.flatMap((name, index) => (index === 0 ? [name] : [', ', name])))]),
    ...Object.values(types)
      .flatMap(({ schema }) => (schema?.$ref === undefined ? [] : schemaView(api, schema)))
      .slice(0, status < '400' ? undefined : 0),
    element('p', { class: 'bounds' }, 'Headers:'),
    element(
      'ul',
      { class: 'members' },
      ...Object.entries(headers).map(([name, header]) =>
        element('li', {}, element('code', { class: 'name' }, name), ' ', ...inline(resolved(api, header).description)),
      ),
    ),
  ];
  return disclosure(head, inside, status.startsWith('2'));
}

function problemSection(api, operations) {
  const statuses = new Map(
    operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).filter(([status, { $ref }]) => Number(status) >= 400 && $ref !== undefined),
    ),
  );
  const rows = [...statuses]
    .sort(([left], [right]) => Number(left) - Number(right))
    .map(([status, response]) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, element('span', { class: `status s${status[0]}` }, status)),
        element('td', {}, ...inline(resolved(api, response).description)),
      ),
    );
  const kinds = resolved(api, api.components.schemas.Error).properties?.error?.enum ?? [];
  return element(
    'section',
    { class: 'group', 'aria-labelledby': 'problems' },
    element('h2', { id: 'problems' }, 'Problems'),
    ...paragraphs('Every refusal is `application/problem+json` of the schema Error.'),
    element(
      'p',
      {},
      'Schema: ',
      element('a', { href: '#schema-Error' }, 'Error'),
      ...(kinds.length === 0
        ? []
        : [
            ' · kinds: ',
            ...kinds.flatMap((kind, index) => [
              ...(index === 0 ? [] : [', ']),
              element('a', { href: `errors/${kind.replaceAll('_', '-')}` }, element('code', {}, kind)),
            ]),
          ]),
    ),
    element(
      'table',
      {},
      element('caption', { class: 'hidden' }, 'Statuses of problems'),
      element(
        'thead',
        {},
        element('tr', {}, element('th', { scope: 'col' }, 'Status'), element('th', { scope: 'col' }, 'Meaning')),
      ),
      element('tbody', {}, ...rows),
    ),
  );
}

function schemaSection(api) {
  const entries = Object.entries(api.components.schemas).sort(([left], [right]) => (left < right ? -1 : 1));
  return element(
    'section',
    { class: 'group', 'aria-labelledby': 'schemas' },
    element('h2', { id: 'schemas' }, 'Schemas'),
    ...entries.map(([name, schema]) => {
      const opened = disclosure(
        [element('code', { class: 'name' }, name), ' ', ...inline(schema.description ?? '')],
        () => schemaView(api, schema),
      );
      opened.id = `schema-${name}`;
      return opened;
    }),
  );
}

function groupEntry({ name, operations }) {
  const links = operations.map(({ method, path, operation }) =>
    element(
      'li',
      { 'data-operation': operation.operationId },
      element(
        'a',
        { href: `#${operation.operationId}`, title: `${method.toUpperCase()} ${path}` },
        element('span', { class: `method ${method}` }, method.toUpperCase()),
        element('span', {}, operation.summary),
      ),
    ),
  );
  return element(
    'div',
    { class: 'entry' },
    element('p', {}, element('a', { href: `#group-${slugOf(name)}` }, name)),
    element('ul', {}, ...links),
  );
}

/** Every word must be somewhere in the operation; what does not match is hidden in both lists. */
function search(operations) {
  const field = document.getElementById('search');
  const texts = operations.map(({ path, method, operation }) => ({
    id: operation.operationId,
    text: [
      method,
      path,
      operation.operationId,
      operation.summary,
      operation.description,
      ...operation.tags,
      ...operation.parameters.map(({ name }) => name),
    ]
      .join(' ')
      .toLowerCase(),
  }));
  const filter = () => {
    const words = field.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const shown = new Set(texts.filter(({ text }) => words.every((word) => text.includes(word))).map(({ id }) => id));
    for (const { id } of texts) {
      document.getElementById(id).hidden = !shown.has(id);
      contents.querySelector(`[data-operation="${id}"]`).hidden = !shown.has(id);
    }
    for (const group of contents.querySelectorAll('.entry'))
      group.hidden = group.querySelector('li:not([hidden])') === null;
    for (const group of content.querySelectorAll('section.group'))
      group.hidden = words.length > 0 && group.querySelector('article:not([hidden])') === null;
    document.getElementById('found').textContent =
      words.length === 0 ? '' : `${shown.size} of ${texts.length} operations`;
  };
  field.addEventListener('input', filter);
  addEventListener('keydown', (event) => {
    if (event.key === '/' && !(event.target instanceof HTMLInputElement)) {
      event.preventDefault();
      field.focus();
    } else if (event.key === 'Escape' && event.target === field) {
      field.value = '';
      filter();
    }
  });
}

/** Opens and reveals what the address names. */
function showTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null) return;
  if (target instanceof HTMLDetailsElement) target.open = true;
  target.scrollIntoView();
}

function slugOf(name) {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
