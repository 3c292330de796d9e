/** A line of the log is one line to every reader, and no terminal obeys what a sender has written into it. */
import { Log } from './log.ts';

it('escapes what terminals obey and readers take for an end of a line, and says the same', () => {
  const lines: string[] = [];
  const log = new Log((line) => void lines.push(line), Date.now);
  const sent = 'a\u009b31mred\u007f\u0085next\u2028line\u2029end\nü€';
  log.warn('asked', { user_agent: sent });
  expect(lines).toHaveLength(1);
  const [line = ''] = lines;
  expect(line).toMatch(/^[\u0020-\u007e\u00a0-\u2027\u2030-\uffff]+\n$/);
  expect(JSON.parse(line)).toMatchObject({ user_agent: sent });
});
