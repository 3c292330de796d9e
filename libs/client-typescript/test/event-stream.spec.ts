/** Following a run: what ends it, what is taken up again, and how it is left. */
import {
  APITimeoutError,
  Millwright,
  MillwrightError,
  UserAbortError,
  type EventStream,
  type RunEvent,
  type StreamOptions,
} from '../src/index.ts';
import { World } from './wire-world.ts';

const RUN = '0191f7a2-0000-7000-8000-000000000001';
const HEADERS = { 'content-type': 'text/event-stream' };

function entry(seq: number): string {
  const data = {
    seq,
    event_type: 'stdout',
    occurred_at: '2026-11-21T10:00:00.000Z',
    run_id: RUN,
    payload: { text: `line ${seq}` },
  };
  return `id: ${seq}\nevent: stdout\ndata: ${JSON.stringify(data)}\n\n`;
}

function state(name: string): string {
  return `event: state\ndata: ${JSON.stringify({ run_id: RUN, state: name })}\n\n`;
}

interface Piece {
  /** Seconds behind the one before. */
  after?: number;
  text: string;
}

/** A connection that tells its pieces in time, and then ends, breaks or stays silent. */
interface Telling {
  pieces: readonly Piece[];
  ends?: 'end' | 'break' | 'hang';
}

interface Service {
  world: World;
  /** Per connection, how often its reader left it. */
  left: number[];
  follow(options?: StreamOptions, after?: number): EventStream;
}

function serviceOf(tellings: readonly Telling[]): Service {
  const world = new World([]);
  const left: number[] = [];
  const waiting = [...tellings];
  const fetch = (_: string, { signal }: RequestInit): Promise<Response> => {
    const place = left.push(0) - 1;
    const telling = waiting.shift();
    if (telling === undefined) return Promise.reject(new TypeError('fetch failed'));
    return Promise.resolve(
      new Response(
        bodyOf(telling, world, signal ?? undefined, () => void ((left[place] ?? 0) === 0 && (left[place] = 1))),
        { headers: HEADERS },
      ),
    );
  };
  const client = new Millwright(
    { baseURL: 'http://127.0.0.1:9', apiKey: 'k'.repeat(20), fetch, logLevel: 'off' },
    world.clock,
  );
  return {
    world,
    left,
    follow: (options, after) => client.agent.runs.events(RUN, after === undefined ? {} : { after }, options),
  };
}

function bodyOf(
  { pieces, ends = 'end' }: Telling,
  world: World,
  signal: AbortSignal | undefined,
  onLeft: () => void,
): ReadableStream<Uint8Array> {
  const rest = [...pieces];
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal?.addEventListener('abort', () => {
          onLeft();
          try {
            controller.error(signal.reason);
          } catch {
            // It has ended already.
          }
        });
      },
      async pull(controller) {
        const piece = rest.shift();
        if (piece === undefined && ends === 'hang') return new Promise<void>(() => undefined);
        if (piece === undefined && ends === 'break') return controller.error(new TypeError('terminated'));
        if (piece === undefined) return controller.close();
        if (piece.after !== undefined)
          await new Promise<void>((resolve) => world.clock.after((piece.after ?? 0) * 1_000, resolve));
        if (signal?.aborted !== true) controller.enqueue(new TextEncoder().encode(piece.text));
        return undefined;
      },
      cancel: onLeft,
    },
    { highWaterMark: 0 },
  );
}

async function followed(world: World, stream: EventStream): Promise<{ seqs: number[]; error?: unknown }> {
  const seqs: number[] = [];
  const reading = (async () => {
    for await (const { seq } of stream) seqs.push(seq);
  })();
  return await world.live(
    reading.then(
      () => ({ seqs }),
      (error: unknown) => ({ seqs, error }),
    ),
  );
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}

it('silence for as long as was said counts as a lost connection', async () => {
  const { world, left, follow } = serviceOf([
    { pieces: [{ text: entry(1) }], ends: 'hang' },
    { pieces: [{ text: entry(2) + state('FAILED') }] },
  ]);
  const stream = follow({ timeout: 20_000 });
  expect(await followed(world, stream)).toEqual({ seqs: [1, 2] });
  expect(world.now).toBe(20.5);
  expect(left).toEqual([1, 1]);
  expect(world.waiting).toBe(0);
  expect([stream.runState, stream.lastSeq]).toEqual(['FAILED', 2]);
});

it('signs of life keep a connection, however long nothing happens', async () => {
  const alive = Array.from({ length: 40 }, () => ({ after: 15, text: ': alive\n\n' }));
  const { world, follow } = serviceOf([{ pieces: [...alive, { text: entry(1) + state('SUCCEEDED') }] }]);
  expect(await followed(world, follow())).toEqual({ seqs: [1] });
  expect(world.now).toBe(600);
});

it('a good connection that is lost behind a long quiet time is an outage that only begins', async () => {
  const alive = Array.from({ length: 8 }, () => ({ after: 15, text: ': alive\n\n' }));
  const { world, follow } = serviceOf([
    { pieces: [], ends: 'break' },
    { pieces: alive, ends: 'break' },
    { pieces: [], ends: 'break' },
    { pieces: [{ text: state('SUCCEEDED') }] },
  ]);
  expect(await followed(world, follow())).toEqual({ seqs: [] });
});

it('connections that say nothing are given up in the end', async () => {
  const { world, follow } = serviceOf(Array.from({ length: 30 }, () => ({ pieces: [], ends: 'hang' as const })));
  const { error } = await followed(world, follow());
  expect(error).toBeInstanceOf(APITimeoutError);
  expect(error).toMatchObject({ limit: 'timeout', milliseconds: 60_000 });
  expect(world.now).toBe(120.5);
  expect(world.waiting).toBe(0);
});

it('an end of the run that is not the last state is none', async () => {
  const { world, left, follow } = serviceOf([
    { pieces: [{ text: state('FAILED') + entry(1) + state('QUEUED') }] },
    { pieces: [{ text: state('CANCELLED') }] },
  ]);
  expect(await followed(world, follow())).toEqual({ seqs: [1] });
  expect(left).toHaveLength(2);
});

it('leaving the loop closes the connection, and it is not taken up again', async () => {
  const { world, left, follow } = serviceOf([{ pieces: [{ text: entry(1) + entry(2) }], ends: 'hang' }]);
  const stream = follow();
  const seen: RunEvent[] = [];
  for await (const event of stream) {
    seen.push(event);
    break;
  }
  const again = async (): Promise<void> => {
    for await (const event of stream) seen.push(event);
  };
  await expect(again()).rejects.toThrow(
    new MillwrightError('an event stream can be read once; ask for another, with after: lastSeq'),
  );
  expect(seen.map(({ seq }) => seq)).toEqual([1]);
  expect(stream.lastSeq).toBe(1);
  expect(left).toEqual([1]);
  expect(world.waiting).toBe(0);
});

it('close() ends a loop that waits, and one that pauses', async () => {
  for (const ends of ['hang', 'break'] as const) {
    const { world, follow } = serviceOf([{ pieces: [{ text: entry(1) }], ends }]);
    const stream = follow();
    const seqs: number[] = [];
    const reading = (async () => {
      for await (const { seq } of stream) seqs.push(seq);
    })();
    await settle();
    expect(world.waiting).toBe(1);
    stream.close();
    await reading;
    expect(seqs).toEqual([1]);
    expect(world.waiting).toBe(0);
  }
});

it('close() within the loop: what has come already is not told any more', async () => {
  const { follow, left } = serviceOf([{ pieces: [{ text: entry(1) + entry(2) }], ends: 'hang' }]);
  const stream = follow();
  const seqs: number[] = [];
  for await (const { seq } of stream) {
    seqs.push(seq);
    stream.close();
  }
  expect(seqs).toEqual([1]);
  expect(left).toEqual([1]);
});

it('closed before it is begun: nothing is sent', async () => {
  const { follow, world, left } = serviceOf([]);
  const stream = follow();
  stream.close();
  expect(await followed(world, stream)).toEqual({ seqs: [] });
  expect(left).toEqual([]);
});

it('its signal ends it with an error, before, while and between connections', async () => {
  for (const ends of ['hang', 'break'] as const) {
    const { world, follow } = serviceOf([{ pieces: [{ text: entry(1) }], ends }]);
    const controller = new AbortController();
    const reading = (async () => {
      for await (const { seq } of follow({ signal: controller.signal })) expect(seq).toBe(1);
    })().catch((error: unknown) => error);
    await settle();
    controller.abort('enough');
    expect(await reading).toBeInstanceOf(UserAbortError);
    expect(await reading).toMatchObject({ cause: 'enough' });
    expect(world.waiting).toBe(0);
  }
  const { world, follow, left } = serviceOf([]);
  expect((await followed(world, follow({ signal: AbortSignal.abort() }))).error).toBeInstanceOf(UserAbortError);
  expect(left).toEqual([]);
});

it('takes as long as the run, unless it is told how long in all', async () => {
  const alive = Array.from({ length: 400 }, () => ({ after: 10, text: ': alive\n\n' }));
  const endless = serviceOf([{ pieces: [...alive, { text: state('SUCCEEDED') }] }]);
  expect(await followed(endless.world, endless.follow())).toEqual({ seqs: [] });
  const { world, follow } = serviceOf([{ pieces: alive }]);
  expect((await followed(world, follow({ totalTimeout: 55_000 }))).error).toMatchObject({
    limit: 'totalTimeout',
    milliseconds: 55_000,
  });
  expect(world.now).toBe(55);
});

it('a pause that would end behind the whole limit is not begun: the last error comes at once', async () => {
  const { world, follow } = serviceOf([{ pieces: [{ text: entry(1) }], ends: 'break' }]);
  const { seqs, error } = await followed(world, follow({ totalTimeout: 1_400 }));
  expect(seqs).toEqual([1]);
  expect(error).toMatchObject({ name: 'APIConnectionError' });
  expect(world.now).toBe(0.5);
  expect(world.waiting).toBe(0);
});

it('an outage may take as long as it will where that was said', async () => {
  const { world, follow } = serviceOf([
    ...Array.from({ length: 20 }, () => ({ pieces: [], ends: 'break' as const })),
    { pieces: [{ text: entry(1) + state('SUCCEEDED') }] },
  ]);
  expect(await followed(world, follow({ reconnectTimeout: null }))).toEqual({ seqs: [1] });
  expect(world.now).toBeGreaterThan(100);
});

it.each<[string, number, Record<string, string>]>([
  ['text/html', 200, { 'content-type': 'text/html' }],
  ['nothing', 204, {}],
])('an answer that is no stream (%s) is an error at once', async (_, status, headers) => {
  const world = new World([{ status, headers, text: status === 204 ? undefined : '<p>' }]);
  const client = new Millwright(
    { baseURL: 'http://127.0.0.1:9', apiKey: 'k'.repeat(20), fetch: world.fetch, logLevel: 'off' },
    world.clock,
  );
  const { error } = await followed(world, client.agent.runs.events(RUN));
  expect(error).toMatchObject({
    name: 'APIResponseValidationError',
    status,
    message: expect.stringMatching(/^GET \/agent\/runs\/\{run_id\}\/events: the answer is no stream of events/),
  });
});

it('a path parameter that cannot be one is refused when it is iterated', async () => {
  const world = new World([]);
  const client = new Millwright(
    { baseURL: 'http://127.0.0.1:9', apiKey: 'k'.repeat(20), fetch: world.fetch, logLevel: 'off' },
    world.clock,
  );
  expect((await followed(world, client.agent.runs.events('..'))).error).toMatchObject({
    message: 'run_id must not be empty, "." or ".."',
  });
  expect(() => client.agent.runs.events(RUN, {}, { reconnectTimeout: 0 })).toThrow('reconnectTimeout must be');
});
