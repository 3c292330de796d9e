/** A file is told in a few words what is wrong with it, however long its own are. contract §8.1. */
import { readDefinitions, type Problem } from '../index.ts';
import { PROBLEM_MESSAGE_MAX, problemAt } from './problems.ts';

const LONG = 'k'.repeat(200_000);

function problemsOf(webhook: string): readonly Problem[] {
  return readDefinitions([
    { path: 'webhooks/a.yaml', kind: 'file', content: new TextEncoder().encode(webhook) },
  ] as Parameters<typeof readDefinitions>[0]).problems;
}

it.each([
  { what: 'an anchor', text: `secretName: &${LONG} s\n`, begins: 'anchors (&kkk' },
  { what: 'a tag', text: `secretName: !${LONG} s\n`, begins: 'tags (!kkk' },
  { what: 'a number', text: `secretName: 0x${'f'.repeat(200_000)}\n`, begins: '0xfff' },
])('$what of 200 KB is repeated in part', ({ text, begins }) => {
  const [problem] = problemsOf(text);
  expect(problem?.message.startsWith(begins)).toBe(true);
  expect(problem?.message.length).toBe(PROBLEM_MESSAGE_MAX);
  expect(problem?.message.endsWith('k…') || problem?.message.endsWith('f…')).toBe(true);
});

it.each([
  { message: 'x'.repeat(PROBLEM_MESSAGE_MAX), kept: 'x'.repeat(PROBLEM_MESSAGE_MAX) },
  { message: `${'x'.repeat(998)}😀yyy`, kept: `${'x'.repeat(998)}…` }, // no half of a character
])('a message has at most 1,000 characters, and whole ones', ({ message, kept }) => {
  const range = { line: 1, column: 1, endLine: 1, endColumn: 1 };
  expect(problemAt('webhooks/a.yaml', range, 'yaml-syntax', message).message).toBe(kept);
});
