/** What the largest and strangest files cost: rules, mending and layout stay within seconds, and never throw. */
import { formatDefinition } from '../formatting/format.ts';
import { readDefinitions } from '../read.ts';
import { checkReferences } from '../references/references.ts';
import { FILE_BYTES_MAX } from '../trees/contents.ts';
import { fixesFor } from './apply-fixes.ts';

/** Far above what any of them takes on a slow machine. */
const PROCESSOR_MICROS_MAX = 20_000_000;
const PATH = 'automations/a/automation.md';

const filled = (piece: (index: number) => string): string => {
  let text = '';
  for (let index = 0; text.length < FILE_BYTES_MAX - 2_000; index += 1) text += piece(index);
  return text;
};
const automation = (payload: string): string => {
  const filter = `{webhooks: [w], payload: {${payload}}}`;
  return `---\r\ntriggers:\r\n- {provider: webhook, event: received, filter: ${filter}}\r\n---\r\nGo.\r\n`;
};

describe('a file of the greatest size', () => {
  it.each([
    ['misspelt keys', '---\n' + filled((index) => `trigers${index}: 1\n`) + '---\nGo.'],
    ['keys of look-alike letters', '---\n' + filled((index) => `еnаblеd${index}: 1\n`) + '---\nGo.'],
    ['one key of them', `---\n${'е'.repeat(60_000)}: 1\n---\nGo.`],
    ['fields that are nearly operators', automation(filled((index) => `f${index}: {notIn: [a]}, `))],
    ['values like patterns', automation(`f: [${filled(() => "'a|b*c', ")}]`)],
    ['one value like a token', `---\nsecrets: [{name: 'ghp_${'a1'.repeat(100_000)}'}]\n---\nGo.`],
    ['one group like a path', `---\nconcurrency: {group: '${'a.'.repeat(100_000)}'}\n---\nGo.`],
    ['tabs', `---\n${filled(() => 'a:\t\tb\n\t')}---\nGo.`],
    ['comments', `---\n${filled(() => '# a\n\n')}a: 1\n---\nGo.`],
    ['a byte order mark', `\uFEFF${automation('a: [b]')}`],
  ])('full of %s', (_why, text) => {
    const before = process.cpuUsage();
    const reading = readDefinitions([{ path: PATH, content: Buffer.from(text) }]);
    const { problems } = checkReferences(reading, { models: new Set(['a']), harnesses: new Set(['b']) });
    for (const fix of fixesFor(problems, reading.readFiles)) expect(fix.path).toBe(PATH);
    formatDefinition(PATH, text);
    expect(problems.length).toBeLessThanOrEqual(21);
    expect(process.cpuUsage(before).user).toBeLessThan(PROCESSOR_MICROS_MAX);
  });
});
