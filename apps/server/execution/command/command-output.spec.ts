/** What a command prints becomes text of the run's log: whole characters, bounded, and without secrets. */
import { PassThrough } from 'node:stream';
import type { ExecutionOutput } from '../executor.ts';
import { OutputRelay } from './command-output.ts';

function relayed(bytesMax = 1_000_000, secrets: readonly string[] = []) {
  const events: ExecutionOutput[] = [];
  const relay = new OutputRelay({ bytesMax, secrets, now: () => 1_000, onEvent: (event) => events.push(event) });
  const stream = new PassThrough();
  relay.attach(stream, 'stdout');
  return {
    events,
    relay,
    stream,
    text: (kind = 'stdout') =>
      events
        .filter((event) => event.kind === kind)
        .map(({ text }) => text)
        .join(''),
  };
}

async function written(stream: PassThrough, pieces: Iterable<string | Uint8Array>): Promise<void> {
  for (const piece of pieces) if (!stream.write(piece)) await new Promise((resolve) => stream.once('drain', resolve));
  await new Promise<void>((resolve) => {
    stream.on('end', resolve);
    stream.end();
  });
}

describe('output', () => {
  it('comes through as it is, an unfinished last line too', async () => {
    const { stream, relay, events, text } = relayed();
    await written(stream, ['one\ntw', 'o\nthr', 'ee']);
    relay.finish();
    expect(text()).toBe('one\ntwo\nthree');
    expect(events.every(({ at }) => at === 1_000)).toBe(true);
  });

  it('is not torn inside a character, however it is read', async () => {
    const bytes = Buffer.from('héllo 😀\n');
    const { stream, relay, text } = relayed();
    await written(
      stream,
      Array.from(bytes, (byte) => Uint8Array.of(byte)),
    );
    relay.finish();
    expect(text()).toBe('héllo 😀\n');
  });

  it('becomes text that can be stored, whatever it is', async () => {
    const { stream, relay, text } = relayed();
    await written(stream, [Uint8Array.from([0, 0xff, 0x41])]);
    relay.finish();
    expect(text()).toBe('\ufffd\ufffdA');
  });

  it('holds no secret, even one that arrives in pieces', async () => {
    const { stream, relay, events, text } = relayed(1_000_000, ['hunter2-hunter2']);
    await written(stream, ['password: hunt', 'er2-hun', 'ter2\nbye']);
    relay.finish();
    expect(text()).toBe('password: [redacted]\nbye');
    expect(JSON.stringify(events)).not.toContain('hunt');
  });

  it('cuts a line that never ends into pieces of bounded length', async () => {
    const { stream, relay, events, text } = relayed();
    await written(stream, [`x${'😀'.repeat(30_000)}`]);
    relay.finish();
    expect(text()).toBe(`x${'😀'.repeat(30_000)}`);
    for (const event of events) expect(event.text.length).toBeLessThanOrEqual(10_000);
    for (const event of events) expect(event.text).not.toMatch(/^[\udc00-\udfff]/);
  });

  it('keeps beginning and end of a flood and says how much is missing', async () => {
    const { stream, relay, events, text } = relayed(200_000);
    const line = (number: number) => `line ${String(number).padStart(6, '0')}\n`;
    await written(
      stream,
      Array.from({ length: 100_000 }, (_, number) => line(number)),
    );
    relay.finish();
    expect(text().startsWith(line(0) + line(1))).toBe(true);
    expect(text().endsWith(line(99_998) + line(99_999))).toBe(true);
    expect(text().length).toBeLessThanOrEqual(200_000);
    const leftOut = Number(/… (\d+) bytes/.exec(text('status'))?.[1]);
    expect(leftOut + text().length).toBe(100_000 * line(0).length);
    expect(events.findIndex(({ kind }) => kind === 'status')).toBeGreaterThan(0);
  });

  it('of empty lines is bounded too', async () => {
    const { stream, relay, events } = relayed(10_000);
    await written(
      stream,
      Array.from({ length: 1_000 }, () => '\n'.repeat(1_000)),
    );
    relay.finish();
    expect(events.length).toBeLessThan(100);
  });

  it('stays in order with what is said about the command', async () => {
    const { stream, relay, events } = relayed();
    stream.write('before\n');
    await new Promise((resolve) => setImmediate(resolve));
    relay.status('something happened');
    await written(stream, ['after\n']);
    relay.finish();
    expect(events.map(({ text }) => text)).toEqual(['before\n', 'something happened', 'after\n']);
  });
});
