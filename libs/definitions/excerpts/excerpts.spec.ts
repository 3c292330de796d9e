/** Lines around problems: which ones, how long, and that nothing in them is a secret or moves text about. */
import { readDefinitions, withExcerpts, type Problem, type TreeFile } from '../index.ts';
import { CHARACTERS_ABOVE_MAX, LINE_LOOKED_AT, LINES_ABOVE_MAX, maskedLines } from './excerpt-lines.ts';
import { EXCERPT_CHARACTERS_MAX, EXCERPTS_MAX } from './excerpts.ts';

const problemIn = (path: string, line: number): Problem => ({
  path,
  line,
  column: 1,
  severity: 'error',
  rule: 'unknown-key',
  code: 'FF_X',
  message: 'm',
});
const reading = (files: Record<string, string>) => ({
  readFiles: new Map(Object.entries(files).map(([path, text]) => [path, { text, reading: undefined }])),
});
const linesAt = (text: string, line: number, path = 'a.yaml'): string[] =>
  withExcerpts([problemIn(path, line)], reading({ [path]: text }))[0]?.excerpt?.lines ?? [];
/** All lines, as they are shown. */
const shown = (text: string, path?: string): string[] =>
  text.split('\n').map((_, index, all) => linesAt(text, index + 1, path)[Math.min(index, 2)] ?? String(all.length));

describe('the place', () => {
  const text = 'k1:\nk2:\nk3:\nk4:\nk5:\nk6:\nk7:\n';

  it.each<[number, number, string[]]>([
    [1, 1, ['k1:', 'k2:', 'k3:']],
    [2, 1, ['k1:', 'k2:', 'k3:', 'k4:']],
    [4, 2, ['k2:', 'k3:', 'k4:', 'k5:', 'k6:']],
    [7, 5, ['k5:', 'k6:', 'k7:']],
    [8, 5, ['k5:', 'k6:', 'k7:']],
    [900, 5, ['k5:', 'k6:', 'k7:']],
  ])('around line %d begins at %d', (line, firstLine, lines) => {
    expect(withExcerpts([problemIn('a.yaml', line)], reading({ 'a.yaml': text }))).toEqual([
      { ...problemIn('a.yaml', line), excerpt: { firstLine, lines } },
    ]);
  });

  it('is shown of files with CRLF, without a last line feed, and of empty ones', () => {
    expect(linesAt('enabled: true\r\nlimits:\r\n  cost: 2\r\n', 1)).toEqual(['enabled: true', 'limits:', '  cost: 2']);
    expect(linesAt('enabled: true', 1)).toEqual(['enabled: true']);
    expect(linesAt('', 1)).toEqual(['']);
  });

  it('is absent where the text is not known', () => {
    expect(withExcerpts([problemIn('b.yaml', 1)], reading({ 'a.yaml': 'x' }))).toEqual([problemIn('b.yaml', 1)]);
  });

  it('comes with what a reading found', () => {
    const files: TreeFile[] = [{ path: 'webhooks/a.yaml', content: Buffer.from('# a comment\nsecretname: x\n') }];
    const found = readDefinitions(files);
    const [problem] = withExcerpts(
      found.problems.filter(({ rule }) => rule === 'unknown-key'),
      found,
    );
    expect(problem?.excerpt).toEqual({ firstLine: 1, lines: ['# a comment', 'secretname: •••'] });
  });
});

describe('a line', () => {
  it('is cut, and never in the middle of a character or of a word that only looks harmless then', () => {
    const words = (count: number): string => `description: ${'word '.repeat(count)}`.trimEnd();
    expect(linesAt(words(37), 1)).toEqual([words(37)]);
    expect(linesAt(words(40), 1)).toEqual([`${words(40).slice(0, 199)}…`]);
    expect(linesAt(`description: ${'• '.repeat(90_000)}`, 1)[0]).toBe('description: •••');
    expect(linesAt(`name: ${' '.repeat(LINE_LOOKED_AT - 11)}harmless2`, 1)[0]).not.toContain('harm');
    expect(linesAt(`${'\ud83d\ude00'.repeat(200)}: 1`, 1)[0]).toBe('•••');
  });

  it('steers nothing: control characters, bidi and invisible ones are left out or written out', () => {
    expect(linesAt('description: a\u001b[31m \u202eb c\u2066\u200d\ufeff\u0007 d', 1)).toEqual(['description: ••• d']);
    expect(linesAt('\ufeffenabled:\ttrue\u2028\u00a0', 1)).toEqual(['\\u{feff}enabled:\\u{9}true\\u{2028}\u00a0']);
  });
});

describe('work', () => {
  it('is bounded for a tree: so many excerpts, so many characters, and nothing is looked at beyond', () => {
    const files = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`w${n}.yaml`, 'enabled: true\n']));
    expect(
      withExcerpts(
        Object.keys(files).map((path) => problemIn(path, 1)),
        reading(files),
      ).filter(({ excerpt }) => excerpt !== undefined),
    ).toHaveLength(EXCERPTS_MAX);

    const wide = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`w${n}.yaml`, `description: ${'word '.repeat(60)}\n`.repeat(5)]),
    );
    const { readFiles } = reading(wide);
    const asked: string[] = [];
    readFiles.get = (path) => {
      asked.push(path);
      return Map.prototype.get.call(readFiles, path) as ReturnType<typeof readFiles.get>;
    };
    const found = withExcerpts(
      Object.keys(wide).map((path) => problemIn(path, 3)),
      { readFiles },
    );
    const count = found.filter(({ excerpt }) => excerpt !== undefined).length;
    expect(count).toBe(Math.floor(EXCERPT_CHARACTERS_MAX / 1_000));
    expect(found.slice(count).every(({ excerpt }) => excerpt === undefined)).toBe(true);
    expect(asked).toHaveLength(count + 1);
  });

  it.each<[string, string]>([
    ['short lines', '  - a'],
    ['long lines', `  ${'/hooks'.repeat(5_000)}`],
    ['blank lines', ''],
  ])('is bounded for a place among %s', (_name, line) => {
    let [reads, characters] = [0, 0];
    const lines = new Proxy(
      Array.from({ length: 5_000 }, () => line),
      {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (typeof value === 'string')
            [reads, characters] = [reads + 1, characters + Math.min(value.length, LINE_LOOKED_AT + 1)];
          return value;
        },
      },
    );
    expect(maskedLines({ lines, yamlFrom: 0, proseFrom: Infinity, isKnown: () => false }, 4_000, 4_005)).toHaveLength(
      5,
    );
    expect(reads).toBeLessThanOrEqual(2 * (LINES_ABOVE_MAX + 1) + 5 + 11);
    expect(characters).toBeLessThanOrEqual(2 * (CHARACTERS_ABOVE_MAX + LINE_LOOKED_AT) + 16 * (LINE_LOOKED_AT + 1));
  });

  it('is bounded for files of as many lines as they may have', () => {
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`w${n}.yaml`, '\n'.repeat(262_144)]));
    const found = withExcerpts(
      Object.keys(files).map((path) => problemIn(path, 262_000)),
      reading(files),
    );
    expect(found.filter(({ excerpt }) => excerpt !== undefined)).toHaveLength(4);
  });
});

const WORD = 'hunter2';
const AUTOMATION = 'automations/a/automation.md';

describe('secrets', () => {
  it.each([
    `password: ${WORD}`,
    `  - token: ${WORD} ${WORD}`,
    `"api_key": "${WORD}",`,
    `GITHUB_TOKEN=${WORD}`,
    `client_secret: ${WORD}`,
    `apiKey:   '${WORD}, ${WORD}'`,
    `Authorization: Bearer ${WORD}`,
    `headers: {Authorization: Bearer ${WORD}, Accept: text}`,
    `env: {A: b, DB_PASSWORD: "${WORD}, ${WORD}"}`,
    `run --token ${WORD}`,
    `run --api-key=${WORD}`,
    `args: ["--password", "${WORD}"]`,
    `args: [--password, ${WORD}]`,
    `# token: ${WORD}`,
    `x: y token: ${WORD}`,
    `private repository, token: ${WORD}`,
    `secretName: a token: ${WORD}`,
    `url: https://user:${WORD}@example.com/x`,
    `url: https://${WORD}@example.com`,
    `credential: ${WORD}`,
    `passphrase: ${WORD}`,
    `cookie: a=${WORD}`,
    `x: Bearer ${WORD}-${WORD}`,
    `token: "${WORD}`,
    `token:${WORD}`,
    `secretName: ${WORD}`,
    `secrets: [{name: ${WORD}}]`,
    `description: "it is ${WORD}"`,
    `dockerImage: ${WORD}@x`,
    `model: [{name: ${WORD}]`,
    `limits: {tokens: ${WORD}`,
    `authMode: ${WORD} # ${WORD}`,
    `${WORD}hunter: x`,
    `secretName: &${WORD} x`,
    `secretName: !${WORD} x`,
    `name: |- ${WORD}`,
  ])('%s is masked', (line) => {
    for (const path of ['a.yaml', AUTOMATION]) {
      const [masked] = linesAt(line, 1, path);
      expect(masked).toContain('•••');
      expect(masked).not.toContain(WORD);
    }
  });

  it.each([
    'ghp_abcdefghij0123456789abcdefghij012345',
    'xoxb-1234567890-abcdefgh',
    'AKIAIOSFODNN7EXAMPLE',
    'sk-proj-abc123def456',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'mw_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def',
    '3f786850e387550fdab836ed7e6dc881de23001b',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'https://hooks.example.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    'lin_api_abcdefghijklmnop',
    'GOCSPX-abcdefghijklmnopqrst',
    'hvs.CAESIJabcdefghij',
    'SG.abcdefg.hijklmn',
    'ATATTabcdefghijkl',
    '9f86d081884c7d65',
    'JBSWY3DPEHPK3PXP',
    'correct1horse2battery3staple4',
  ])('%s is shown below no key, and in no text', (value) => {
    const keys = [
      'authMode',
      'secretName',
      'deliveryIdHeader',
      'description',
      'model',
      'skill',
      'environmentId',
      'basePrompt',
      'dockerImage',
      'repositories',
      'limits',
      'idleTimeoutMinutes',
      'name',
      'x',
    ];
    const lines = [
      ...keys.map((key) => `${key}: ${value}`),
      ...keys.map((key) => `${key}: ["${value}"]`),
      value,
      `# see ${value} for more`,
      `see ${value} for more`,
      'concurrency: {group: V}',
      'network: {allow: [V]}',
      'triggers: [{filter: {webhooks: [V], webhook_ids: [V], payload: {a: [V], b: V}}, schedule: {cron: V, name: V}}]',
    ];
    for (const path of ['a.yaml', AUTOMATION])
      for (const line of lines)
        expect(linesAt(line.replaceAll('V', value), 1, path).join()).not.toContain(value.slice(-8));
  });

  it('below a key, in a block, in a list, between armour are masked, however far above the key stands', () => {
    const block = ['limits:', 'privateKey: |', ...Array.from({ length: 9 }, () => `  ${WORD}`), 'enabled: true'];
    expect(shown(block.join('\n'))).toEqual([
      'limits:',
      'privateKey: •••',
      ...Array.from({ length: 9 }, () => '  •••'),
      'enabled: true',
    ]);
    expect(shown('apiKeys:\n- word\n- x: word\n  y: word\nenabled: no')).toEqual([
      'apiKeys:',
      '- •••',
      '- •••',
      '  •••',
      'enabled: no',
    ]);
    expect(shown(`args:\n  - --token\n  - ${WORD}\n  - next`)).toEqual(['args:', '  - •••', '  - •••', '  - •••']);
    expect(shown(`-----BEGIN PRIVATE KEY-----\n${WORD}\n-----END PRIVATE KEY-----\nx`)).toEqual([
      '•••',
      '•••',
      '•••',
      '•••',
    ]);
    expect(shown('triggers:\n  - filter: {payload: {token: [\n      word],\n      b: word}}\nenabled: true')).toEqual([
      'triggers:',
      '  - filter: {payload: {token: •••',
      '      •••',
      '      •••',
      'enabled: true',
    ]);
    const far = `description: |\n${'  word\n'.repeat(LINES_ABOVE_MAX + 10)}enabled: true\nlimits: {cost: 2}`;
    // too far away to be known
    expect(linesAt(far, LINES_ABOVE_MAX + 12)).toEqual(['  •••', '  •••', 'enabled: true', 'limits: {cost: 2}']);
  });

  it('keep the sentences around them from being shown', () => {
    expect(linesAt('# The password is\n# correct horse\nenabled: true', 3)).toEqual([
      '# •••',
      '# •••',
      'enabled: true',
    ]);
    expect(linesAt('| who | password |\n|---|---|\n| bob | horse |\n\nfine', 3, AUTOMATION)).toEqual([
      '•••',
      '•••',
      '•••',
      '',
      '•••',
    ]);
  });
});

describe('what cannot be a secret', () => {
  it.each([
    'secretName: hook-token',
    'secretName: orders hook',
    'secretName: 12',
    'secrets: [{name: NPM_TOKEN}]',
    'authMode: token',
    'authMode: tokn',
    'authMode: "url_token" # as agreed',
    'limits: {tokens: 5000, minutes: 1.5}',
    'limits: {tokens: many}',
    'repositories: [{url: "https://git.example.com/team/project-name", credentialSecret: git-token}]',
    'repositories: [acme/tools, 7]',
    'deliveryIdHeader: X-GitHub-Delivery',
    'description: Finished builds, one JSON object for each.',
    'triggers: [{provider: webhok, filter: {webhook_ids: [wh_0123456789abcdefghjkmnpqrs, wh_123]}}]',
    'triggers: [{schedule: {cron: "*/15 9-17 * * MON-FRI", name: Office hours}}]',
    'triggers: [{schedule: {cron: "@often"}}]',
    'skill: owner/repo:skills/triage-ci-failure/SKILL.md',
    'model: claude-opus-4-1-20250805',
    'dockerImage: python:3.12-slim',
    'concurrency: {group: /pull_request/number, whenBusy: qeue}',
    'network: {allow: ["*.example.com"]}',
    'enabled: "true"',
    'secretName: &name orders-hook',
    'secretName: !!str orders-hook',
    'description: *name',
    'token:',
    '%YAML 1.1',
    '----',
    '<<: {enabled: true}',
    '- - {}',
    'basePrompt: >-',
    'idleTimeoutMinutes: 61',
    'harness: {type: command, reasoningLevel: high}',
  ])('%s is shown as it is', (line) => {
    expect(linesAt(line, 1)).toEqual([line]);
  });

  it('is shown of payload filters', () => {
    const lines = [
      'triggers:',
      '- provider: webhook',
      '  filter:',
      '    payload:',
      '      status: [failed, 16, 0x10, 1e999, .nan, 2024-01-31, "a b", true, 12345678901234567891]',
      '      build: {in: [a],',
      '        not_in: [b]}',
      '      repo:',
      '        - acme/tools',
    ];
    expect(shown(lines.join('\n'))).toEqual(lines);
  });

  it('is the name of a file of the tree', () => {
    const files = {
      'webhooks/orders2025x.yaml': '',
      [AUTOMATION]: '---\ntriggers: [{filter: {webhooks: [orders2025x, orders2026x]}}]\n---\nx\n',
    };
    expect(withExcerpts([problemIn(AUTOMATION, 2)], reading(files))[0]?.excerpt?.lines[1]).toBe(
      'triggers: [{filter: {webhooks: [orders2025x, •••]}}]',
    );
  });

  it('is a key whose colon is missing, and whatever key nobody knows', () => {
    expect(shown('authMode url_token\ncolour: red\nsecretname: x\n__proto__: x\n"a b": {c: x}')).toEqual([
      'authMode •••',
      'colour: •••',
      'secretname: •••',
      '__proto__: •••',
      '"a b": {c: •••}',
    ]);
  });

  it('is what a prompt says, word by word, and only between fences keys are keys', () => {
    expect(
      shown(
        '---\nenabled: true\n---\nLook at 3 builds, then `write` x9Z.\nmodel: opus 4\n- Für alle:\n# Head',
        AUTOMATION,
      ),
    ).toEqual([
      '---',
      'enabled: true',
      '---',
      'Look at 3 builds, then `write` •••',
      'model: opus 4',
      '- Für alle:',
      '# Head',
    ]);
  });
});
