/** Validators: everything that is wrong is named, by pointer and in words. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  AGENT_PROFILES_SCHEMA,
  API_SCHEMAS,
  compileBounded,
  compileSchema,
  NAMED_NODES_MAX,
  SCHEMA_DOCUMENTS,
  validatorFor,
} from './index.ts';

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 5 },
    state: { type: 'string', enum: ['QUEUED', 'FAILED'] },
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    when: { type: 'string', format: 'date-time' },
    'a/b~c': { type: ['string', 'null'] },
    inner: {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 1, maximum: 500 } },
      required: ['n'],
      additionalProperties: false,
    },
  },
  required: ['title'],
};
const check = compileSchema<{ title: string }>(schema);

describe('compileSchema', () => {
  it.each<[value: unknown, why: string]>([
    [{ title: 'x' }, 'known members'],
    [{ title: 'x', unheard: 1 }, 'unknown members are ignored unless the schema refuses them'],
    [{ title: 'x', 'a/b~c': null }, 'a union of types'],
  ])('accepts %j (%s)', (value) => {
    expect(check(value)).toEqual({ ok: true, value });
  });

  it('compiles no reference that it does not refer to', () => {
    const broken = { $id: 'test/never-compiled', $ref: 'test/nowhere' };
    expect(compileSchema({ type: 'object' }, [broken])({})).toEqual({ ok: true, value: {} });
    const refers = compileSchema({ type: 'object', properties: { a: { $ref: broken.$id } } }, [broken]);
    expect(() => refers({ a: 1 })).toThrow(/test\/nowhere/);
  });

  it('takes a schema for a reference that it has compiled before', () => {
    const root = { $id: 'test/root', type: 'string' };
    expect(compileSchema(root)('a').ok).toBe(true);
    const refers = compileSchema({ type: 'object', properties: { a: { $ref: root.$id } } }, [root]);
    expect(refers({ a: 1 })).toEqual({ ok: false, errors: [expect.objectContaining({ pointer: '/a' })] });
  });

  it('says each time the same of a reference that cannot be added', () => {
    const twice = { $id: 'test/twice', $defs: { a: { $id: 'test/one', type: 'string' }, b: { $id: 'test/one' } } };
    const refers = compileSchema({ type: 'object', properties: { a: { $ref: twice.$id } } }, [twice]);
    for (let time = 0; time < 2; time += 1) expect(() => refers({})).toThrow(/test\/one/);
  });

  it('hands back the very value', () => {
    const value = { title: 'x' };
    const checked = check(value);
    expect(checked.ok && checked.value).toBe(value);
  });

  it.each<[value: unknown, pointer: string, message: string, why: string]>([
    [{}, '/title', 'missing key "title"; add it', 'a missing member is named itself'],
    [{ title: 1 }, '/title', 'title must be a string, not a whole number; name it, or put it in quotes', 'type'],
    [{ title: 'abcdef' }, '/title', 'title must have at most 5 characters', 'length'],
    [{ title: 'x', state: 'DONE' }, '/state', 'state "DONE" is not one of QUEUED, FAILED', 'enum'],
    [
      { title: 'x', tags: ['a', 1] },
      '/tags/1',
      'tags[1] must be a string, not a whole number; name it, or put it in quotes',
      'list',
    ],
    [
      { title: 'x', tags: ['a', 'b', 'a'] },
      '/tags/2',
      'tags holds the same entry twice (entries 0 and 2, counted from 0)',
      'the second one is named',
    ],
    [{ title: 'x', when: 'soon' }, '/when', 'when must be a valid date-time', 'format'],
    [{ title: 'x', 'a/b~c': 1 }, '/a~1b~0c', 'a/b~c must be a string or null, not a whole number', 'escaped pointers'],
    [{ title: 'x', inner: { n: 1, m: 2 } }, '/inner/m', 'unknown key "m" in inner', 'refused where the schema says so'],
    [{ title: 'x', inner: {} }, '/inner/n', 'missing key "n" in inner; add it', 'missing below'],
    [{ title: 'x', inner: { n: 501 } }, '/inner/n', 'inner.n 501 must be 500 or less', 'range'],
    [
      [],
      '',
      'the document must be a mapping, not a list; write its keys on lines below it, or between { and }',
      'the root',
    ],
  ])('refuses %j at %j: %s (%s)', (value, pointer, message) => {
    expect(check(value)).toEqual({ ok: false, errors: [expect.objectContaining({ pointer, message })] });
  });

  it('says what a union takes in the words of its schema, and what is wrong inside', () => {
    const union = { anyOf: [{ const: '*' }, { type: 'array', items: { type: 'string' } }], 'x-meaning': '* or a list' };
    const messagesOf = (value: unknown): unknown => {
      const checked = compileSchema({ type: 'object', properties: { union } })({ union: value });
      return checked.ok ? [] : checked.errors.map(({ pointer, message }) => [pointer, message]);
    };
    expect(messagesOf(['a'])).toEqual([]);
    expect(messagesOf('a')).toEqual([['/union', 'union must be * or a list']]);
    expect(messagesOf([1])).toEqual([
      ['/union', 'union must be * or a list'],
      ['/union/0', 'union[0] must be a string, not a whole number; name it, or put it in quotes'],
    ]);
  });

  it('speaks of a NUL, not of the pattern that has none', () => {
    const checked = compileSchema({ type: 'string', pattern: '^[^\\u0000]*$' })('a\0b');
    expect(checked).toMatchObject({ errors: [{ message: 'the document must not contain NUL' }] });
  });

  it('speaks of both keys, exactly one of which a mapping has', () => {
    const one = (key: string) => ({ type: 'object', additionalProperties: false, properties: { [key]: true } });
    const check = compileSchema({
      type: 'object',
      if: { type: 'object', properties: { a: true }, required: ['a'] },
      // oxlint-disable-next-line no-thenable -- It is a keyword of JSON Schema.
      then: one('a'),
      else: { ...one('b'), required: ['b'] },
    });
    expect(check({ a: 1 })).toMatchObject({ ok: true });
    expect(check({})).toMatchObject({
      errors: [{ pointer: '/b', message: 'the document has neither a nor b; write exactly one of them' }],
    });
    expect(check({ a: 1, b: 1 })).toMatchObject({
      errors: [{ pointer: '/b', message: 'the document has both a and b; write exactly one of them' }],
    });
    expect(check({ a: 1, c: 1 })).toMatchObject({ errors: [{ pointer: '/c', message: 'unknown key "c"' }] });
  });

  it('speaks of the value as it is asked to', () => {
    const words = { labelOf: (pointer: string) => `<${pointer}>`, mapping: 'an object' };
    expect(compileSchema({ type: 'object' }, [], words)([])).toMatchObject({
      errors: [{ message: '<> must be an object, not a list' }],
    });
    expect(compileSchema({ type: 'array' }, [], words)({})).toMatchObject({
      errors: [{ message: '<> must be a list, not an object' }],
    });
    expect(compileSchema({ type: 'object', minProperties: 1 }, [], words)({})).toMatchObject({
      errors: [{ message: '<> must have at least 1 member' }],
    });
  });

  it('names every error at once', () => {
    const checked = check({ title: 1, state: 2, tags: 3, inner: { x: 1 } });
    expect(checked.ok ? [] : checked.errors.map(({ pointer }) => pointer).sort()).toEqual([
      '/inner/n',
      '/inner/x',
      '/state',
      '/tags',
      '/title',
    ]);
  });

  it('follows references to further schemas, however often they are handed in', () => {
    const shared = { $id: 'test-shared.schema.json', type: 'string', minLength: 2 };
    for (const name of ['a', 'b']) {
      const checkNamed = compileSchema(
        { type: 'object', properties: { [name]: { $ref: 'test-shared.schema.json' } } },
        [shared],
      );
      expect(checkNamed({ [name]: 'x' })).toMatchObject({ ok: false, errors: [{ pointer: `/${name}` }] });
    }
  });

  it('faults at the first value when the schema itself is wrong', () => {
    expect(() => compileSchema({ type: 'objekt' })({})).toThrow(/type/);
  });

  it('long values are not repeated in messages', () => {
    const checked = check({ title: 'x', state: 'z'.repeat(10_000) });
    expect(JSON.stringify(checked).length).toBeLessThan(12_000);
    expect(checked.ok ? '' : checked.errors[0]?.message.length).toBeLessThan(200);
  });
});

describe('validatorFor', () => {
  it.each(['factory', 'webhook', 'automation', 'environment'] as const)(
    'compiles %s and refuses unknown keys',
    (name) => {
      expect(validatorFor(name)({ never: 1 })).toMatchObject({ ok: false });
    },
  );
});

describe('compileBounded', () => {
  const list = compileBounded<{ items: string[] }>({
    type: 'object',
    properties: { items: { type: 'array', maxItems: 10_000, items: { type: 'string' } }, n: { type: 'integer' } },
  });

  it('names everything that is wrong with a value of a usual size', () => {
    expect(list({ items: ['a', 1, 2], n: 'x' })).toMatchObject({
      ok: false,
      errors: [{ pointer: '/items/1' }, { pointer: '/items/2' }, { pointer: '/n' }],
    });
    expect(list({ items: ['a'] })).toMatchObject({ ok: true });
  });

  it('names only the first of a larger one: neither the work nor the answer grows with what a stranger sends', () => {
    const checked = list({ items: Array.from({ length: NAMED_NODES_MAX + 1 }, () => 1) });
    expect(checked.ok ? [] : checked.errors).toHaveLength(1);
    const tooMany = list({ items: Array.from({ length: 2_000_000 }, () => 1) });
    expect(tooMany.ok ? [] : tooMany.errors.map(({ message }) => message)).toEqual([
      'items must have at most 10000 entries',
    ]);
    expect(list({ items: Array.from({ length: NAMED_NODES_MAX + 1 }, () => 'a') })).toMatchObject({ ok: true });
  });
});

describe('a date-time', () => {
  const when = compileSchema<string>({ type: 'string', format: 'date-time' });

  it.each([
    ['2024-02-29T12:00:00Z', true, 'UTC'],
    ['2024-02-29t12:00:00.123456z', true, 'small letters and a fraction'],
    ['2024-02-29T12:00:00+05:30', true, 'an offset'],
    ['2016-12-31T23:59:60Z', true, 'a leap second'],
    ['2023-02-29T12:00:00Z', false, 'a day that does not exist'],
    ['2024-01-01T00:00:00+00', false, 'an offset without minutes, which no clock here can read'],
    ['2024-01-01T00:00:00+0000', false, 'an offset without a colon'],
    ['2024-01-01 00:00:00Z', false, 'a space for T'],
    ['2024-01-01T00:00:00', false, 'no zone'],
    ['2024-01-01T24:30:00Z', false, 'no such hour'],
    ['9999-12-31T23:59:59-23:59', false, 'a year of five digits in UTC'],
    ['yesterday', false, 'a word'],
  ])('%s is %s: %s', (text, ok) => {
    expect(when(text).ok).toBe(ok);
  });
});

it('every schema is valid JSON Schema 2020-12: compiling takes that for granted', () => {
  const ajv = new Ajv2020({ strict: false });
  const found = Object.entries({ ...SCHEMA_DOCUMENTS, ...API_SCHEMAS, profiles: AGENT_PROFILES_SCHEMA }).filter(
    ([, schema]) => ajv.validateSchema(schema) !== true,
  );
  expect(found.map(([name]) => name)).toEqual([]);
  expect(ajv.validateSchema({ type: 'text' })).toBe(false);
});
