/** Queries as clients send them: what becomes of each value, and what each malformed one is called. contract §3.7. */
import type { OperationParameter } from './operations.ts';
import { readParameters, readQuery, type RawQuery } from './queries.ts';

const query = (
  name: string,
  schema: OperationParameter['schema'],
  more: Partial<OperationParameter> = {},
): OperationParameter => ({ name, in: 'query', description: name, schema, ...more });

const PARAMETERS: readonly OperationParameter[] = [
  query('limit', { type: 'integer', minimum: 1, maximum: 500, default: 20 }),
  query('state', { type: 'array', items: { type: 'string', enum: ['QUEUED', 'FAILED'] } }),
  query('creator', { type: 'string', pattern: '^[^\\u0000]*$', maxLength: 10 }),
  query('factory', { type: 'array', items: { type: 'string' } }),
  query('wait', { type: 'boolean' }),
  query('ratio', { type: 'number' }),
  query('since', { type: 'string', format: 'date-time' }),
  query('metadata', {
    type: 'object',
    maxProperties: 2,
    propertyNames: { pattern: '^[A-Za-z0-9._-]{1,64}$' },
    additionalProperties: { type: 'string', maxLength: 5 },
  }),
  query('kind', { $ref: 'run-id.schema.json' }),
  { name: 'If-Match', in: 'header', description: 'not of the query', schema: { type: 'string' } },
];

const RUN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

describe('a query', () => {
  it.each<{ raw: RawQuery; value: Record<string, unknown>; why: string }>([
    { raw: {}, value: { limit: 20 }, why: 'an absent parameter has its default, or is absent' },
    { raw: { creator: '' }, value: { limit: 20 }, why: 'an empty text is an unfilled field' },
    { raw: { factory: ['', ''] }, value: { limit: 20 }, why: 'so are several of them' },
    { raw: { factory: ['a', ''] }, value: { limit: 20, factory: ['a', ''] }, why: 'unless one of them says something' },
    { raw: { limit: '500' }, value: { limit: 500 }, why: 'numbers are converted' },
    {
      raw: { wait: 'true', ratio: '-1.5' },
      value: { limit: 20, wait: true, ratio: -1.5 },
      why: 'booleans and fractions are converted',
    },
    { raw: { state: 'QUEUED' }, value: { limit: 20, state: ['QUEUED'] }, why: 'one key is an array of one' },
    {
      raw: { state: ['QUEUED', 'FAILED'] },
      value: { limit: 20, state: ['QUEUED', 'FAILED'] },
      why: 'repeated keys are an array',
    },
    { raw: { creator: '5' }, value: { limit: 20, creator: '5' }, why: 'text stays text' },
    { raw: { creator: 'true' }, value: { limit: 20, creator: 'true' }, why: 'whatever it looks like' },
    {
      raw: { 'metadata[a]': '1', 'metadata[b]': ['2'] },
      value: { limit: 20, metadata: { a: '1', b: '2' } },
      why: 'maps are written by key',
    },
    { raw: { 'metadata[a]': '' }, value: { limit: 20, metadata: { a: '' } }, why: 'a value of a map may be empty' },
    { raw: { kind: RUN_ID }, value: { limit: 20, kind: RUN_ID }, why: 'a parameter may be of a component' },
    {
      raw: { unheard: '1', 'unheard[a]': '2', 'state[]': 'QUEUED', 'limit[a]': '1' },
      value: { limit: 20 },
      why: 'unknown names are ignored',
    },
    { raw: { 'If-Match': '1' }, value: { limit: 20 }, why: 'a header is not of the query' },
    { raw: { since: undefined }, value: { limit: 20 }, why: 'nothing is nothing' },
  ])('$raw is $value, because $why', ({ raw, value }) => {
    expect(readParameters(PARAMETERS, raw)).toEqual({ ok: true, value });
  });

  it.each<{ raw: RawQuery; pointers: string[]; why: string }>([
    { raw: { limit: '' }, pointers: ['limit'], why: 'no number' },
    { raw: { limit: ['3', '3'] }, pointers: ['limit'], why: 'one value is taken, even if both are the same' },
    { raw: { creator: ['', 'a'] }, pointers: ['creator'], why: 'even if one says nothing' },
    {
      raw: { 'metadata[a/b]': ['1', '2'], 'metadata[c]': '3' },
      pointers: ['metadata/a~1b'],
      why: 'a key of a map has one value',
    },
    { raw: { since: '' }, pointers: ['since'], why: 'no time' },
    { raw: { state: '' }, pointers: ['state/0'], why: 'none of the values' },
    { raw: { limit: '0' }, pointers: ['limit'], why: 'below its range' },
    { raw: { limit: '501' }, pointers: ['limit'], why: 'above its range' },
    { raw: { limit: '1.5' }, pointers: ['limit'], why: 'no whole number' },
    { raw: { limit: '1e2' }, pointers: ['limit'], why: 'numbers are digits' },
    { raw: { limit: ' 1' }, pointers: ['limit'], why: 'nothing is trimmed' },
    { raw: { limit: '9'.repeat(400) }, pointers: ['limit'], why: 'no number that a double holds' },
    { raw: { wait: '1' }, pointers: ['wait'], why: 'true or false' },
    { raw: { ratio: 'NaN' }, pointers: ['ratio'], why: 'no number' },
    { raw: { since: 'yesterday' }, pointers: ['since'], why: 'a format is checked' },
    { raw: { state: ['QUEUED', 'DONE'] }, pointers: ['state/1'], why: 'the offending entry is named' },
    { raw: { state: 'queued' }, pointers: ['state/0'], why: 'case counts' },
    { raw: { creator: 'x'.repeat(11) }, pointers: ['creator'], why: 'too long' },
    { raw: { metadata: 'a=b' }, pointers: ['metadata'], why: 'a map is not written so' },
    { raw: { 'metadata[]': 'x' }, pointers: ['metadata/'], why: 'an empty name' },
    { raw: { 'metadata[a b]': 'x' }, pointers: ['metadata/a b'], why: 'no possible name' },
    { raw: { 'metadata[a]': 'x', 'metadata[b]': 'x', 'metadata[c]': 'x' }, pointers: ['metadata'], why: 'too many' },
    { raw: { 'metadata[a]': 'longer' }, pointers: ['metadata/a'], why: 'a value too long' },
    { raw: { kind: 'x' }, pointers: ['kind'], why: 'not of its component' },
    {
      raw: { limit: 'x', wait: 'y', creator: 'x'.repeat(11), state: ['a', 'b'] },
      pointers: ['creator', 'limit', 'state/0', 'state/1', 'wait'],
      why: 'every offending one is named',
    },
  ])('$raw is refused at $pointers: $why', ({ raw, pointers }) => {
    const read = readParameters(PARAMETERS, raw);
    expect(read.ok ? [] : [...new Set(read.errors.map(({ pointer }) => pointer))].sort()).toEqual(pointers);
  });

  it.each<{ raw: RawQuery; messages: string[] }>([
    { raw: { limit: '0' }, messages: ['limit must be 1 or more'] },
    { raw: { limit: 'x' }, messages: ['limit must be a whole number, not a string'] },
    { raw: { limit: ['1', 'zzz'] }, messages: ['limit is given twice; it takes one value'] },
    { raw: { creator: ['a', 'b', 'c'] }, messages: ['creator is given 3 times; it takes one value'] },
    { raw: { state: ['QUEUED', 'FOO'] }, messages: ['state "FOO" is not one of QUEUED, FAILED'] },
    { raw: { since: 'soon' }, messages: ['since must be a valid date-time'] },
    { raw: { metadata: 'a=b' }, messages: ['metadata must be given as metadata[key]=value, not a string'] },
    { raw: { 'metadata[a]': ['b', 'c'] }, messages: ['metadata[a] is given twice; it takes one value'] },
    { raw: { 'metadata[0]': 'longer' }, messages: ['metadata[0] must have at most 5 characters'] },
    {
      raw: { 'metadata[a]': 'x', 'metadata[b]': 'x', 'metadata[c]': 'x' },
      messages: ['metadata must have at most 2 members'],
    },
  ])('$raw is told $messages', ({ raw, messages }) => {
    const read = readParameters(PARAMETERS, raw);
    expect(read.ok ? [] : read.errors.map(({ message }) => message)).toEqual(messages);
  });

  it('names a parameter that must be there', () => {
    const required = [query('q', { type: 'string' }, { required: true })];
    for (const raw of [{}, { q: '' }])
      expect(readParameters(required, raw)).toEqual({
        ok: false,
        errors: [{ pointer: 'q', kind: 'missing-key', message: 'q is required' }],
      });
    expect(readParameters(required, { q: 'x' })).toEqual({ ok: true, value: { q: 'x' } });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('with %s as a name is like any other', (name) => {
    const raw = JSON.parse(
      JSON.stringify({ limit: '5' }).replace('}', `,"${name}":"x","metadata[${name}]":"y"}`),
    ) as RawQuery;
    const read = readParameters(
      [
        ...PARAMETERS.filter((parameter) => parameter.name !== 'metadata'),
        query('metadata', { type: 'object', additionalProperties: { type: 'string' } }),
      ],
      raw,
    );
    const value = read.ok ? read.value : {};
    expect(Object.keys(value).sort()).toEqual(['limit', 'metadata']);
    expect(Object.entries(value['metadata'] as object)).toEqual([[name, 'y']]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('reads nothing from a prototype', () => {
    const inherited = Object.create({ limit: '7', state: 'FAILED' }) as RawQuery;
    expect(readParameters(PARAMETERS, inherited)).toEqual({ ok: true, value: { limit: 20 } });
    expect(readParameters([query('constructor', { type: 'string' })], {})).toEqual({ ok: true, value: {} });
  });

  it('of an operation is read by what it declares', () => {
    expect(readQuery('cancelRun', { anything: 'x' })).toEqual({ ok: true, value: {} });
    expect(() => readQuery('noSuchOperation', {})).toThrow('there is no operation noSuchOperation');
  });
});
