/** Waiting for a run, on a clock that the test moves. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../src/clock.ts';
import {
  APIConnectionError,
  MillwrightError,
  UserAbortError,
  WaitEndedError,
  WaitTimeoutError,
} from '../src/errors.ts';
import type { RunItem } from '../src/models.ts';
import { waitForRun, type RunWaitParams } from '../src/resources/agent/waiting.ts';

/** Moves on to the next timer whenever everybody waits. */
class SteppingClock implements Clock {
  now = 0;
  readonly #timers: { at: number; callback: () => void }[] = [];
  nowMs = (): number => this.now;
  dateMs = (): number => this.now;
  random = (): number => 0;
  after = (ms: number, callback: () => void): (() => void) => {
    const timer = { at: this.now + ms, callback };
    this.#timers.push(timer);
    return () => this.#remove(timer);
  };
  async runUntil(promise: Promise<unknown>): Promise<void> {
    let isOver = false;
    void promise.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    for (;;) {
      await turn();
      if (isOver) return;
      const [next] = this.#timers.toSorted((one, other) => one.at - other.at);
      if (next === undefined) throw new Error('nothing to wait for');
      this.#remove(next);
      this.now = Math.max(this.now, next.at);
      next.callback();
    }
  }
  #remove(timer: { at: number; callback: () => void }): void {
    const index = this.#timers.indexOf(timer);
    if (index >= 0) this.#timers.splice(index, 1);
  }
}

const inState = (state: string): RunItem => ({ run_id: 'r', state }) as RunItem;

/**
 * Waits for a run that shows these states one after the other, the last one for ever; answers when it was asked for.
 */
async function waitThrough(states: string[], params: RunWaitParams = {}, signal?: AbortSignal) {
  const clock = new SteppingClock();
  const askedAt: number[] = [];
  const retrieve = async (): Promise<RunItem> => {
    askedAt.push(clock.now);
    return inState(states[Math.min(askedAt.length, states.length) - 1]!);
  };
  const waiting = waitForRun(retrieve, clock, params, { signal });
  await clock.runUntil(waiting);
  return { askedAt, result: await waiting.catch((error: unknown) => error) };
}

describe('waiting for a run', () => {
  it('asks at once, and answers a run that has ended', async () => {
    expect(await waitThrough(['FAILED'])).toEqual({ askedAt: [0], result: inState('FAILED') });
  });

  it('asks ever more seldom, at last every five seconds', async () => {
    const { askedAt } = await waitThrough([...Array.from({ length: 9 }, () => 'INPROGRESS'), 'SUCCEEDED']);
    expect(askedAt.slice(1).map((at, index) => at - askedAt[index]!)).toEqual([
      500, 750, 1125, 1687.5, 2531.25, 3796.875, 5000, 5000, 5000,
    ]);
  });

  it('asks in pauses that are given', async () => {
    expect((await waitThrough(['QUEUED', 'QUEUED', 'CANCELLED'], { pollInterval: 40 })).askedAt).toEqual([0, 40, 80]);
  });

  it.each([['BLOCKED'], [['BLOCKED', 'ERROR']]] as const)(
    'ends in the states that are asked for: %j',
    async (until) => {
      expect((await waitThrough(['INPROGRESS', 'BLOCKED', 'SUCCEEDED'], { until })).result).toEqual(inState('BLOCKED'));
    },
  );

  it('goes on in a state that it does not know', async () => {
    expect((await waitThrough(['DREAMING', 'SUCCEEDED'])).result).toEqual(inState('SUCCEEDED'));
  });

  it('is given up after its time, with the run as it was last', async () => {
    const { askedAt, result } = await waitThrough(['QUEUED', 'INPROGRESS'], { timeout: 1_000 });
    expect(askedAt).toEqual([0, 500, 1_000]);
    expect(result).toBeInstanceOf(WaitTimeoutError);
    expect((result as WaitTimeoutError).run).toEqual(inState('INPROGRESS'));
    expect((result as WaitTimeoutError).message).toContain('INPROGRESS');
  });

  it.each<RunWaitParams>([
    { timeout: -1 },
    { timeout: Number.NaN },
    { timeout: '5' as never },
    { pollInterval: -1 },
    { pollInterval: Number.NaN },
  ])('times that are none are refused before anything is asked: %j', async (params) => {
    const { askedAt, result } = await waitThrough(['SUCCEEDED'], params);
    expect(askedAt).toEqual([]);
    expect(result).toBeInstanceOf(MillwrightError);
    expect((result as Error).message).toBe(`${Object.keys(params)[0]} must be a number of milliseconds, 0 or more`);
  });

  it('looks once where there is no time', async () => {
    expect((await waitThrough(['SUCCEEDED'], { timeout: 0 })).result).toEqual(inState('SUCCEEDED'));
    expect((await waitThrough(['QUEUED'], { timeout: 0 })).result).toBeInstanceOf(WaitTimeoutError);
  });

  it('is over in time when the service does not answer', async () => {
    const clock = new SteppingClock();
    const silent = (signal: AbortSignal | undefined): Promise<RunItem> =>
      new Promise((_, reject) => signal!.addEventListener('abort', () => reject(new UserAbortError(signal!.reason))));
    const waiting = waitForRun(silent, clock, { timeout: 3_000 });
    await clock.runUntil(waiting);
    const error = await waiting.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect([(error as WaitTimeoutError).run, clock.now]).toEqual([undefined, 3_000]);
  });

  it('goes on over a loss, and is given up when nothing was heard for too long', async () => {
    const loss = new APIConnectionError('h cannot be reached: the connection was cut');
    const clock = new SteppingClock();
    const askedAt: number[] = [];
    const isUp = (): boolean => clock.now < 1_000 || clock.now >= 50_000;
    const retrieve = async (): Promise<RunItem> => {
      askedAt.push(clock.now);
      if (!isUp()) throw loss;
      return inState(askedAt.length > 1 ? 'SUCCEEDED' : 'QUEUED');
    };
    const waiting = waitForRun(retrieve, clock, { pollInterval: 1_000 });
    await clock.runUntil(waiting);
    expect(await waiting).toEqual(inState('SUCCEEDED'));
    expect(askedAt).toEqual([0, 1_000, 1_500, 2_500, 4_500, 8_500, 16_500, 24_500, 32_500, 40_500, 48_500, 56_500]);

    const away = waitForRun(() => Promise.reject(loss), clock, {}, { reconnectTimeout: 2_000 });
    const beganAt = clock.now;
    await clock.runUntil(away);
    await expect(away).rejects.toBe(loss);
    expect(clock.now - beganAt).toBe(1_500);
  });

  it('its time goes before that of an outage', async () => {
    const clock = new SteppingClock();
    const waiting = waitForRun(
      () => Promise.reject(new APIConnectionError('away')),
      clock,
      { timeout: 3_000 },
      { reconnectTimeout: null },
    );
    await clock.runUntil(waiting);
    await expect(waiting).rejects.toMatchObject({ name: 'WaitTimeoutError', run: undefined });
    expect(clock.now).toBe(3_000);
  });

  it('a run that ends otherwise is not waited for', async () => {
    const { askedAt, result } = await waitThrough(['INPROGRESS', 'FAILED'], { until: ['BLOCKED', 'SUCCEEDED'] });
    expect(askedAt).toHaveLength(2);
    expect(result).toBeInstanceOf(WaitEndedError);
    expect(result).toMatchObject({
      message: 'the run has ended as FAILED, and will not become BLOCKED or SUCCEEDED',
      run: inState('FAILED'),
    });
  });

  it.each([['DONE'], [[]], [['SUCCEEDED', 'succeeded']], [null], ['toString']])(
    'states that are none are refused: %j',
    async (until) => {
      const { askedAt, result } = await waitThrough(['QUEUED'], { until: until as never });
      expect(askedAt).toEqual([]);
      expect((result as Error).message).toBe(
        'until must be one or more of QUEUED, CLAIMED, PENDING, INPROGRESS, BLOCKED, SUCCEEDED, FAILED, ERROR, ' +
          'CANCELLED',
      );
    },
  );

  it('throws what asking throws', async () => {
    const refused = new Error('404');
    await expect(waitForRun(() => Promise.reject(refused), new SteppingClock(), { timeout: 5 })).rejects.toBe(refused);
  });

  it.each([[{}], [{ timeout: 60_000 }]])('is ended by its signal in a pause: %j', async (params) => {
    const leaving = new AbortController();
    const clock = new SteppingClock();
    const waiting = waitForRun(async () => inState('QUEUED'), clock, params, { signal: leaving.signal });
    await turn();
    leaving.abort('enough');
    const error = await waiting.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserAbortError);
    expect((error as UserAbortError).cause).toBe('enough');
  });
});
