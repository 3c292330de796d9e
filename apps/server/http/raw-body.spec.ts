/** How a body is read and how the rest of a refused one runs out. contract §5.2 (413), §5.3 (drain). */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { BODY_COST_BYTES } from '#deliveries';
import { Metrics } from '../process/metrics.ts';
import { drained } from './connections.ts';
import { readRawBody, skipRest } from './raw-bodies.ts';
import { UnfinishedBodies } from './unfinished-bodies.ts';

/** Room for a body that came in two small pieces. */
const CAPACITY = 4_096;

/** A stream that looks like a request as far as these functions look. */
function request(declared?: string): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), {
    headers: declared === undefined ? {} : { 'content-length': declared },
    complete: false,
    socket: new PassThrough(),
  }) as unknown as PassThrough & IncomingMessage;
}

describe('a body', () => {
  it.each([
    { chunks: [], kind: 'whole', size: 0, why: 'empty' },
    { chunks: ['abc'], kind: 'whole', size: 3, why: 'one piece' },
    { chunks: ['abc', 'defg', 'hij'], kind: 'whole', size: 10, why: 'the limit exactly, in pieces' },
  ])('$why is read whole', async ({ chunks, size }) => {
    const incoming = request();
    const reading = readRawBody(incoming, { bytesMax: 10, timeoutMs: 1_000 });
    for (const text of chunks) incoming.write(text);
    incoming.end();
    const body = await reading;
    expect(body).toEqual({ kind: 'whole', bytes: Buffer.from(chunks.join('')) });
    expect(size).toBe(chunks.join('').length);
  });

  it('one byte more is too large, as soon as it comes, and stops the sender', async () => {
    const incoming = request();
    const reading = readRawBody(incoming, { bytesMax: 10, timeoutMs: 1_000 });
    incoming.write('0123456789');
    incoming.write('x');
    expect(await reading).toEqual({ kind: 'too-large', sizeBytes: 11 });
    expect(incoming.isPaused()).toBe(true);
  });

  it('that is refused gives its memory back at once, and what comes later as well', async () => {
    const incoming = request();
    const reading = readRawBody(incoming, { bytesMax: 100_000, timeoutMs: 1_000 });
    const pieces = [0, 1, 2].map(() => Buffer.alloc(65_536, 'x'));
    for (const piece of pieces) incoming.write(piece);
    expect(await reading).toEqual({ kind: 'too-large', sizeBytes: 131_072 });
    skipRest(incoming, 1_000);
    incoming.end();
    await once(incoming, 'close');
    expect(pieces.map(({ byteLength }) => byteLength)).toEqual([0, 0, 0]);
  });

  it('that is refused behind small pieces runs out like others', async () => {
    const large = request();
    const reading = readRawBody(large, { bytesMax: 10, timeoutMs: 1_000 });
    for (const piece of ['a', 'b', 'x'.repeat(16_384)]) large.write(piece);
    expect(await reading).toEqual({ kind: 'too-large', sizeBytes: 16_386 });
    skipRest(large, 1_000);
    large.end();
    await once(large, 'close');

    const late = request();
    const waiting = readRawBody(late, { bytesMax: 10, timeoutMs: 20 });
    for (const piece of ['a', 'b']) late.write(piece);
    expect(await waiting).toEqual({ kind: 'timeout' });
    late.end('c');
    await once(late, 'close');
  });

  it('that is whole is there, in one piece or joined of many whose memory is given back', async () => {
    const bodies = [1, 3].map((count) => Array.from({ length: count }, (_, index) => Buffer.alloc(20_000, `${index}`)));
    for (const pieces of bodies) {
      const expected = Buffer.concat(pieces);
      const incoming = request();
      const reading = readRawBody(incoming, { bytesMax: 100_000, timeoutMs: 1_000 });
      for (const piece of pieces) incoming.write(piece);
      incoming.end();
      expect(await reading).toEqual({ kind: 'whole', bytes: expected });
    }
    expect(bodies.map((pieces) => pieces.map(({ byteLength }) => byteLength))).toEqual([[20_000], [0, 0, 0]]);
  });

  it('declared too large is refused unread, and begins nothing', async () => {
    const incoming = request('11');
    let begun = false;
    expect(await readRawBody(incoming, { bytesMax: 10, timeoutMs: 1_000 }, () => (begun = true))).toEqual({
      kind: 'too-large',
      sizeBytes: 11,
    });
    expect([begun, incoming.listenerCount('data')]).toEqual([false, 0]);
  });

  it('begins before anything is read', async () => {
    const incoming = request('2');
    const order: string[] = [];
    incoming.on('data', () => order.push('data'));
    const reading = readRawBody(incoming, { bytesMax: 10, timeoutMs: 1_000 }, () => order.push('begun'));
    incoming.end('{}');
    await reading;
    expect(order).toEqual(['begun', 'data']);
  });

  it('that does not come in time is given up', async () => {
    const incoming = request();
    incoming.write('{');
    expect(await readRawBody(incoming, { bytesMax: 10, timeoutMs: 20 })).toEqual({ kind: 'timeout' });
  });

  it('is not late while its connection is not read', async () => {
    const incoming = request();
    incoming.socket.pause();
    const reading = readRawBody(incoming, { bytesMax: 10, timeoutMs: 20 });
    let isOver = false;
    void reading.then(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // two looks at the least
    expect(isOver).toBe(false);
    incoming.socket.resume();
    expect(await reading).toEqual({ kind: 'timeout' });
  });

  it('of many that do not come in time each is given up, and those that came are not', async () => {
    const late = [request(), request()];
    const whole = request();
    const reading = Promise.all(
      [...late, whole].map((incoming) => readRawBody(incoming, { bytesMax: 10, timeoutMs: 20 })),
    );
    whole.end('{}');
    expect((await reading).map(({ kind }) => kind)).toEqual(['timeout', 'timeout', 'whole']);
  });

  it.each([1, 7, 4_095, 4_097, 100_000])('in pieces of %d bytes is the same body', async (pieceBytes) => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    const incoming = request();
    const reading = readRawBody(incoming, { bytesMax: 262_144, timeoutMs: 10_000 });
    for (let at = 0; at < bytes.length; at += pieceBytes) incoming.write(bytes.subarray(at, at + pieceBytes));
    incoming.end();
    const body = await reading;
    expect(body.kind === 'whole' && body.bytes.equals(bytes)).toBe(true);
  });

  it('of a sender without a key is counted by what it takes, until all of it has come', async () => {
    const metrics = new Metrics();
    const unfinished = new UnfinishedBodies(metrics);
    const counted = async (): Promise<number> =>
      Number(/^millwright_http_unfinished_body_bytes (\d+)/m.exec(await metrics.text())?.[1]);
    const bounds = { bytesMax: 262_144, timeoutMs: 1_000, unfinished, clientAddress: '192.0.2.1' };
    const [ended, gone] = [request('100'), request()];
    const reading = [readRawBody(ended, bounds), readRawBody(gone, bounds)];
    ended.write('x'.repeat(10));
    gone.write('x'.repeat(1_000));
    gone.write('x');
    expect(await counted()).toBe(10 + 1_000 + CAPACITY + 2 * BODY_COST_BYTES);
    ended.end('x'.repeat(90));
    gone.destroy();
    await Promise.all(reading);
    expect(await counted()).toBe(0);
    const whole = request('3');
    const third = readRawBody(whole, bounds);
    whole.write('abc');
    expect(await counted()).toBe(0); // nothing of it is waited for
    whole.end();
    await third;
  });

  it('that there is no room for is refused, and holds nothing any more', async () => {
    const metrics = new Metrics();
    const unfinished = new UnfinishedBodies(metrics, { addressBytesMax: 2 * BODY_COST_BYTES + 50 });
    const bounds = { bytesMax: 1_000, timeoutMs: 10_000, unfinished, clientAddress: '192.0.2.1' };
    const bodies = [request('100'), request('100'), request('100')];
    const readings = bodies.map((incoming) => readRawBody(incoming, bounds));
    for (const incoming of bodies) incoming.write('x'.repeat(25));
    expect(await readings[0]).toEqual({ kind: 'over-budget' });
    expect(await metrics.text()).toMatch(/^millwright_http_bodies_refused_total 1$/m);
    for (const incoming of bodies.slice(1)) incoming.end('x'.repeat(75));
    expect((await Promise.all(readings.slice(1))).map(({ kind }) => kind)).toEqual(['whole', 'whole']);
  });

  it('whose sender is gone is nothing', async () => {
    const incoming = request();
    const reading = readRawBody(incoming, { bytesMax: 10, timeoutMs: 1_000 });
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

  it.each([8_192, 65_536])(
    'of which somebody was a taker is cut off as early, in pieces of %d bytes',
    async (bytes) => {
      const incoming = request();
      const reading = readRawBody(incoming, { bytesMax: 10, timeoutMs: 1_000 });
      incoming.write('x'.repeat(11));
      await reading;
      let written = 0;
      const done = drained(incoming);
      for (; written < 4_194_304 && !incoming.isPaused(); written += bytes) {
        incoming.write(Buffer.alloc(bytes, 'x'));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await done;
      expect(written).toBeLessThanOrEqual(262_144);
    },
  );

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
      Object.assign(incoming, { socket: { destroy: () => resolve('cut off'), isPaused: () => false } });
    });
    return { incoming, cutOff };
  }

  it('is read to its end, and its connection stays', async () => {
    const { incoming, cutOff } = skipped();
    skipRest(incoming, 20);
    incoming.end('x'.repeat(60_000));
    const late = request();
    const givenUp = new Promise((resolve) => incoming.once('close', resolve)).then(() =>
      readRawBody(late, { bytesMax: 10, timeoutMs: 20 }),
    );
    // Who is looked at in the same round is given up; what has come is not among them.
    expect(await Promise.race([cutOff, givenUp])).toEqual({ kind: 'timeout' });
  });

  it('gives its memory back as it comes', async () => {
    const { incoming } = skipped();
    skipRest(incoming, 1_000);
    const pieces = [0, 1].map(() => Buffer.alloc(65_536, 'x'));
    for (const piece of pieces) incoming.write(piece);
    incoming.end();
    await once(incoming, 'close');
    expect(pieces.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
  });

  it('is waited for only so long', async () => {
    const { incoming, cutOff } = skipped();
    skipRest(incoming, 20);
    incoming.write('x');
    expect(await cutOff).toBe('cut off');
  });
});
