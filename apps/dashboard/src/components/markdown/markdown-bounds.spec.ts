/** Which texts are laid out as Markdown, and that those which are keep no parser busy. */
import { isWithinMarkdownLimits } from './markdown-bounds.ts';

describe('isTame', () => {
  it.each([
    { name: 'prose', text: 'Some **bold** words and [a link](https://example.com).\n\n'.repeat(800), expected: true },
    { name: 'a list', text: '- `item` of *many*\n'.repeat(60), expected: true },
    { name: 'what is too long', text: 'a'.repeat(50_001), expected: false },
    { name: 'emphasis that never ends', text: '*a **b '.repeat(5_000), expected: false },
    { name: 'brackets', text: '['.repeat(50_000), expected: false },
    { name: 'emphasis in many paragraphs', text: '*a* **b** `c`\n\n'.repeat(900), expected: true },
    { name: 'as much as is laid out', text: 'a'.repeat(50_000), expected: true },
    { name: 'as many marks in one paragraph as are compared', text: '*'.repeat(2_000), expected: true },
    { name: 'one more', text: '*'.repeat(2_001), expected: false },
    { name: 'quotes in quotes', text: '> '.repeat(100), expected: false },
    { name: 'quotes in quotes further down', text: `a\n\n  ${'>'.repeat(40)} b`, expected: false },
    { name: 'fewer quotes in quotes', text: `${'> '.repeat(5)}b`, expected: true },
    { name: 'lists in lists', text: `${'- '.repeat(6)}b`, expected: false },
    { name: 'as many items as are laid out', text: '-\n'.repeat(300), expected: true },
    { name: 'more items', text: '-\n'.repeat(301), expected: false },
    { name: 'more numbered items', text: '1)\n'.repeat(301), expected: false },
    { name: 'too many lines', text: '\n'.repeat(2_001), expected: false },
  ])('$name: $expected', ({ text, expected }) => expect(isWithinMarkdownLimits(text)).toBe(expected));
});
