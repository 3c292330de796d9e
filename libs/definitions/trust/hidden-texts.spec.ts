/**
 * What a text hides, where strangers have made it slow to look through: milliseconds, and many times what a test has
 * where each place is looked for through the whole text. contract §8.5 (Trust).
 */
import { hiddenIn } from './hidden-texts.ts';

it.each([
  ['comments', '<!---->', '', 34_285],
  ['comments in lines', '<!---->\n', '', 30_000],
  ['marks behind a letter that is written from the right', '\u200e', '\u05d0', 3],
  ['marks behind another letter', '\u200e', 'a', 3],
  ['joiners', '\u0628\u200d', '', 0],
  ['joiners of pictures', '\u{1f469}\u200d', '', 0],
])('tells at once what is hidden by many %s', (_what, unit, before, found) => {
  const text = `${before}${unit.repeat(240_000 / unit.length)}`;
  expect(hiddenIn(text)).toHaveLength(found);
});
