/**
 * What holds for every tree, whatever is in it: nothing throws, positions are inside the file, the same tree reads the
 * same.
 */
import { array, assert, configureGlobal, constantFrom, nat, property, tuple, uint8Array } from 'fast-check';
import {
  checkReferences,
  isDefinitionPath,
  isValidName,
  readDefinitions,
  type Problem,
  type TreeFile,
} from './index.ts';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';

configureGlobal({ seed: PROPERTY_SEED });

const AUTOMATION = `---
description: x
triggers:
  - provider: webhook
    event: received
    filter: {webhooks: [orders], payload: {status: [failed], build: {branch: {not_in: [main]}}}}
---
Look into it.
`;
const WEBHOOK = 'authMode: signature\nsignatureScheme: github\nsecretName: orders-hook\nenabled: true\n';

function expectPositionsInside(files: readonly TreeFile[], problems: readonly Problem[]): void {
  for (const { path, line, column, endLine = line } of problems) {
    const file = files.find((candidate) => candidate.path === path);
    if (file === undefined) continue;
    const lines = new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.content).split('\n');
    expect(line).toBeGreaterThanOrEqual(1);
    expect(endLine).toBeLessThanOrEqual(lines.length);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
  }
}

function check(files: readonly TreeFile[]): readonly Problem[] {
  const reading = readDefinitions(files);
  const { problems } = checkReferences(reading, {
    webhookSecrets: new Map(),
    runSecrets: new Set(),
    environmentUids: new Set(),
  });
  expectPositionsInside(files, problems);
  return problems;
}

/** Text with some places overwritten by pieces that mean something to YAML, JSON or front matter. */
const mutated = (text: string) =>
  array(
    tuple(
      nat(text.length),
      nat(12),
      constantFrom(
        '---',
        '\n',
        '\r\n',
        '\t',
        ': ',
        '- ',
        '&a ',
        '*a',
        '!!x ',
        '{',
        '}',
        '[',
        ']',
        '"',
        "'",
        '<<: ',
        '? ',
        '|\n',
        '>-\n',
        '%YAML 1.1\n',
        '#',
        '\0',
        '\uFEFF',
        '\\u',
        '1e999',
        '...',
        'null',
        '__proto__: ',
        '😀',
        '\u0085',
        '\u2028',
      ),
    ),
    { minLength: 1, maxLength: 6 },
  ).map((edits) => edits.reduce((all, [at, length, piece]) => all.slice(0, at) + piece + all.slice(at + length), text));

describe('any tree', () => {
  it.each([
    'webhooks/orders.yaml',
    'automations/triage/automation.md',
    'environments/base.yaml',
    'factory.yaml',
    'skills/a/SKILL.md',
  ])('arbitrary bytes in %s never throw, and positions are inside the file', (path) => {
    assert(
      property(uint8Array({ maxLength: 200 }), (content) => void check([{ path, content }])),
      { numRuns: examples(300) },
    );
  });

  it.each([
    ['webhooks/orders.yaml', WEBHOOK],
    ['automations/triage/automation.md', AUTOMATION],
    ['automations/triage/automation.md', AUTOMATION.replaceAll('\n', '\r\n')],
  ])('nearly right text in %s never throws, and positions are inside the file', (path, text) => {
    assert(
      property(mutated(text), (edited) => void check([{ path, content: Buffer.from(edited) }])),
      { numRuns: examples(1_500) },
    );
  });

  it('arbitrary paths never throw', () => {
    const segment = constantFrom(
      'webhooks',
      'automations',
      'skills',
      'environments',
      'agents',
      'a',
      'A',
      '',
      '..',
      '.git',
      'x.yaml',
      'automation.md',
      'SKILL.md',
      'factory.yaml',
      '__proto__',
      'constructor',
    );
    assert(
      property(
        array(segment, { maxLength: 5 }),
        (segments) => void check([{ path: segments.join('/'), content: Buffer.from(WEBHOOK) }]),
      ),
    );
  });

  it('reads the same in any order of files', () => {
    const files: TreeFile[] = [
      { path: 'webhooks/orders.yaml', content: Buffer.from(WEBHOOK) },
      { path: 'webhooks/broken.yaml', content: Buffer.from('a: [') },
      { path: 'automations/triage/automation.md', content: Buffer.from(AUTOMATION) },
      { path: 'skills/a/SKILL.md', content: Buffer.from('text') },
      { path: 'skills/a/b.sh', content: Buffer.from('text') },
    ];
    const told = (tree: TreeFile[]) => JSON.stringify(checkReferences(readDefinitions(tree), {}));
    expect(told([...files].reverse())).toBe(told(files));
  });

  it('an error in a file never makes it look deleted', () => {
    assert(
      property(mutated(WEBHOOK), (edited) => {
        const { definitions, brokenPaths } = readDefinitions([
          { path: 'webhooks/orders.yaml', content: Buffer.from(edited) },
        ]);
        expect(definitions.webhooks.map(({ path }) => path).concat(brokenPaths)).toEqual(['webhooks/orders.yaml']);
      }),
      { numRuns: examples(500) },
    );
  });
});

describe('trees with more problems than anybody reads', () => {
  const FURTHER = 'further problems are not listed';
  const webhook = (name: string, text: string): TreeFile => ({
    path: `webhooks/${name}.yaml`,
    content: Buffer.from(text),
  });

  it.each([
    ['{' + 'a,,'.repeat(12_000), 'faults of flow syntax'],
    [']'.repeat(196_000), 'tokens that cannot be'],
    ['%x\n'.repeat(20_000), 'directives'],
    ['a:\n' + '\t- b\n'.repeat(5_000), 'tabs'],
    ['a: x\n'.repeat(5_000), 'the same key again'],
    [Array.from({ length: 5_000 }, (_, n) => `k${n}: 1\n`).join(''), 'unknown keys'],
    ['a: [' + '*x, '.repeat(8_000) + ']\n', 'aliases'],
  ])('a file lists the first, and that there are more (%#)', (text, why) => {
    expect(why).not.toBe('');
    const { problems, brokenPaths } = readDefinitions([webhook('a', text)]);
    expect(brokenPaths).toEqual(['webhooks/a.yaml']);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(22);
    expectPositionsInside([webhook('a', text)], problems);
    if (why !== 'directives') expect(problems.at(-1)).toMatchObject({ severity: 'error', message: FURTHER });
  });

  it.each([
    ['{' + 'a,,'.repeat(65_536), 'faults'],
    ['a: [' + '1,'.repeat(98_000) + ']', 'nothing wrong but its length'],
  ])('a file of very many words and marks is not read (%#)', (text, why) => {
    expect(why).not.toBe('');
    expect(readDefinitions([webhook('a', text)])).toMatchObject({
      problems: [{ rule: 'file-too-large', severity: 'error' }],
      brokenPaths: ['webhooks/a.yaml'],
    });
  });

  it('a tree does so too, and names every broken file all the same', () => {
    const files = Array.from({ length: 200 }, (_, n) => webhook(`w${n}`, ']\n'.repeat(50)));
    const reading = readDefinitions(files);
    expect(reading.brokenPaths).toHaveLength(200);
    expect(reading.problems).toHaveLength(1_001);
    expect(reading.problems.at(-1)).toMatchObject({ severity: 'error', message: FURTHER });
    const checked = checkReferences(reading, {}); // adds the quota, in the middle
    expect(checked.heldPaths).toHaveLength(200);
    expect(checked.problems).toHaveLength(1_001);
    expect(checked.problems.at(-1)).toMatchObject({ severity: 'error', message: FURTHER });
  });
});

describe('hostile files', () => {
  const size = 250_000;
  it.each([
    ['nested flow lists', '['.repeat(size), 'the parser recurses'],
    ['nested flow maps', '{a: '.repeat(size / 4), 'the parser recurses'],
    ['nested block lists', '- '.repeat(size / 2), 'the parser recurses'],
    ['explicit keys', '? '.repeat(size / 2), 'the parser recurses'],
    [
      'many keys',
      Array.from({ length: 18_000 }, (_, index) => `k${index}: 1`).join('\n'),
      'quadratic duplicate search',
    ],
    ['one key many times', 'a: 1\n'.repeat(size / 5), 'more problems than a call has arguments'],
    ['many lines', '\n'.repeat(size), 'quadratic search for comments'],
    ['one long line', 'a'.repeat(size), 'quadratic scan of a plain scalar'],
    ['many documents', '---\n'.repeat(size / 4), 'every document is an error'],
    ['many anchors', 'a: &a [*a]\n'.repeat(size / 11), 'aliases are never expanded'],
  ])('%s end with problems (%#)', (_name, text, why) => {
    expect(why).not.toBe('');
    for (const [path, content] of [
      ['webhooks/orders.yaml', text],
      ['automations/triage/automation.md', `---\n${text}\n---\nprompt`],
      ['automations/triage/automation.md', `---\ntriggers: []\n---\n${text}`],
    ] as const) {
      const started = performance.now();
      const { problems } = readDefinitions([{ path, content: Buffer.from(content) }]);
      if (process.env['SHOW_TIMES'] === '1')
        process.stderr.write(
          `${_name} ${path} ${Math.round(performance.now() - started)} ms, ${problems.length} problems\n`,
        );
      expect(problems.length).toBeGreaterThan(0);
    }
  });

  it('front matter of another language is never executed', () => {
    const content = Buffer.from('---js\nglobalThis.executed = true\n---\nprompt');
    readDefinitions([{ path: 'automations/a/automation.md', content }]);
    expect((globalThis as { executed?: boolean }).executed).toBeUndefined();
  });
});

describe('names and paths', () => {
  it.each([
    ['a', true, 'shortest'],
    ['0-9', true, 'digits and dashes'],
    ['a'.repeat(63), true, 'longest'],
    ['a'.repeat(64), false, 'one too long'],
    ['', false, 'empty'],
    ['-a', false, 'dash first'],
    ['a-', false, 'dash last'],
    ['A', false, 'capital'],
    ['a_b', false, 'underscore'],
    ['a\n', false, 'line feed'],
    ['é', false, 'not ASCII'],
  ])('%j is a name: %s (%s)', (name, expected) => {
    expect(isValidName(name)).toBe(expected);
  });

  it.each([
    ['factory.yaml', true, 'the factory'],
    ['factory.yml', true, 'a wrong extension is reported'],
    ['webhooks', true, 'a link in place of a folder is reported'],
    ['webhooks/a.yaml', true, 'a webhook'],
    ['webhooks/README.md', false, 'people describe folders'],
    ['webhooks/.gitkeep', false, 'git keeps no empty folders'],
    ['skills/a/scripts/x.py', true, 'a file of a skill'],
    ['agents/a/agent.md', true, 'of the hosted service: a warning'],
    ['README.md', false, 'not ours'],
    ['.github/workflows/a.yaml', false, 'not ours'],
    ['docs/webhooks/a.yaml', false, 'not at the root'],
  ])('%s is a definition path: %s (%s)', (path, expected) => {
    expect(isDefinitionPath(path)).toBe(expected);
  });
});
