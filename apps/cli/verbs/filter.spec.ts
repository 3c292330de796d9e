/** `millwright filter test` and `schema`, which need no server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { call } from '../../../test/support/services/recorded-io.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'filter-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function test(filter: string, payload: string | Uint8Array, ...argv: string[]) {
  writeFileSync(join(folder, 'filter.json'), filter);
  writeFileSync(join(folder, 'filter.yaml'), filter);
  writeFileSync(join(folder, 'payload.json'), payload);
  return call(['filter', 'test', ...(argv.length === 0 ? ['filter.json', 'payload.json'] : argv)], {
    cwd: folder,
    stdin: payload,
  });
}

describe('millwright filter test', () => {
  it.each<[filter: string, payload: string, code: number, out: string]>([
    ['{}', '[]', 0, 'Would trigger\n'],
    ['{"a": ["x"]}', '{"a": "x"}', 0, 'Would trigger\n'],
    ['{"a": ["x"]}', '{"a": "y"}', 1, 'Would not trigger\n  failed at /a (in)\n'],
    ['{"a": {"b": {"exists": true}}}', '{"a": {}}', 1, 'Would not trigger\n  failed at /a/b (exists)\n'],
    ['{"a": {"b": {"not_in": [1]}}}', '{"a": [{"b": 1.0}]}', 1, 'Would not trigger\n  failed at /a (nested)\n'],
    ['{"a": ["x"]}', '7', 1, 'Would not trigger\n  failed at the root (nested)\n'],
  ])('%s on %s', async (filter, payload, code, out) => {
    expect(await test(filter, payload)).toEqual({ code, out, err: '' });
  });

  it('reads YAML by its name, and the payload from stdin', async () => {
    expect(await test('a: [x]', '{"a": "x"}', 'filter.yaml', '-')).toEqual({
      code: 0,
      out: 'Would trigger\n',
      err: '',
    });
  });

  it('prints the JSON of the API', async () => {
    const json = async (payload: string): Promise<unknown> =>
      JSON.parse((await test('{"a": ["x"]}', payload, 'filter.json', 'payload.json', '--format', 'json')).out);
    expect(await json('{"a": "x"}')).toEqual({ result: 'Would trigger', payload_check: { passed: true } });
    expect(await json('{}')).toEqual({
      result: 'Would not trigger',
      payload_check: { passed: false, failed_pointer: '/a', operator: 'in' },
    });
  });

  it('warns of filters that never match, on stderr', async () => {
    expect(await test('{"a": {"in": []}}', '{}')).toMatchObject({
      code: 1,
      out: expect.stringContaining('Would not trigger'),
      err: expect.stringMatching(/^warning: \/a.*\[filter-never\]\n$/),
    });
  });

  it.each<[filter: string, payload: string | Uint8Array, argv: string[], code: number, message: string]>([
    ['{"a": "x"}', '{}', [], 1, 'the filter cannot be used\n  /a: '],
    ['[]', '{}', [], 1, 'the filter cannot be used\n  a payload filter is an object'],
    ['a: [x]', '{}', [], 1, 'the filter is not valid JSON (name the file .yaml when it is YAML)'],
    [
      '{"a": {\n "b": ["x"], "b": ["y"]}}',
      '{}',
      [],
      1,
      'the filter has a key twice, of which only one would count\n  line 2',
    ],
    ['a: [x', '{}', ['filter.yaml', 'payload.json'], 1, 'the filter is not valid YAML'],
    ['{"a":'.repeat(5_000) + '[1]' + '}'.repeat(5_000), '{}', [], 1, 'deep'],
    ['{}', '{"a":', [], 1, 'the payload is not valid JSON: as a delivery it would be answered 400'],
    ['{}', Buffer.from([0x22, 0xff, 0x22]), [], 1, 'the payload is not valid JSON'],
    ['{}', '{}', ['filter.json'], 64, 'give either PAYLOAD_FILE or --entry'],
    ['{}', '{}', ['filter.json', 'payload.json', '--entry', 'x'], 64, 'give either PAYLOAD_FILE or --entry'],
    ['{}', '{}', ['filter.json', '--entry', 'x'], 6, 'an API key is needed'],
    ['{}', '{}', ['filter.json', 'not-there'], 64, 'cannot be read (ENOENT)'],
    ['{}', '{}', ['-', '-'], 64, 'stdin cannot be both'],
  ])('%s on %s is refused (%j)', async (filter, payload, argv, code, message) => {
    expect(await test(filter, payload, ...argv)).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(message),
    });
  });
});

describe('millwright schema', () => {
  it.each(['factory', 'webhook', 'automation', 'environment', 'agent'])('%s is complete in itself', async (name) => {
    const { code, out, err } = await call(['schema', name]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    expect(ajv.compile(JSON.parse(out) as object)({ secretName: 1, agentDefaults: 1, triggers: 1, secrets: 1 })).toBe(
      false,
    );
  });

  it('prints all by name, and refuses others', async () => {
    expect(Object.keys(JSON.parse((await call(['schema'])).out) as object)).toEqual([
      'factory',
      'webhook',
      'automation',
      'environment',
      'agent',
    ]);
    expect(await call(['schema', 'agents'])).toMatchObject({
      code: 64,
      out: '',
      err: expect.stringContaining('the documents are factory, webhook, automation, environment, agent'),
    });
  });
});
