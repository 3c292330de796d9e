/** The benchmark's command line: what is asked for, how to ask, and one line for what there is not. */
import { describe, expect, it } from '@jest/globals';
import { BACKENDS, readOptions, usageOf } from './arguments.ts';

const STAGES = ['accept', 'soak'];

describe('the command line', () => {
  it.each([
    {
      argv: [],
      options: {
        quick: false,
        only: undefined,
        backends: BACKENDS,
        soakMinutes: 0,
        soakRate: undefined,
        json: undefined,
      },
    },
    {
      argv: ['--quick', '--only', 'soak,accept', '--soak', '0.5', '--soak-rate', '3000', '--json', 'a.json'],
      options: {
        quick: true,
        only: ['soak', 'accept'],
        backends: BACKENDS,
        soakMinutes: 0.5,
        soakRate: 3_000,
        json: 'a.json',
      },
    },
    {
      argv: ['--database', 'postgresql'],
      options: {
        quick: false,
        only: undefined,
        backends: ['PostgreSQL'],
        soakMinutes: 0,
        soakRate: undefined,
        json: undefined,
      },
    },
    { argv: ['--help'], options: undefined },
    { argv: ['-h', '--only', 'nothing'], options: undefined },
  ])('$argv', ({ argv, options }) => expect(readOptions(argv, STAGES)).toEqual(options));

  it.each([
    { argv: ['--only', 'accept,sokk'], says: /^--only: there is no stage sokk; there are accept, soak$/ },
    { argv: ['--database', 'mysql'], says: /^--database: must be one of SQLite, PostgreSQL$/ },
    { argv: ['--soak', '1441'], says: /^--soak: must be minutes from 0 to 1440$/ },
    { argv: ['--soak', 'long'], says: /^--soak/ },
    { argv: ['--soak-rate', '0'], says: /^--soak-rate: must be deliveries a second from 1 to 100000$/ },
    { argv: ['--slow'], says: /--slow/ },
  ])('$argv is refused', ({ argv, says }) => expect(() => readOptions(argv, STAGES)).toThrow(says));

  it('is described with every option and stage', () => {
    const usage = usageOf(STAGES);
    for (const word of ['--quick', '--only', '--database', '--soak', '--soak-rate', '--json', '--help', ...STAGES])
      expect(usage).toContain(word);
  });
});
