/** What of a markdown text is code that its readers see. */
import { isShownCode } from './shown-code.ts';

const shown = (text: string): boolean => isShownCode(text, text.lastIndexOf('<!--'));

describe('code that readers of markdown see', () => {
  it.each([
    ['a span', 'Text between `<!--` and `-->`.'],
    ['a span with two backticks', 'Write ``<!-- x -->`` never.'],
    ['the second span of a line', 'Not `a` but `<!-- x -->`.'],
    ['a span in a list behind others', '- `a`\n- b\n- `<!-- x -->`'],
    ['a fence behind an empty line', 'Write:\n\n```html\n<!-- x -->\n```\n'],
    ['a fence at the start', '~~~\n<!-- x -->\n~~~\n'],
    ['a fence that a shorter one does not end', '````\n```\n<!-- x -->\n````\n'],
  ])('is %s', (_, text) => {
    expect(shown(text)).toBe(true);
  });

  it.each([
    ['a comment', '<!-- x -->'],
    ['a comment between spans', '`a` <!-- x --> `b`'],
    ['a span that began a line before', '`a\n`<!-- x -->`'],
    ['a span that begins in this line only if a list does not', '- a ` b\n- c ` `<!-- x -->`'],
    ['a span that is only one if a heading does not end it', '`\n# h\n<!-- x --> `'],
    ['behind a backtick that nothing closes', 'a ` b <!-- x -->'],
    ['behind an escaped backtick', String.raw`\`<!-- x -->\``],
    ['behind a fence that has ended', '```\na\n```\n<!-- x -->\n'],
    ['in a fence of a list', '- a\n  ```\n<!-- x -->\n'],
    ['in a fence inside raw HTML', '<div>\n```\n<!-- x -->\n```\n</div>'],
    ['in raw HTML that empty lines do not end', '<style>\n\n```\n<!-- x -->\n```\n</style>'],
    ['in a span inside raw HTML', '<div>\n`<!-- x -->`\n</div>'],
    ['in an attribute', '<a title="`<!-- x -->`">'],
  ])('is not %s', (_, text) => {
    expect(shown(text)).toBe(false);
  });

  it('is told in little time of a text made to take long', () => {
    const text = '`<!-- '.repeat(40_000);
    const before = process.cpuUsage();
    for (let at = 0; at < 20; at += 1) shown(text);
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  });
});
