/** Members that a schema does not know are found wherever they stand, and no others. */
import {
  HOSTED_METHODS,
  labelOf,
  OPERATIONS,
  refusesUnknownMembers,
  unknownMemberErrors,
  unknownMembers,
} from './index.ts';

const REQUEST = 'run-agent-request';

const ROWS: readonly { body: unknown; pointers: readonly string[]; why: string }[] = [
  { body: { prompt: 'x', title: 'y' }, pointers: [], why: 'all are known' },
  { body: { promt: 'x' }, pointers: ['/promt'], why: 'a slip of the keyboard' },
  { body: { a: null, b: '', c: {}, d: [] }, pointers: [], why: 'they say nothing' },
  { body: { a: 0, b: false }, pointers: ['/a', '/b'], why: 'they say something' },
  { body: { metadata: { any: 'x' } }, pointers: [], why: 'a map has names of its own' },
  { body: { config: { runner_id: 'r', name: 'n' } }, pointers: ['/config/runner_id'], why: 'behind a reference' },
  {
    body: { config: { mcp_servers: { 'a/b': { url: 'x', timeout: 1 } } } },
    pointers: ['/config/mcp_servers/a~1b/timeout'],
    why: 'in a member of a map',
  },
  {
    body: { config: { mcp_servers: { a: { env: { TIMEOUT: '1' } } } } },
    pointers: [],
    why: 'a map of texts has names of its own',
  },
  {
    body: { attachments: [{ file_name: 'a' }, { file_name: 'b', size: 1 }] },
    pointers: ['/attachments/1/size'],
    why: 'in an entry of a list',
  },
  { body: { config: { toString: 'x' } }, pointers: ['/config/toString'], why: 'what every object has is no member' },
];

describe('unknown members', () => {
  it.each(ROWS)('of $body are $pointers, because $why', ({ body, pointers }) => {
    expect(unknownMembers(REQUEST, body)).toEqual(pointers);
  });

  it('are a hundred at most, each with a pointer that can be shown', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${'x'.repeat(1_000)}${index}`, 1]));
    const found = unknownMembers(REQUEST, many);
    expect(found).toHaveLength(100);
    expect(Math.max(...found.map(({ length }) => length))).toBe(300);
  });
});

describe('unknown members of a body that is refused for them', () => {
  const WORDING = { labelOf, mapping: 'a JSON object' };
  const errorsOf = (component: string, body: unknown): unknown[] =>
    unknownMemberErrors(component, body, WORDING).map(({ pointer, message }) => [pointer, message]);

  it('are named also where they say nothing: null removes what it is right for', () => {
    expect(errorsOf('automation-patch', { netwrok: null, agent: { skill: '' } })).toEqual([
      ['/netwrok', 'unknown key "netwrok"'],
      ['/agent/skill', 'unknown key "skill" in agent'],
    ]);
  });

  it('come with what was known instead, and what inside of that', () => {
    expect(unknownMemberErrors('secret-put', { uses: [] }, WORDING)).toMatchObject([
      {
        kind: 'unknown-key',
        found: 'uses',
        candidates: ['value', 'grants'],
        inner: ['grants.factories', 'grants.uses', 'grants.runs', 'grants.hosts'],
      },
    ]);
  });

  it.each([[undefined], [null], ['x'], [[]], [5]])('are none of %j', (body) => {
    expect(errorsOf('automation-create', body)).toEqual([]);
  });
});

describe('a body that a published client sends', () => {
  const shapeOf = (method: string, path: string): string =>
    `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`;
  const published = new Set(HOSTED_METHODS.map(({ method, path }) => shapeOf(method, path)));
  const bodies = OPERATIONS.flatMap(({ operations }) =>
    operations.flatMap(({ method, path, body }) =>
      body !== undefined && published.has(shapeOf(method, path)) ? [body] : [],
    ),
  );

  it.each([...new Set(bodies)])('%s may have members that nothing here knows', (body) => {
    expect(refusesUnknownMembers(body)).toBe(false);
  });

  it('is no other than these, so that a new one of ours is refused', () => {
    const tolerant = OPERATIONS.flatMap(({ operations }) => operations.flatMap(({ body }) => body ?? [])).filter(
      (body) => !refusesUnknownMembers(body) && !bodies.includes(body),
    );
    expect([...new Set(tolerant)].toSorted()).toEqual(['permission-answer', 'push-notice', 'token-exchange']);
  });
});
