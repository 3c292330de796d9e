/**
 * Every rule of definition files, as golden pairs: a tree and the problems people read. `UPDATE_GOLDEN=1` writes them.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkReferences, readDefinitions, RULES, type CheckedDefinitions, type Problem } from '#definitions';
import { factsOf, filesUnder, treeOf } from './support/factories/golden-tree.ts';

const here = dirname(fileURLToPath(import.meta.url));
const casesOf = (kind: string) =>
  readdirSync(join(here, 'definitions', kind))
    .sort()
    .map((name) => ({ name, folder: join(here, 'definitions', kind, name) }));

function check(folder: string): CheckedDefinitions {
  return checkReferences(readDefinitions(treeOf(folder)), factsOf(folder));
}

function expectGolden(file: string, text: string): void {
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
  expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '(no such file; UPDATE_GOLDEN=1 writes it)');
}

function toLine({ path, line, column, severity, message, rule }: Problem): string {
  return `${path}:${line}:${column}: ${severity} ${message} [${rule}]\n`;
}

describe('trees with problems', () => {
  it.each(casesOf('err'))('$name', ({ folder }) => {
    const checked = check(folder);
    expectGolden(join(folder, 'expected.txt'), checked.problems.map(toLine).join(''));
    // A file with an error never applies, and a file that is held says why.
    const errorPaths = new Set(checked.problems.filter(({ severity }) => severity === 'error').map(({ path }) => path));
    const unexplained = checked.heldPaths.filter((path) => !errorPaths.has(path));
    expect(checked.heldPaths).toEqual(
      expect.arrayContaining(
        [...errorPaths].filter((path) => path !== 'factory.yaml' || checked.heldPaths.includes(path)),
      ),
    );
    expect(unexplained.filter((path) => !path.startsWith('skills/') && !path.startsWith('webhooks/surplus-'))).toEqual(
      [],
    );
  });

  it('has a case for every rule', () => {
    const texts = casesOf('err')
      .map(({ folder }) => readFileSync(join(folder, 'expected.txt'), 'utf8'))
      .join('');
    expect(Object.keys(RULES).filter((rule) => !texts.includes(`[${rule}]\n`))).toEqual([]);
  });
});

describe('trees without problems', () => {
  it.each(casesOf('ok'))('$name', ({ folder }) => {
    const { definitions, problems, heldPaths, notRun } = check(folder);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expectGolden(
      join(folder, 'expected.json'),
      `${JSON.stringify({ definitions, warnings: problems.map(toLine), heldPaths, notRun }, null, 2)}\n`,
    );
  });
});

describe('the example factory', () => {
  it('always validates', () => {
    const { problems, definitions } = checkReferences(
      readDefinitions(filesUnder(join(here, '../examples/factory-repo'))),
      {},
    );
    expect(problems).toEqual([]);
    expect(definitions.webhooks.length).toBeGreaterThan(0);
    expect(definitions.automations.length).toBeGreaterThan(0);
  });
});
