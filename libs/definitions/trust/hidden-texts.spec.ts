/** How long it takes to look for what a text hides. contract §8.5 (Trust). */
import { hiddenIn } from './hidden-texts.ts';

/** Of what takes a few milliseconds, on a machine that is busy: strangers may send such texts. */
const MS_MAX = 1_000;

it.each([
  ['comments', '<!---->', ''],
  ['comments in lines', '<!---->\n', ''],
  ['marks between letters that are written from the right', '\u200e', '\u05d0'],
  ['marks behind other letters', '\u200e', 'a'],
  ['joiners', '\u0628\u200d', ''],
  ['joiners of pictures', '\u{1f469}\u200d', ''],
])('tells at once what is hidden by many %s', (_what, unit, before) => {
  const text = `${before}${unit.repeat(240_000 / unit.length)}`;
  const since = performance.now();
  hiddenIn(text);
  expect(performance.now() - since).toBeLessThan(MS_MAX);
});
