/** What a stream does while nothing happens, while nobody reads, and when what it needs is gone. contract §3.1. */
import type { Readable } from 'node:stream';
import type { StoredRunEvent } from '../store/runs/run-log.ts';
import type { RunStore, RunStatus } from '../store/runs/runs.ts';
import { Notices } from '../store/database/notices.ts';
import { EventStreams } from './event-streams.ts';
import { RunNotifier } from './run-notifier.ts';

const STANDING: RunStatus = {
  run_id: 'run',
  factory_uid: null,
  state: 'INPROGRESS',
  status_message: null,
  error_code: null,
  retryable: null,
  updated_at: 0,
};

/** A stream over a log that the test writes; `read` answers what it has told since the last time. */
function streaming(
  more: { status?: () => RunStatus; events?: (after: number) => StoredRunEvent[]; isAllowed?: () => boolean } = {},
) {
  let nowMs = 0;
  let goneCallback: () => void = () => undefined;
  const asked = { events: 0 };
  const runs = {
    status: async () => (more.status ?? (() => STANDING))(),
    events: async (_runId: string, after: number) => {
      asked.events += 1;
      return more.events?.(after) ?? [];
    },
  } as unknown as RunStore;
  const news = new RunNotifier(new Notices(() => undefined));
  const streams = new EventStreams(runs, news, { nowMs: () => nowMs, monotonicMs: () => nowMs }, {});
  const watch = (): Readable =>
    streams.watch({
      runId: 'run',
      after: 0,
      keyId: 'key',
      isAllowed: async () => more.isAllowed?.() ?? true,
      onceGone: (callback) => (goneCallback = callback),
    });
  let heard = '';
  const listen = (stream: Readable): Readable => stream.on('data', (chunk) => (heard += String(chunk)));
  const read = async (): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const text = heard;
    heard = '';
    return text;
  };
  return {
    watch,
    listen,
    read,
    asked,
    streams,
    tell: () => news.notifyWatchers('run'),
    goneAway: () => goneCallback(),
    pass: (ms: number) => (nowMs += ms),
  };
}

const entry = (seq: number, text = 'x'): StoredRunEvent => ({
  seq,
  kind: 'stdout',
  atMs: 0,
  body: JSON.stringify({ text }),
});

describe('a stream on which nothing happens', () => {
  it('shows that it lives, and tells what happens then', async () => {
    let log: StoredRunEvent[] = [];
    const { watch, listen, read, tell, pass, goneAway } = streaming({
      events: (after) => log.filter(({ seq }) => seq > after),
    });
    listen(watch());
    expect(await read()).toMatch(/^retry: \d+\n\nevent: state\ndata: \{"run_id":"run","state":"INPROGRESS"/);
    pass(14_999);
    tell();
    expect(await read()).toBe('');
    pass(1);
    tell();
    expect(await read()).toBe(': alive\n\n');
    log = [entry(1)];
    tell();
    expect(await read()).toMatch(/^id: 1\nevent: stdout\ndata: /);
    goneAway();
  });
});

describe('a stream that nobody reads', () => {
  it('asks for little and keeps little', async () => {
    const { watch, asked, goneAway } = streaming({
      events: (after) => Array.from({ length: 50 }, (_, n) => entry(after + n + 1, 'x'.repeat(16_384))),
    });
    const stream = watch();
    stream.on('readable', () => undefined); // it is piped, and the pipe is full
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(asked.events).toBeLessThanOrEqual(2);
    goneAway();
    stream.destroy();
  });
});

describe('a stream ends without a last word', () => {
  const collected = async (stream: Readable): Promise<string> => {
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    return text;
  };

  it.each([
    {
      more: {
        status: () => {
          throw new Error('away');
        },
      },
      why: 'the database is away',
    },
    {
      more: {
        events: () => {
          throw new Error('away');
        },
      },
      why: 'the log cannot be read',
    },
    { more: { isAllowed: () => false }, why: 'its key may see it no more' },
  ])('when $why: its client comes again', async ({ more }) => {
    const { watch } = streaming(more);
    expect(await collected(watch())).not.toMatch(/SUCCEEDED|FAILED|CANCELLED/);
  });

  it('when the key is revoked in between', async () => {
    let isAllowed = true;
    const { watch, tell, pass } = streaming({ isAllowed: () => isAllowed });
    const text = collected(watch());
    await new Promise((resolve) => setTimeout(resolve, 20));
    isAllowed = false;
    pass(2_000);
    tell();
    expect(await text).not.toContain('CANCELLED');
  });

  it('when the service stops, and none is opened any more', async () => {
    const { watch, streams } = streaming();
    const text = collected(watch());
    await new Promise((resolve) => setTimeout(resolve, 20));
    streams.end();
    await text;
    expect(watch).toThrow('the service stops');
  });
});

it('an ear misses nothing that is told while nobody waits, and hears nothing of other runs', async () => {
  const news = new RunNotifier(new Notices(() => undefined));
  const ear = news.listen('run');
  news.notifyWatchers('run');
  await ear.wait(60_000); // told already
  news.notifyWatchers('other');
  let isDone = false;
  const waiting = ear.wait(60_000).then(() => (isDone = true));
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(isDone).toBe(false);
  ear.close();
  await waiting;
  expect(ear.isClosed()).toBe(true);
});
