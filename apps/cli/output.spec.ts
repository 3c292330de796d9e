/** How results look: columns, colours, and text from a server that must not steer the terminal. */
import { Writable } from 'node:stream';
import { LogPrinter } from './log-printer.ts';
import { Output, toSeconds } from './output.ts';

function written(use: (output: Output) => void, terminal: { isTTY?: boolean; columns?: number } = {}, environment: Record<string, string> = {}): string {
  let text = '';
  const stream = Object.assign(sink((chunk) => (text += chunk)), terminal);
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
    const text = written((output) => output.table(['NAME', 'X', 'LAST'], [['日本', '1', ''], ['a\u0301b', '22', 'z'], ['longer', '', 'y']]));
    expect(text).toBe('NAME    X   LAST\n日本    1\na\u0301b      22  z\nlonger      y\n');
  });

  it('cut one column on a terminal that is too narrow, and never elsewhere', () => {
    const long = 'x'.repeat(100);
    const table = (output: Output): void => output.table(['A', 'TITLE'], [['1', long]], 1);
    expect(written(table, { isTTY: true, columns: 40 }, { NO_COLOR: '1' })).toBe(`A  TITLE\n1  ${'x'.repeat(36)}…\n`);
    expect(written(table)).toContain(long);
  });

  it('hold one line a row, whatever the server says', () => {
    expect(written((output) => output.table(['A'], [['a\nb\u001b[2J\u202e']]))).toBe('A\na\\u{a}b\\u{1b}[2J\\u{202e}\n');
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
    expect(written((output) => output.line('x', 'red'), terminal, environment)).toBe(isColoured ? '\u001b[31mx\u001b[0m\n' : 'x\n');
  });
});

it('fields leave out what is not known', () => {
  expect(written((output) => output.fields([['a', '1'], ['gone', undefined], ['long', { text: '2', colour: 'red' }]]))).toBe('a     1\nlong  2\n');
});

it.each([['2025-01-02T03:04:05.678Z', '2025-01-02T03:04:05Z'], [null, '-'], [undefined, '-']])('%s is shown as %s', (time, shown) => {
  expect(toSeconds(time)).toBe(shown);
});

describe('a log', () => {
  it('keeps lines whole across events, and puts changes on lines of their own', () => {
    let text = '';
    const printer = new LogPrinter(sink((chunk) => (text += chunk)), sink((chunk) => (text += chunk)));
    const event = (event_type: string, payload: object) => ({ seq: 1, event_type, occurred_at: '', payload });
    printer.print([event('stdout', { text: 'one\nhalf' }), event('stdout', { text: ' line\n' }), event('stderr', { text: 'open' })]);
    printer.print([event('status', { state: 'FAILED', message: 'a\nb' }), event('status', { text: 'cut' }), event('artifact', {})]);
    printer.print([event('stdout', { text: 'rest' })]);
    printer.end();
    printer.end();
    expect(text).toBe('one\nhalf line\nopen\n-- FAILED: a\\u{a}b\n-- cut\n-- artifact\nrest\n');
    expect(printer.state).toBe('FAILED');
  });
});
