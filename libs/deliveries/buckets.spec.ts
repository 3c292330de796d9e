/** Requests of a caller: how many at once, how they flow back, what the clock may do. */
import { drawRequest, type Draw } from './buckets.ts';

/** Draws at each time in order; answers the last draw. */
function drawAll(times: readonly number[], perMinute: number): Draw {
  let last: Draw | undefined;
  for (const at of times) last = drawRequest(last?.fullAtMs, at, perMinute);
  if (last === undefined) throw new Error('nothing was drawn');
  return last;
}

const times = (count: number, at: number): number[] => Array.from({ length: count }, () => at);

describe('a bucket', () => {
  const cases: { why: string; times: number[]; perMinute: number; expected: Partial<Draw> }[] = [
    {
      why: 'is full at first',
      times: [0],
      perMinute: 60,
      expected: { ok: true, remaining: 59, resetSeconds: 1, retryAfterSeconds: 0 },
    },
    {
      why: 'gives its last request',
      times: times(60, 0),
      perMinute: 60,
      expected: { ok: true, remaining: 0, resetSeconds: 60 },
    },
    {
      why: 'gives no more than that',
      times: times(61, 0),
      perMinute: 60,
      expected: { ok: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 1 },
    },
    {
      why: 'is not made emptier by refusals',
      times: [...times(200, 0), 1_000],
      perMinute: 60,
      expected: { ok: true, remaining: 0 },
    },
    {
      why: 'gives nothing a moment too early',
      times: [...times(60, 0), 999],
      perMinute: 60,
      expected: { ok: false, retryAfterSeconds: 1 },
    },
    {
      why: 'is full again after a minute',
      times: [...times(60, 0), 60_000],
      perMinute: 60,
      expected: { ok: true, remaining: 59 },
    },
    {
      why: 'never holds more than a minute’s worth',
      times: [0, 10_000_000],
      perMinute: 60,
      expected: { ok: true, remaining: 59 },
    },
    {
      why: 'of one a minute says how long to wait',
      times: [0, 0],
      perMinute: 1,
      expected: { ok: false, retryAfterSeconds: 60, resetSeconds: 60 },
    },
    { why: 'rounds a wait up', times: [0, 500], perMinute: 1, expected: { ok: false, retryAfterSeconds: 60 } },
    {
      why: 'of a rate that is no divisor of a minute',
      times: times(7, 0),
      perMinute: 7,
      expected: { ok: true, remaining: 0 },
    },
    {
      why: 'of a rate that is no divisor of a minute ends too',
      times: times(8, 0),
      perMinute: 7,
      expected: { ok: false, retryAfterSeconds: 9 },
    },
    { why: 'of a great rate', times: times(1_000_000, 0), perMinute: 1_000_000, expected: { ok: true, remaining: 0 } },
    {
      why: 'a clock that goes back half a minute: empty at worst',
      times: [30_000, 30_000, 0],
      perMinute: 2,
      expected: { ok: true, remaining: 1 },
    },
    {
      why: 'a clock that goes back an hour costs nobody anything',
      times: [3_600_000, 3_600_000, 0],
      perMinute: 2,
      expected: { ok: true, remaining: 1 },
    },
  ];
  it.each(cases)('$why', ({ times: at, perMinute, expected }) =>
    expect(drawAll(at, perMinute)).toMatchObject(expected),
  );

  it('gives in the long run what its rate says, however it is drawn from', () => {
    let fullAtMs: number | undefined;
    let given = 0;
    for (let at = 0; at < 600_000; at += 7) {
      const draw = drawRequest(fullAtMs, at, 300);
      fullAtMs = draw.fullAtMs;
      if (draw.ok) given += 1;
    }
    expect(given).toBeGreaterThanOrEqual(300 + 2_999);
    expect(given).toBeLessThanOrEqual(300 + 3_001);
  });

  it('announces waits that come true', () => {
    const empty = drawAll(times(5, 0), 4);
    expect(drawRequest(empty.fullAtMs, empty.retryAfterSeconds * 1000, 4).ok).toBe(true);
  });
});
