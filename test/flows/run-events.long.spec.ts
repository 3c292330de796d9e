/** A run's log as a stream: live, resumable, ended with the run, and only for who may see it. contract §2, §3.1. */
import { makeKey } from '../support/services/api-keys.ts';
import { openStream, type OpenStream } from '../support/network/event-stream.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, logOf, saidBy, SHELL, startedRun, wroteWord } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

let service: TestService;
let folder: FactoryFolder;
let ours: string;

beforeAll(async () => {
  service = await bootService({
    environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '4', MILLWRIGHT_SYNC_INTERVAL: '3600' },
  });
  folder = await factoryFolder({});
  ours = await service.factory('ours', folder.source);
});

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const textsOf = ({ events }: OpenStream, kind = 'stdout'): string =>
  events
    .filter(({ event }) => event === kind)
    .map(({ data }) => (data['payload'] as { text: string }).text)
    .join('');
const statesOf = ({ events }: OpenStream): unknown[] =>
  events.filter(({ event }) => event === 'state').map(({ data }) => data['state']);
const tells = (stream: OpenStream, text: string): Promise<true> =>
  eventually(`the stream tells ${text}`, () => (textsOf(stream).includes(text) ? (true as const) : undefined));
const cancel = (runId: string): Promise<unknown> => service.api('POST', `/agent/runs/${runId}/cancel`);

describe('the stream of a run', () => {
  it('tells what happens as it happens, and ends with the end', async () => {
    const runId = await startedRun(
      service,
      'echo one; while [ ! -e "$HOME/go" ]; do sleep 0.05; done; echo two; echo oops >&2; exit 3',
    );
    const stream = await openStream(service, runId);
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(stream.headers.get('cache-control')).toBe('no-store');
    await tells(stream, 'one');
    expect(textsOf(stream)).not.toContain('two'); // it is told while the run goes on
    await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'exit 0' });
    await cancel(runId);
    await stream.ended;
    expect(statesOf(stream).at(-1)).toBe('CANCELLED');
    expect(stream.events.at(-1)).toMatchObject({
      event: 'state',
      id: undefined,
      data: { run_id: runId, state: 'CANCELLED', status_message: { message: 'cancelled on request' } },
    });
  });

  it('has every entry once, in order, with its number as id, as the log has it', async () => {
    const runId = await startedRun(
      service,
      'i=0; while [ $i -lt 40 ]; do echo "line $i"; i=$((i+1)); sleep 0.02; done; echo err >&2; exit 1',
    );
    const stream = await openStream(service, runId);
    await stream.ended;
    const log = await logOf(service, runId);
    const told = stream.events.filter(({ event }) => event !== 'state');
    expect(told.map(({ data }) => data)).toEqual(log);
    expect(told.map(({ id, event }) => [id, event])).toEqual(
      log.map(({ seq, event_type: type }) => [String(seq), type]),
    );
    expect(statesOf(stream).at(-1)).toBe('FAILED');
    expect(new Set(statesOf(stream)).size).toBe(statesOf(stream).length); // each change once
  });

  it('of a run that has ended tells all of it and ends at once', async () => {
    const runId = await startedRun(service, 'echo all of it');
    await runIn(service, runId, ...ENDED);
    const stream = await openStream(service, runId);
    await stream.ended;
    expect(textsOf(stream)).toBe('all of it\n');
    expect(statesOf(stream)).toEqual(['SUCCEEDED']);
  });

  it('of a run that waits ends when it is cancelled, and tells why', async () => {
    const waiting = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    const runId = await startedRun(waiting, 'never');
    const stream = await openStream(waiting, runId);
    await eventually('it waits', () => (statesOf(stream).includes('QUEUED') ? true : undefined));
    await waiting.api('POST', `/agent/runs/${runId}/cancel`);
    await stream.ended;
    expect(statesOf(stream)).toEqual(['QUEUED', 'CANCELLED']);
    expect(stream.events.filter(({ event }) => event === 'status').map(({ data }) => data['payload'])).toEqual([
      { state: 'CANCELLED', message: 'cancelled before it started' },
    ]);
    await waiting.stop();
  });

  it('goes on over the end of an execution that a follow-up waits for', async () => {
    const runId = await startedRun(service, 'echo begun; sleep 1');
    await wroteWord(service, runId, 'begun');
    await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'echo and more' });
    const stream = await openStream(service, runId);
    await stream.ended;
    expect(textsOf(stream)).toBe('begun\nand more\n');
    expect(statesOf(stream).at(-1)).toBe('SUCCEEDED');
  });

  it('hears of what another process has stored', async () => {
    const runId = await startedRun(service, 'echo begun; sleep 30');
    const stream = await openStream(service, runId);
    await tells(stream, 'begun');
    const { database } = service.service;
    await database.source.query(
      'INSERT INTO run_event (run_id, seq, execution_id, at, kind, body) ' +
        'SELECT run_id, max(seq) + 1, max(execution_id), 1, \'stdout\', \'{"text":"from elsewhere"}\' ' +
        'FROM run_event WHERE run_id = ? GROUP BY run_id',
      [runId],
    );
    await tells(stream, 'from elsewhere');
    await cancel(runId);
    await stream.ended;
  });
});

describe('a client that comes again', () => {
  it('gets what it has missed, nothing twice, wherever it was cut off', async () => {
    const runId = await startedRun(service, 'for n in 1 2 3 4 5 6; do echo "line $n"; sleep 0.15; done');
    const whole = await openStream(service, runId);
    const seen: string[] = [];
    for (let last: string | undefined; ;) {
      const part = await openStream(service, runId, { lastEventId: last });
      const enough = eventually('something is told', () =>
        part.events.some(({ id }) => id !== undefined) ? true : undefined,
      ).catch(() => undefined);
      await Promise.race([enough, part.ended]);
      part.close();
      const told = part.events.filter(({ id }) => id !== undefined);
      seen.push(...told.map(({ id }) => String(id)));
      last = told.at(-1)?.id ?? last;
      if (part.events.at(-1)?.event === 'state' && ENDED.includes(String(part.events.at(-1)?.data['state']))) break;
    }
    await whole.ended;
    expect(seen).toEqual(whole.events.flatMap(({ id }) => id ?? []));
  });

  it('may say so in the query; the header goes first', async () => {
    const runId = await startedRun(service, 'echo x');
    await runIn(service, runId, ...ENDED);
    const count = (await logOf(service, runId)).length;
    const rest = async (options: Parameters<typeof openStream>[2]): Promise<number> => {
      const stream = await openStream(service, runId, options);
      await stream.ended;
      return stream.events.filter(({ id }) => id !== undefined).length;
    };
    expect(await rest({ query: '?after=1' })).toBe(count - 1);
    expect(await rest({ query: '?after=1', lastEventId: String(count) })).toBe(0);
    expect(await rest({ lastEventId: '999999' })).toBe(0);
    expect(await rest({ lastEventId: '' })).toBe(count);
  });

  it.each([['x'], ['-1'], ['1.5'], ['1e3'], ['99999999999999999999']])(
    'with the place %j is 400',
    async (lastEventId) => {
      const runId = await startedRun(service, 'exit 0');
      const stream = await openStream(service, runId, { lastEventId });
      expect(stream.status).toBe(400);
      await stream.ended;
    },
  );
});

describe('the Accept header', () => {
  let runId: string;
  beforeAll(async () => {
    runId = await startedRun(service, 'echo x');
    await runIn(service, runId, ...ENDED);
  });

  it.each([
    { accept: 'text/event-stream', type: 'text/event-stream', why: 'it is asked for' },
    { accept: '*/*', type: 'text/event-stream', why: 'it is what there is by itself' },
    { accept: 'application/json', type: 'application/json', why: 'JSON is asked for' },
    { accept: 'application/json, text/plain, */*', type: 'application/json', why: 'a client that knows of no streams' },
    { accept: 'text/event-stream, application/json', type: 'text/event-stream', why: 'both are fine' },
    { accept: 'text/event-stream;q=0.5, application/json', type: 'application/json', why: 'one is better' },
  ])('$accept is answered with $type: $why', async ({ accept, type }) => {
    const stream = await openStream(service, runId, { accept });
    expect([stream.status, stream.headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
    await stream.ended;
  });

  it('that excludes both is 406', async () => {
    expect((await openStream(service, runId, { accept: 'text/html' })).status).toBe(406);
  });
});

describe('streams of a key', () => {
  const opened = async (runId: string, key: string, count: number): Promise<OpenStream[]> =>
    Promise.all(Array.from({ length: count }, () => openStream(service, runId, { key })));

  it('are twenty at most, and one that is closed makes room', async () => {
    const key = await makeKey(service, 'viewer');
    const runId = await startedRun(service, 'sleep 60');
    const streams = await opened(runId, key, 20);
    expect(streams.every(({ status }) => status === 200)).toBe(true);
    const over = await service.api('GET', `/agent/runs/${runId}/events?limit=1`, undefined, key); // JSON is no stream
    expect(over.status).toBe(200);
    const refused = await openStream(service, runId, { key });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(
      (await openStream(service, runId, { key: await makeKey(service, 'viewer'), query: '?after=0' })).status,
    ).toBe(200); // another key's are its own
    streams[0]?.close();
    await eventually('there is room again', async () => {
      const next = await openStream(service, runId, { key });
      streams.push(next);
      return next.status === 200 ? true : undefined;
    });
    await cancel(runId);
    await Promise.all(streams.slice(1).map(({ ended }) => ended));
    // ended ones have made room
    expect((await opened(runId, key, 20)).every(({ status }) => status === 200)).toBe(true);
  });

  it('end within seconds when the key is revoked', async () => {
    const made = await service.api('POST', '/api-keys', { name: 'watcher', role: 'viewer' });
    const runId = await startedRun(service, 'echo begun; sleep 60');
    const stream = await openStream(service, runId, { key: String(made.body['key']) });
    await tells(stream, 'begun');
    const revoked = await service.api('DELETE', `/api-keys/${String(made.body['id'])}`);
    expect(revoked.status).toBe(204);
    await stream.ended;
    expect(statesOf(stream)).not.toContain('CANCELLED');
    await cancel(runId);
  });

  it('are of runs that the key may see: another one is as one that does not exist', async () => {
    const key = await makeKey(service, 'viewer', { factories: [ours] });
    const own = await startedRun(service, 'echo mine', { factory_uid: ours });
    await runIn(service, own, ...ENDED);
    expect((await openStream(service, own, { key })).status).toBe(200);
    const foreign = await startedRun(service, 'exit 0');
    const stream = await openStream(service, foreign, { key });
    expect(stream.status).toBe(404);
    const path = (runId: string): string => `/agent/runs/${runId}/events`;
    expect(saidBy(await service.api('GET', path(foreign), undefined, key))).toEqual(
      saidBy(await service.api('GET', path('00000000-0000-7000-8000-000000000000'), undefined, key)),
    );
  });
});

it('a service that stops does not wait for who watches', async () => {
  const stopping = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  const runId = await startedRun(stopping, 'never');
  const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(stopping, runId)));
  await stopping.stop();
  await Promise.all(streams.map(({ ended }) => ended));
  expect(streams.flatMap(statesOf)).not.toContain('CANCELLED');
});

describe('the log as JSON', () => {
  it.each([['after=x'], ['after=-1'], ['limit=0'], ['limit=1001']])('refuses %s', async (query) => {
    const runId = await startedRun(service, 'exit 0');
    expect((await service.api('GET', `/agent/runs/${runId}/events?${query}`)).status).toBe(400);
  });
});
