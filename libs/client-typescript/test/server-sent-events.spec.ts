/** Server-sent events by the standard, cut anywhere. */
import { OversizedMessageError, ServerSentEvents, type Message } from '../src/server-sent-events.ts';

const BYTES = new TextEncoder();

function parsed(pieces: readonly Uint8Array[], lengthMax = 1_000_000): Message[] {
  const parser = new ServerSentEvents(lengthMax);
  return pieces.flatMap((piece) => [...parser.push(piece)]);
}

function whole(text: string): Pick<Message, 'event' | 'data' | 'lastEventId'>[] {
  return parsed([BYTES.encode(text)]).map(({ event, data, lastEventId }) => ({ event, data, lastEventId }));
}

const STREAM =
  '\ufeffretry: 1000\n\n: alive\n\nid: 1\nevent: stdout\ndata: {"text":"grüße 🐦"}\n\nid: 2\r\nevent: ' +
  'stdout\r\ndata: a\r\ndata: b\r\n\r\nid:3\revent:state\rdata:  c\r\r: bye\n\n';

describe('cuts', () => {
  const bytes = BYTES.encode(STREAM);
  const expected = parsed([bytes]);

  it('the whole is understood', () => {
    expect(expected).toEqual([
      { event: 'stdout', data: '{"text":"grüße 🐦"}', lastEventId: '1', hasId: true },
      { event: 'stdout', data: 'a\nb', lastEventId: '2', hasId: true },
      { event: 'state', data: ' c', lastEventId: '3', hasId: true },
    ]);
  });

  it('at every two places', () => {
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        expect(parsed([bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)])).toEqual(
          expected,
        );
      }
    }
  });

  it('behind every byte', () => {
    expect(parsed([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it('a message is told as soon as its last line has ended', () => {
    const parser = new ServerSentEvents(100);
    expect([...parser.push(BYTES.encode('data: a\r'))]).toEqual([]);
    expect([...parser.push(BYTES.encode('\n\r'))]).toHaveLength(1);
    expect([...parser.push(BYTES.encode('\ndata: b\n\n'))]).toHaveLength(1);
  });
});

it.each([
  ['data', 'data\n\n', [{ event: 'message', data: '', lastEventId: '' }]],
  ['two empty lines of data', 'data\ndata\n\n', [{ event: 'message', data: '\n', lastEventId: '' }]],
  ['an event without data is none', 'event: a\n\ndata: b\n\n', [{ event: 'message', data: 'b', lastEventId: '' }]],
  [
    'the id stays for those that follow',
    'id: 1\ndata: a\n\ndata: b\n\n',
    [
      { event: 'message', data: 'a', lastEventId: '1' },
      { event: 'message', data: 'b', lastEventId: '1' },
    ],
  ],
  ['an id alone counts too', 'id: 7\n\ndata: b\n\n', [{ event: 'message', data: 'b', lastEventId: '7' }]],
  ['an empty id clears it', 'id: 1\nid\ndata: a\n\n', [{ event: 'message', data: 'a', lastEventId: '' }]],
  ['an id with NUL is passed over', 'id: 1\nid: 2\0\ndata: a\n\n', [{ event: 'message', data: 'a', lastEventId: '1' }]],
  [
    'unknown fields are passed over',
    'other: x\ndata: a\nretry: soon\n data: y\n\n',
    [{ event: 'message', data: 'a', lastEventId: '' }],
  ],
  ['one space is taken off, no more', 'data:  a \ndata:b\n\n', [{ event: 'message', data: ' a \nb', lastEventId: '' }]],
  ['a colon in the value stays', 'data: a: b\n\n', [{ event: 'message', data: 'a: b', lastEventId: '' }]],
  [
    'other line ends are none',
    'data: a\u2028b\u0085c\vd\n\n',
    [{ event: 'message', data: 'a\u2028b\u0085c\vd', lastEventId: '' }],
  ],
  [
    'a byte order mark counts at the begin only',
    '\ufeffdata: a\n\n\ufeffdata: b\n\n',
    [{ event: 'message', data: 'a', lastEventId: '' }],
  ],
  ['what is not ended is not told', 'data: a\n\ndata: b\n', [{ event: 'message', data: 'a', lastEventId: '' }]],
])('%s', (_, text, expected) => {
  expect(whole(text)).toEqual(expected);
});

it('bytes that are no text become the replacement character', () => {
  expect(parsed([BYTES.encode('data: '), Uint8Array.of(0xff, 0x0a, 0x0a)])[0]?.data).toBe('\ufffd');
});

it('whose id came with it is told apart', () => {
  expect(parsed([BYTES.encode('id: 1\ndata: a\n\ndata: b\n\n')]).map(({ hasId }) => hasId)).toEqual([true, false]);
});

it('one message has an end, however it is written', () => {
  expect(() => parsed([BYTES.encode(`data: ${'x'.repeat(101)}\n`)], 100)).toThrow(OversizedMessageError);
  expect(() =>
    parsed(
      Array.from({ length: 20 }, () => BYTES.encode('data: 123456789\n')),
      100,
    ),
  ).toThrow(OversizedMessageError);
  expect(() =>
    parsed(
      Array.from({ length: 200 }, () => BYTES.encode('x')),
      100,
    ),
  ).toThrow(OversizedMessageError);
  expect(
    parsed(
      Array.from({ length: 200 }, () => BYTES.encode('data: 123456789\n\n')),
      100,
    ),
  ).toHaveLength(200);
});

it('the messages before one that is too long are told', () => {
  const messages = new ServerSentEvents(10).push(BYTES.encode(`data: a\n\ndata: ${'x'.repeat(20)}\n\n`));
  expect(messages.next().value).toMatchObject({ data: 'a' });
  expect(() => messages.next()).toThrow(OversizedMessageError);
});
