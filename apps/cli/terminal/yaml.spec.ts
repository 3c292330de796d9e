/** Results as YAML: what a reader of YAML gets is what the API said, and no terminal obeys it. */
import { assert, configureGlobal, jsonValue, property } from 'fast-check';
import { parse } from 'yaml';
import { call } from '../../../test/support/services/recorded-io.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';
import { printableYaml } from './yaml.ts';

configureGlobal({ seed: PROPERTY_SEED });

it.each([
  { a: 'no', b: '1', c: 1, d: null, e: true, f: [], g: {}, h: 'a: b # c', i: '', j: '- x' },
  { lines: 'one\ntwo\n', trailing: 'one \n two', tab: 'a\tb', long: 'word '.repeat(60) },
  { evil: 'a\u001b[2J\u202eb\r\nc', '\u202ekey': 'x', nel: '\u0085\u2028', bom: '\ufeffx', zero: 'a\u200bb' },
])('%# is read back as it was', (value) => {
  const text = printableYaml(value);
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\ufeff]/);
  expect(parse(text)).toEqual(value);
});

it('holds for any JSON', () => {
  assert(
    property(jsonValue(), (value) => {
      const same = JSON.parse(JSON.stringify(value)) as unknown;
      expect(parse(printableYaml(same))).toEqual(same);
    }),
    { numRuns: 300 },
  );
});

it.each([[['-o', 'yaml']], [['-oyaml']], [['--format=yaml']], [['-o', 'json', '--format', 'yaml']]])(
  'a verb that knows formats of build servers prints it, too: %j',
  async (argv) => {
    const { code, out } = await call(['validate', ...argv, 'examples/factory-repo'], { cwd: process.cwd() });
    expect({ code, value: parse(out) }).toEqual({ code: 0, value: expect.objectContaining({ valid: true }) });
  },
);

it('a verb that knows formats of build servers takes -o for what it knows', async () => {
  const cwd = process.cwd();
  const { out } = await call(['validate', '-o', 'json', 'examples/factory-repo'], { cwd });
  expect(JSON.parse(out)).toMatchObject({ valid: true });
  expect((await call(['validate', '-o', 'junit', '--', 'examples/factory-repo'], { cwd })).out).toContain('<testsuite');
  expect(await call(['validate', '-o', 'xml'], { cwd })).toMatchObject({ code: 64, out: '' });
  expect(await call(['validate', '--help', '-o', 'yaml'], { cwd })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^usage: /),
  });
});
