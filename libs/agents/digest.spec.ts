/** What an agent is told that has forgotten everything: bounded, with the beginning and the end. */
import { digestOf, firstPrompt } from './index.ts';

const turn = (number: number, length = 0) => ({
  asked: [`task ${number}`],
  said: `answer ${number}${'.'.repeat(length)}`,
});

describe('a digest', () => {
  it('is empty of nothing, and whole of little', () => {
    expect(digestOf([])).toBe('');
    expect(digestOf([{ asked: [' '], said: '' }])).toBe('');
    expect(digestOf([turn(1), { asked: ['task 2'], said: '' }])).toBe(
      'You were told:\ntask 1\n\nYou answered:\nanswer 1\n\nYou were told:\ntask 2',
    );
  });

  it('keeps the first task and the latest turns, and says how many it leaves out', () => {
    const text = digestOf(
      Array.from({ length: 40 }, (_, number) => turn(number, 300)),
      4_096,
    );
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
    expect(text).toMatch(/^You were told:\ntask 0\n/);
    expect(text).toMatch(/\[… \d+ turns left out …\]\n\nYou were told:\ntask \d+\n/);
    expect(text).toMatch(/answer 39\.+$/);
    expect(text).not.toContain('task 5\n');
  });

  it.each([
    ['ä'.repeat(100_000), 'letters of two bytes'],
    ['😀'.repeat(100_000), 'letters of two units'],
    ['x'.repeat(5_000_000), 'much of it'],
    ['\ud800'.repeat(70_000), 'half letters'],
  ])('stays within its bound: $1', (long) => {
    for (const turns of [
      [{ asked: [long], said: long }],
      [{ asked: Array.from({ length: 300 }, () => long.slice(0, 300)), said: long }],
      Array.from({ length: 12 }, () => ({ asked: [long.slice(0, 40_000)], said: long.slice(0, 40_000) })),
    ]) {
      const text = digestOf(turns, 32_768);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32_768);
      expect(Buffer.byteLength(text)).toBeGreaterThan(1_000);
    }
  });
});

describe('the first prompt of an execution', () => {
  const parts = [
    { id: 'prompt', text: 'do it' },
    { id: 'f1', text: 'and this' },
  ];
  const told = (...ids: string[]) => new Set(ids);
  const GO_ON = expect.stringContaining('interrupted');
  const rows: [why: string, telling: Partial<Parameters<typeof firstPrompt>[0]>, text: unknown][] = [
    ['a new session is told all of it', { isKnown: false }, 'do it\n\nand this'],
    ['a session of an earlier turn is told what is new', { isKnown: true, told: told('earlier') }, 'do it\n\nand this'],
    ['an interrupted one is told to go on', { isKnown: true, told: told('prompt', 'f1') }, GO_ON],
    ['and what came since', { isKnown: true, told: told('prompt') }, expect.stringMatching(/interrupted[^]*and this$/)],
    [
      'one that forgot it is told everything',
      { isKnown: false, told: told('prompt'), digest: 'so far' },
      expect.stringMatching(/so far[^]*had begun[^]*do it\n\nand this$/),
    ],
  ];
  it.each(rows)('%s', (_why, telling, text) => {
    expect(firstPrompt({ parts, told: told(), isKnown: false, ...telling })).toEqual(text);
  });

  it('quotes what was asked to a session that was interrupted in it, and may have lost it', () => {
    const text = firstPrompt({
      parts: [{ id: 'prompt', text: 'do it\n\n```sh\nrun\n```' }, ...parts.slice(1)],
      told: told('prompt'),
      isKnown: true,
    });
    expect(text).toMatch(/interrupted[^]*What you were asked was:\n\n> do it\n>\n> ```sh\n> run\n> ```\n\nand this$/);
  });
});
