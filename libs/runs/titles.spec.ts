/** Titles are the first line of what was asked for, cut where people can still read it. */
import { defaultTitle, webhookTitle } from './index.ts';

describe('a default title', () => {
  it.each([
    { prompt: 'Fix the build', title: 'Fix the build', why: 'one line is the title' },
    { prompt: 'Fix the build\nand the tests', title: 'Fix the build', why: 'only the first line' },
    { prompt: '\r\n\n  Fix it  \r\nnow', title: 'Fix it', why: 'the first line that can be seen' },
    { prompt: 'a\tb\u0000c\u001b[31m', title: 'a b c [31m', why: 'no control characters' },
    { prompt: 'x'.repeat(80), title: 'x'.repeat(80), why: '80 fit' },
    { prompt: 'x'.repeat(81), title: `${'x'.repeat(79)}…`, why: '81 are cut to 80 with the ellipsis' },
    { prompt: '😀'.repeat(81), title: `${'😀'.repeat(79)}…`, why: 'code points are counted, none is halved' },
    { prompt: ' \n\t', title: 'Untitled run', why: 'a run always has a title' },
  ])('of $prompt is $title, because $why', ({ prompt, title }) => {
    expect(defaultTitle(prompt)).toBe(title);
  });

  it('of a webhook run names the automation first', () => {
    expect(webhookTitle('triage', 'Look at the issue.\nThen answer.')).toBe('triage · Look at the issue.');
  });
});
