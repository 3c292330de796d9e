/** Validators: everything that is wrong is named, by pointer and in words. */
import { compileSchema, validatorFor } from './index.ts';

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 5 },
    state: { type: 'string', enum: ['QUEUED', 'FAILED'] },
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    when: { type: 'string', format: 'date-time' },
    'a/b~c': { type: ['string', 'null'] },
    inner: { type: 'object', properties: { n: { type: 'integer', minimum: 1, maximum: 500 } }, required: ['n'], additionalProperties: false },
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

  it('hands back the very value', () => {
    const value = { title: 'x' };
    const checked = check(value);
    expect(checked.ok && checked.value).toBe(value);
  });

  it.each<[value: unknown, pointer: string, message: string, why: string]>([
    [{}, '/title', 'missing key "title"', 'a missing member is named itself'],
    [{ title: 1 }, '/title', 'title must be a string, not a whole number', 'type'],
    [{ title: 'abcdef' }, '/title', 'title must have at most 5 characters', 'length'],
    [{ title: 'x', state: 'DONE' }, '/state', 'state "DONE" is not one of QUEUED, FAILED', 'enum'],
    [{ title: 'x', tags: ['a', 1] }, '/tags/1', 'tags[1] must be a string, not a whole number', 'inside a list'],
    [{ title: 'x', tags: ['a', 'b', 'a'] }, '/tags/2', 'tags holds the same entry twice (entries 0 and 2, counted from 0)', 'the second one is named'],
    [{ title: 'x', when: 'soon' }, '/when', 'when must be a valid date-time', 'format'],
    [{ title: 'x', 'a/b~c': 1 }, '/a~1b~0c', 'a/b~c must be a string or null, not a whole number', 'escaped pointers'],
    [{ title: 'x', inner: { n: 1, m: 2 } }, '/inner/m', 'unknown key "m" in inner', 'refused where the schema says so'],
    [{ title: 'x', inner: {} }, '/inner/n', 'missing key "n" in inner', 'missing below'],
    [{ title: 'x', inner: { n: 501 } }, '/inner/n', 'inner.n must be 500 or less', 'range'],
    [[], '', 'the document must be a mapping, not a list', 'the root'],
  ])('refuses %j at %j: %s (%s)', (value, pointer, message) => {
    expect(check(value)).toEqual({ ok: false, errors: [expect.objectContaining({ pointer, message })] });
  });

  it('names every error at once', () => {
    const checked = check({ title: 1, state: 2, tags: 3, inner: { x: 1 } });
    expect(checked.ok ? [] : checked.errors.map(({ pointer }) => pointer).sort()).toEqual(['/inner/n', '/inner/x', '/state', '/tags', '/title']);
  });

  it('follows references to further schemas, however often they are handed in', () => {
    const shared = { $id: 'test-shared.schema.json', type: 'string', minLength: 2 };
    for (const name of ['a', 'b']) {
      const checkNamed = compileSchema({ type: 'object', properties: { [name]: { $ref: 'test-shared.schema.json' } } }, [shared]);
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
  it.each(['factory', 'webhook', 'automation', 'environment'] as const)('compiles %s and refuses unknown keys', (name) => {
    expect(validatorFor(name)({ never: 1 })).toMatchObject({ ok: false });
  });
});
