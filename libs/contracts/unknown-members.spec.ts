/** Members that a schema does not know are found wherever they stand, and no others. */
import { unknownMembers } from './index.ts';

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
