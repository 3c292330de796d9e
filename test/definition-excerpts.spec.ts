/**
 * What excerpts still say although they show no secrets: the key of every defect, the value where it is the defect, and
 * all that the schemas allow for sure. contract §12.4 (problems).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkReferences, readDefinitions, withExcerpts, type Problem } from '#definitions';
import { factsOf, treeOf } from './support/factories/golden-tree.ts';

const here = dirname(fileURLToPath(import.meta.url));
const folders = readdirSync(join(here, 'definitions/err')).sort();

/** Problems of a value that is wrong in itself. */
const OF_VALUES: ReadonlySet<string> = new Set([
  'wrong-type',
  'wrong-value',
  'signature-scheme',
  'unshipped-scheme',
  'cron',
  'delivery-id-header',
  'webhook-uid',
  'webhook-known',
  'provider-inactive',
  'provider-near',
  'environment-near',
  'model-known',
  'harness-known',
  'yaml-ambiguous',
  'yaml-number',
  'secret-known',
  'environment-known',
  'skill-known',
  'run-secret-name',
]);

describe('the line that a problem points at', () => {
  it.each(folders)('%s', (name) => {
    const folder = join(here, 'definitions/err', name);
    const found = readDefinitions(treeOf(folder));
    for (const problem of checkReferences(found, factsOf(folder)).problems) {
      const text = found.readFiles.get(problem.path)?.text.split('\n')[problem.line - 1];
      if (text === undefined) continue;
      const { line, value } = shownAt(problem, found, text);
      const key = /^(?:\s|-\s)*[["{]?([A-Za-z_][\w ]*)["]?:/.exec(text)?.[1] ?? '';
      expect({ problem, line }).toEqual({ problem, line: expect.stringContaining(key) });
      // A name that may be a value is shown nowhere
      if (OF_VALUES.has(problem.rule) && !problem.message.includes('of this name'))
        expect({ problem, line, isShown: line.includes(value) }).toEqual({ problem, line, isShown: true });
    }
  });
});

function shownAt(
  problem: Problem,
  reading: Parameters<typeof withExcerpts>[1],
  text: string,
): { line: string; value: string } {
  const excerpt = withExcerpts([problem], reading)[0]?.excerpt;
  const { line, column, endLine = line, endColumn = column } = problem;
  return {
    line: excerpt?.lines[line - excerpt.firstLine] ?? '',
    value: endLine === line ? text.slice(column - 1, endColumn - 1).trim() : '',
  };
}

interface Schema {
  type?: string;
  enum?: string[];
  const?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  then?: Schema;
  allOf?: Schema[];
  $defs?: Record<string, Schema>;
}

describe('whatever the schemas enumerate', () => {
  const schemaOf = (name: string): Schema =>
    JSON.parse(readFileSync(join(here, '../schemas', `${name}.schema.json`), 'utf8')) as Schema;

  it.each(['factory', 'webhook', 'automation'])('is shown in %s', (name) => {
    const lines = [...exampleLines(schemaOf(name), name, '')];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const problem: Problem = {
        path: 'a.yaml',
        line: 1,
        column: 1,
        severity: 'error',
        rule: 'wrong-value',
        code: 'FF_X',
        message: '',
      };
      expect(
        withExcerpts([problem], { readFiles: new Map([['a.yaml', { text: line, reading: undefined }]]) })[0]?.excerpt
          ?.lines,
      ).toEqual([line]);
    }
  });

  /** One line of YAML for each value that a schema lists, and for one number and both booleans. */
  function* exampleLines(schema: Schema, file: string, around: string): Generator<string> {
    if (schema.$ref !== undefined) {
      const [, other = '', pointer = ''] = /^(?:(\w+)\.schema\.json)?(?:#\/\$defs\/(\w+))?$/.exec(schema.$ref) ?? [];
      const target = other === '' ? file : other;
      yield* exampleLines(
        pointer === '' ? schemaOf(target) : (schemaOf(target).$defs?.[pointer] ?? {}),
        target,
        around,
      );
    }
    const values = [
      ...(schema.enum ?? []),
      ...(schema.const === undefined ? [] : [schema.const]),
      ...(schema.type === 'boolean' ? ['true', 'false'] : []),
      ...(schema.type === 'integer' ? ['12'] : []),
      ...(schema.type === 'number' ? ['0.5'] : []),
    ];
    for (const value of values) yield around.replace('…', () => value);
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      yield* exampleLines(property, file, around === '' ? `${key}: …` : around.replace('…', () => `{${key}: …}`));
    }
    for (const part of [
      ...(schema.items === undefined ? [] : [schema.items]),
      ...(schema.then === undefined ? [] : [schema.then]),
      ...(schema.allOf ?? []),
    ])
      yield* exampleLines(part, file, around);
  }
});
