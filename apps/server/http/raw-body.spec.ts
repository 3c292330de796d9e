/** How a body is read and how the rest of a refused one runs out. contract §5.2 (413), §5.3 (drain). */
import { PassThrough } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { drained } from './connections.ts';
import { readRawBody, skipRest } from './raw-bodies.ts';

/** A stream that looks like a request as far as these functions look. */
function request(declared?: string): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), {
    headers: declared === undefined ? {} : { 'content-length': declared },
    complete: false,
  }) as unknown as PassThrough & IncomingMessage;
}

describe('a body', () => {
  it.each([
    { chunks: [], kind: 'whole', size: 0, why: 'empty' },
    { chunks: ['abc'], kind: 'whole', size: 3, why: 'one piece' },
    { chunks: ['abc', 'defg', 'hij'], kind: 'whole', size: 10, why: 'the limit exactly, in pieces' },
  ])('$why is read whole', async ({ chunks, size }) => {
    const incoming = request();
    const reading = readRawBody(incoming, 10, 1_000);
    for (const text of chunks) incoming.write(text);
    incoming.end();
    const body = await reading;
    expect(body).toEqual({ kind: 'whole', bytes: Buffer.from(chunks.join('')) });
    expect(size).toBe(chunks.join('').length);
  });

  it('one byte more is too large, as soon as it comes, and stops the sender', async () => {
    const incoming = request();
    const reading = readRawBody(incoming, 10, 1_000);
    incoming.write('0123456789');
    incoming.write('x');
    expect(await reading).toEqual({ kind: 'too-large', sizeBytes: 11 });
    expect(incoming.isPaused()).toBe(true);
  });

  it('declared too large is refused unread, and begins nothing', async () => {
    const incoming = request('11');
    let begun = false;
    expect(await readRawBody(incoming, 10, 1_000, () => (begun = true))).toEqual({ kind: 'too-large', sizeBytes: 11 });
    expect([begun, incoming.listenerCount('data')]).toEqual([false, 0]);
  });

  it('begins before anything is read', async () => {
    const incoming = request('2');
    const order: string[] = [];
    incoming.on('data', () => order.push('data'));
    const reading = readRawBody(incoming, 10, 1_000, () => order.push('begun'));
    incoming.end('{}');
    await reading;
    expect(order).toEqual(['begun', 'data']);
  });

  it('that does not come in time is given up', async () => {
    const incoming = request();
    incoming.write('{');
    expect(await readRawBody(incoming, 10, 20)).toEqual({ kind: 'timeout' });
  });

  it('of many that do not come in time each is given up, and those that came are not', async () => {
    const late = [request(), request()];
    const whole = request();
    const reading = Promise.all([...late, whole].map((incoming) => readRawBody(incoming, 10, 20)));
    whole.end('{}');
    expect((await reading).map(({ kind }) => kind)).toEqual(['timeout', 'timeout', 'whole']);
  });

  it('whose sender is gone is nothing', async () => {
    const incoming = request();
    const reading = readRawBody(incoming, 10, 1_000);
    incoming.write('{}');
    incoming.destroy();
    expect(await reading).toEqual({ kind: 'aborted' });
  });
});

describe('the rest of a refused body', () => {
  it('is over when it is complete', async () => {
    const incoming = Object.assign(request(), { complete: true });
    await drained(incoming);
  });

  it('runs out in order', async () => {
    const incoming = request();
    const done = drained(incoming);
    incoming.end('x'.repeat(60_000));
    await done;
    expect(incoming.listenerCount('data')).toBe(0);
  });

  it('is cut off after 64 KiB', async () => {
    const incoming = request();
    const done = drained(incoming);
    const flood = setInterval(() => void incoming.write('x'.repeat(8_192)), 1);
    await done;
    clearInterval(flood);
    expect(incoming.isPaused()).toBe(true);
  });

  it('is given up when nothing comes', async () => {
    await drained(request());
  });

  it('is over when its sender is gone', async () => {
    const incoming = request();
    const done = drained(incoming);
    incoming.destroy();
    await done;
  });
});

describe('what is skipped of a body that was answered', () => {
  /** A request whose socket tells when it is cut off. */
  function skipped(): { incoming: PassThrough & IncomingMessage; cutOff: Promise<string> } {
    const incoming = request();
    const cutOff = new Promise<string>((resolve) => {
      Object.assign(incoming, { socket: { destroy: () => resolve('cut off') } });
    });
    return { incoming, cutOff };
  }

  it('is read to its end, and its connection stays', async () => {
    const { incoming, cutOff } = skipped();
    skipRest(incoming, 20);
    incoming.end('x'.repeat(60_000));
    const late = request();
    const givenUp = new Promise((resolve) => incoming.once('close', resolve)).then(() => readRawBody(late, 10, 20));
    // Who is looked at in the same round is given up; what has come is not among them.
    expect(await Promise.race([cutOff, givenUp])).toEqual({ kind: 'timeout' });
  });

  it('is waited for only so long', async () => {
    const { incoming, cutOff } = skipped();
    skipRest(incoming, 20);
    incoming.write('x');
    expect(await cutOff).toBe('cut off');
  });
});
