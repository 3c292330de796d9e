/** How results look: columns, colours, and text from a server that must not steer the terminal. */
import type { Payload } from '../run-log/agent-lines.ts';
import { Writable } from 'node:stream';
import { LogPrinter } from '../run-log/log-printer.ts';
import { Output, toSeconds } from './output.ts';

function written(
  use: (output: Output) => void,
  terminal: { isTTY?: boolean; columns?: number } = {},
  environment: Record<string, string> = {},
): string {
  let text = '';
  const stream = Object.assign(
    sink((chunk) => (text += chunk)),
    terminal,
  );
  use(new Output({ stdin: process.stdin, stdout: stream, stderr: stream, cwd: '/', environment }, 'text'));
  return text;
}

function sink(take: (chunk: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk.toString());
      done();
    },
  });
}

describe('tables', () => {
  it('align their columns, wide characters too, and end lines without spaces', () => {
    const text = written((output) =>
      output.table(
        ['NAME', 'X', 'LAST'],
        [
          ['日本', '1', ''],
          ['a\u0301b', '22', 'z'],
          ['longer', '', 'y'],
        ],
      ),
    );
    expect(text).toBe('NAME    X   LAST\n日本    1\na\u0301b      22  z\nlonger      y\n');
  });

  it('cut one column on a terminal that is too narrow, and never elsewhere', () => {
    const long = 'x'.repeat(100);
    const table = (output: Output): void => output.table(['A', 'TITLE'], [['1', long]], 1);
    expect(written(table, { isTTY: true, columns: 40 }, { NO_COLOR: '1' })).toBe(`A  TITLE\n1  ${'x'.repeat(36)}…\n`);
    expect(written(table)).toContain(long);
  });

  it('hold one line a row, whatever the server says', () => {
    expect(written((output) => output.table(['A'], [['a\nb\u001b[2J\u202e']]))).toBe(
      'A\na\\u{a}b\\u{1b}[2J\\u{202e}\n',
    );
  });
});

describe('colours', () => {
  it.each<[terminal: { isTTY?: boolean }, environment: Record<string, string>, isColoured: boolean, why: string]>([
    [{ isTTY: true }, {}, true, 'a terminal'],
    [{}, {}, false, 'a pipe'],
    [{ isTTY: true }, { NO_COLOR: '1' }, false, 'the user wants none'],
    [{ isTTY: true }, { NO_COLOR: '' }, true, 'an empty NO_COLOR says nothing'],
    [{ isTTY: true }, { TERM: 'dumb' }, false, 'the terminal has none'],
  ])('%j %j: %s (%s)', (terminal, environment, isColoured) => {
    expect(written((output) => output.line('x', 'red'), terminal, environment)).toBe(
      isColoured ? '\u001b[31mx\u001b[0m\n' : 'x\n',
    );
  });
});

it('fields leave out what is not known', () => {
  expect(
    written((output) =>
      output.fields([
        ['a', '1'],
        ['gone', undefined],
        ['long', { text: '2', colour: 'red' }],
      ]),
    ),
  ).toBe('a     1\nlong  2\n');
});

it.each([
  ['2025-01-02T03:04:05.678Z', '2025-01-02T03:04:05Z'],
  [null, '-'],
  [undefined, '-'],
])('%s is shown as %s', (time, shown) => {
  expect(toSeconds(time)).toBe(shown);
});

const RUN = '00000000-0000-7000-8000-000000000001';

describe('a log', () => {
  it('keeps lines whole across events, and puts changes on lines of their own', () => {
    let text = '';
    const printer = new LogPrinter(
      sink((chunk) => (text += chunk)),
      sink((chunk) => (text += chunk)),
      { environment: {} },
      RUN,
    );
    const event = (event_type: string, payload: Payload) => ({ seq: 1, event_type, occurred_at: '', payload });
    printer.print([
      event('stdout', { text: 'one\nhalf' }),
      event('stdout', { text: ' line\n' }),
      event('stderr', { text: 'open' }),
    ]);
    printer.print([
      event('status', { state: 'FAILED', message: 'a\nb\u001b[2J\r\n::error::x\n\n' }),
      event('status', { text: 'cut' }),
      event('artifact', {}),
    ]);
    printer.print([event('stdout', { text: 'rest' })]);
    printer.end();
    printer.end();
    expect(text).toBe(
      'one\nhalf line\nopen\n-- FAILED: a\n   b\\u{1b}[2J\n   \\u{3a}:error::x\n-- cut\n-- artifact\nrest\n',
    );
    expect(printer.state).toBe('FAILED');
  });

  const printed = (
    events: readonly [type: string, payload: Payload][],
    terminal: { isTTY?: boolean; columns?: number } = {},
    environment: Record<string, string> = {},
  ): { out: string; err: string } => {
    const texts = { out: '', err: '' };
    const printer = new LogPrinter(
      sink((chunk) => (texts.out += chunk)),
      Object.assign(
        sink((chunk) => (texts.err += chunk)),
        terminal,
      ),
      { environment },
      RUN,
    );
    printer.print(events.map(([event_type, payload]) => ({ seq: 1, event_type, occurred_at: '', payload })));
    printer.end();
    return texts;
  };

  it('of an agent: its words are the output, what it does and thinks stands beside them', () => {
    const { out, err } = printed([
      ['thought', { text: 'First ' }],
      ['thought', { text: 'this.\nThen that.' }],
      [
        'tool_call',
        {
          tool_call_id: '1',
          title: 'npm test',
          tool_kind: 'execute',
          status: 'pending',
          input: '{"command":"npm test"}',
        },
      ],
      ['tool_call_update', { tool_call_id: '1', status: 'failed', output: '1\n2\n3\n4\n5\n6\n7\n8\n' }],
      ['tool_call_update', { status: 'failed', output: '1\n2\n3\n4\n5\n6\n7\n8\n' }],
      ['tool_call', { tool_call_id: '2', title: 'search', input: '{"query":"x"}', output: 'one\ntwo' }],
      ['message', { text: 'It ' }],
      ['message', { text: 'fails.' }],
      [
        'plan',
        {
          entries: [
            { content: 'look', status: 'completed' },
            { content: 'mend\nall', status: 'in_progress' },
            { content: 'test', status: 'pending' },
            7,
          ],
        },
      ],
      ['usage', { context_tokens: 1_234, context_tokens_max: 128_000 }],
      ['usage', { context_tokens: 20_000, context_tokens_max: 128_000, cost: { amount: 0.25, currency: 'USD' } }],
      ['message', { text: 'Done.' }],
      [
        'permission',
        {
          permission_id: 'p1',
          title: 'rm -r x',
          options: [
            { option_id: 'once', name: 'Allow once', kind: 'allow_once' },
            { option_id: "it's; rm", name: 'Bad' },
          ],
          text: 'the agent asks',
        },
      ],
      ['permission', { permission_id: 'p1', title: 'rm -r x', answer: 'once', by: 'user_admin', text: 'Allow once' }],
      ['status', { state: 'SUCCEEDED', message: 'the agent has answered' }],
    ]);
    expect(out).toBe('It fails.\nDone.\n');
    expect(err.split('\n')).toEqual([
      '~  First this.',
      '~  Then that.',
      '>> $ npm test',
      '-- failed: npm test',
      '   | 1',
      '   | 2',
      '   | 3',
      '   | 4',
      '   | 5',
      '   | 6',
      `   | … 2 more lines (all of it: millwright runs events ${RUN} --format json)`,
      '-- failed: a tool',
      '   | 1',
      '   | 2',
      '   | 3',
      '   | 4',
      '   | 5',
      '   | 6',
      '   | … 2 more lines',
      '>> search {"query":"x"}',
      '   | one',
      '   | two',
      '>> plan',
      '   | [x] look',
      '   | [>] mend',
      '   | [ ] test',
      '-- permission: rm -r x: the agent asks',
      `   | Allow once: millwright runs answer ${RUN} p1 --option once`,
      `   | Bad: millwright runs answer ${RUN} p1 --option 'it'\\''s; rm'`,
      '-- permission: rm -r x: Allow once',
      '-- 20,000 of 128,000 tokens of context, 0.25 USD',
      '-- SUCCEEDED: the agent has answered',
      '',
    ]);
  });

  it('of an agent that means ill: nothing steers the terminal, and no shape of an event ends the printing', () => {
    const evil = 'a\u001b[2Jb\u202e\n::error::x';
    const { out, err } = printed([
      ['message', { text: evil }],
      ['thought', { text: evil }],
      ['tool_call', { tool_call_id: 7, title: evil, input: evil, output: evil }],
      ['tool_call_update', { status: 'failed', output: 7 }],
      ['plan', { entries: 'none' }],
      ['plan', { entries: [null, { content: evil, status: evil }] }],
      ['permission', { title: evil, options: [{ name: evil }, null] }],
      ['usage', { context_tokens: 'many' }],
      ['never-heard', { text: evil }],
      ['status', { state: 'FAILED', message: evil }],
    ]);
    expect(`${out}${err}`).not.toMatch(/\u001b|\u202e|^::/m);
    expect(err).toContain('-- permission: a\\u{1b}[2Jb');
  });

  it('fits a narrow terminal where it shows excerpts, and has colours unless somebody wants none', () => {
    const events: [string, Payload][] = [
      ['tool_call', { title: 'x', tool_kind: 'read', output: 'a line that is much too long for it' }],
      ['status', { text: 'this run is NOT isolated' }],
      ['status', { state: 'FAILED' }],
    ];
    expect(printed(events, { isTTY: true, columns: 20 }).err).toBe(
      '\u001b[1m>> x\u001b[0m\n\u001b[2m   | a line that is…\u001b[0m\n\u001b[33m-- this run is NOT ' +
        'isolated\u001b[0m\n\u001b[31m-- FAILED\u001b[0m\n',
    );
    expect(printed(events, { isTTY: true, columns: 80 }, { NO_COLOR: '1' }).err).toBe(
      '>> x\n   | a line that is much too long for it\n-- this run is NOT isolated\n-- FAILED\n',
    );
    expect(printed(events).err).toBe(
      '>> x\n   | a line that is much too long for it\n-- this run is NOT isolated\n-- FAILED\n',
    );
  });
});
