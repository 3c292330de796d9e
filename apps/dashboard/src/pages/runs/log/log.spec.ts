/**
 * The window on a run's log, before a server that answers as the real one does: bounded, without gaps or doubles, and
 * live at its end.
 */
import type { LogState, RunLog } from './log.ts';
import type { RunEvent } from './entries.ts';

const KEPT = 5_000;

const event = (seq: number): RunEvent => ({
  seq,
  event_type: 'message',
  payload: { text: `${seq}` },
  occurred_at: '2026-01-01T00:00:00Z',
  run_id: 'r',
});
const numbered = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** How long the log is, what it answers instead, and the stream that is open. */
const server = {
  length: 0,
  status: 200,
  asked: 0,
  streamedFrom: [] as number[],
  stream: undefined as ReadableStreamDefaultController<Uint8Array> | undefined,
};
const { fetch: realFetch } = globalThis;
let open: (onState?: () => void) => RunLog;

/** `signal`: the caller's own. A request's follows it only until nobody holds the request any more. */
function answer(request: Request, signal: AbortSignal | null | undefined): Response {
  const query = new URL(request.url).searchParams;
  const after = Number(query.get('after'));
  if (request.headers.get('Accept') === 'text/event-stream') {
    server.streamedFrom.push(after);
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (server.stream = controller) });
    signal?.addEventListener('abort', () => server.stream?.error(new DOMException('aborted', 'AbortError')));
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
  server.asked += 1;
  if (server.status !== 200)
    return Response.json(
      { error: 'internal', title: 'Fault', detail: 'a fault of the server', status: server.status },
      { status: server.status },
    );
  return Response.json({
    events: numbered(after + 1, Math.min(server.length, after + Number(query.get('limit')))).map(event),
  });
}

const streamed = (text: string): void => server.stream?.enqueue(new TextEncoder().encode(text));
const entry = (seq: number): string => `event: entry\nid: ${seq}\ndata: ${JSON.stringify(event(seq))}\n\n`;
const seqs = ({ events }: LogState): number[] => events.map(({ seq }) => seq);

/** Resolves when the log is as wanted. */
function become(log: RunLog, isWanted: (state: LogState) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isWanted(log.get())) return;
      leave();
      resolve();
    };
    const leave = log.subscribe(look);
    look();
  });
}

beforeAll(async () => {
  // What the client finds when it is loaded.
  Object.assign(globalThis, {
    document: { baseURI: 'http://page.test/' },
    fetch: async (input: Request | string, init?: RequestInit) => answer(new Request(input, init), init?.signal),
  });
  const { RunLog: Log } = await import('./log.ts');
  open = (onState = () => undefined) => new Log('r', onState);
});

beforeEach(() => Object.assign(server, { length: 0, status: 200, asked: 0, streamedFrom: [], stream: undefined }));

afterAll(() => {
  Object.assign(globalThis, { fetch: realFetch });
  Reflect.deleteProperty(globalThis, 'document');
});

describe('toNewest', () => {
  it.each([0, 1, 999, 1_000, 1_001, 4_001, 5_000, 5_001, 12_345, 100_000])(
    'of %d entries ends with the last one, and knows whether there are earlier ones',
    async (length) => {
      server.length = length;
      const log = open();
      await log.toNewest();
      const state = log.get();
      const first = state.events[0]?.seq ?? 1;
      expect(seqs(state)).toEqual(numbered(first, length));
      expect(state).toMatchObject({ hasEarlier: first > 1, isAtEnd: true, isLoading: false, error: null });
      expect(state.events.length).toBeLessThanOrEqual(KEPT);
      expect(state.events.length).toBeGreaterThanOrEqual(Math.min(length, KEPT - 2_000));
      expect(server.asked).toBeLessThan(25);
    },
  );

  it('says what the server refused, until it is asked again', async () => {
    server.status = 500;
    const log = open();
    await log.toNewest();
    expect(log.get()).toMatchObject({ isLoading: false, error: { status: 500 } });
    Object.assign(server, { status: 200, length: 3 });
    await log.toNewest();
    expect(log.get().error).toBeNull();
    expect(seqs(log.get())).toEqual([1, 2, 3]);
  });
});

describe('earlier and later', () => {
  it('move the window without gaps, to the beginning and back to the end', async () => {
    server.length = 12_000;
    const log = open();
    await log.toNewest();
    while (log.get().hasEarlier) {
      await log.earlier();
      const [first = 0] = seqs(log.get());
      expect(seqs(log.get())).toEqual(numbered(first, first + log.get().events.length - 1));
    }
    expect(seqs(log.get())).toEqual(numbered(1, KEPT));
    expect(log.get().isAtEnd).toBe(false);
    while (!log.get().isAtEnd) await log.later();
    expect(seqs(log.get()).at(-1)).toBe(12_000);
    expect(log.get()).toMatchObject({ hasEarlier: true });
    expect(log.get().events.length).toBeLessThanOrEqual(KEPT);
  });
});

describe('follow', () => {
  it('takes what the stream brings, each entry once, asks for what is missing, and tells of states', async () => {
    server.length = 2;
    let states = 0;
    const aborting = new AbortController();
    const log = open(() => (states += 1));
    await log.toNewest();
    const following = log.follow(aborting.signal);
    await become(log, () => server.stream !== undefined);
    expect(server.streamedFrom).toEqual([2]);
    server.length = 3;
    streamed(entry(2));
    // In the middle of a block, and of a character.
    const bytes = new TextEncoder().encode(entry(3).replace('"3"', '"…"'));
    const cut = bytes.indexOf(0xe2) + 1;
    server.stream?.enqueue(bytes.slice(0, cut));
    server.stream?.enqueue(bytes.slice(cut));
    await become(log, ({ events }) => events.length === 3);
    expect(log.get().events.at(-1)?.payload.text).toBe('…');

    server.length = 7;
    streamed(entry(7));
    await become(log, ({ events }) => events.length === 7);
    expect(seqs(log.get())).toEqual(numbered(1, 7));
    streamed('event: state\ndata: {}\n\n: a comment\n\n');
    server.length = 8;
    streamed(entry(8));
    await become(log, ({ events }) => events.length === 8);
    expect(states).toBe(1);
    aborting.abort();
    await following;
    expect(seqs(log.get())).toEqual(numbered(1, 8));
  });

  it('takes nothing in while somebody reads what is far before', async () => {
    server.length = 12_000;
    const aborting = new AbortController();
    let heard = (): void => undefined;
    const state = new Promise<void>((resolve) => (heard = resolve));
    const log = open(() => heard());
    await log.toNewest();
    const following = log.follow(aborting.signal);
    while (log.get().isAtEnd) await log.earlier();
    const before = seqs(log.get());
    server.length = 12_001;
    streamed(`${entry(12_001)}event: state\ndata: {}\n\n`);
    await state;
    aborting.abort();
    await following;
    expect(seqs(log.get())).toEqual(before);
  });
});

describe('catchUp', () => {
  it('has what came since, and lets go of the oldest', async () => {
    server.length = 4_000;
    const log = open();
    await log.toNewest();
    server.length = 9_500;
    await log.catchUp(new AbortController().signal);
    expect(seqs(log.get()).at(-1)).toBe(9_500);
    expect(log.get().events.length).toBeLessThanOrEqual(KEPT);
    expect(log.get().hasEarlier).toBe(true);
  });
});
