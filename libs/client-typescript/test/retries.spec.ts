/** Pauses: what the service asks for in each form, and what is made of it. */
import { askedPauseMs, pauseMs, reconnectPauseMs } from '../src/retries.ts';
import type { Clock } from '../src/index.ts';

const NOW = Date.parse('Sun, 22 Nov 2026 10:00:00 GMT');

function clockOf(random: number): Clock {
  return { nowMs: () => 0, dateMs: () => NOW, random: () => random, after: () => () => undefined };
}

it.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ 'retry-after': '3' }, 3_000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1_500],
  [{ 'retry-after': ' 2 ' }, 2_000],
  [{ 'retry-after': '3600' }, 3_600_000],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '1e3' }, undefined],
  [{ 'retry-after': '0x10' }, undefined],
  [{ 'retry-after': 'Infinity' }, undefined],
  [{ 'retry-after': '3, 4' }, undefined],
  [{ 'retry-after': 'Sun, 22 Nov 2026 10:00:07 GMT' }, 7_000],
  [{ 'retry-after': 'Sunday, 22-Nov-26 10:00:07 GMT' }, 7_000],
  [{ 'retry-after': 'Sun, 22 Nov 2026 10:00:00 GMT' }, 0],
  [{ 'retry-after': 'Sun, 22 Nov 2026 09:59:59 GMT' }, undefined],
  [{ 'retry-after': 'Sun, 99 Nov 2026 10:00:07 GMT' }, undefined],
  [{ 'retry-after': '2026-11-22T10:00:07Z' }, undefined],
  [{ 'retry-after-ms': '250' }, 250],
  [{ 'retry-after-ms': '250.5' }, 250.5],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after-ms': '-5', 'retry-after': '9' }, 9_000],
  [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9_000],
])('%j asks for %s ms', (headers, expected) => {
  expect(askedPauseMs(new Headers(headers), clockOf(0))).toBe(expected);
});

it('what is asked for is kept to the letter, up to a minute', () => {
  for (const [asked, expected] of [
    ['1', 1_000],
    ['60', 60_000],
    ['61', 60_000],
    ['0', 0],
  ] as const) {
    expect(pauseMs(5, new Headers({ 'retry-after': asked }), clockOf(0.9))).toBe(expected);
  }
});

it('otherwise it doubles from half a second to eight, up to a quarter shorter by chance', () => {
  expect([0, 1, 2, 3, 4, 5, 50, 2_000].map((retries) => pauseMs(retries, undefined, clockOf(0)))).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000,
  ]);
  expect([0, 1, 4].map((retries) => pauseMs(retries, new Headers(), clockOf(1)))).toEqual([375, 750, 6_000]);
});

it('a stream is never opened again without a pause, whatever the service asks for', () => {
  const clock = { nowMs: () => 0, dateMs: () => 0, random: () => 0, after: () => () => undefined };
  const asked = (value: string): Headers => new Headers({ 'retry-after': value });
  expect([0, 1, 2].map((losses) => reconnectPauseMs(losses, asked('0'), clock))).toEqual([500, 1_000, 2_000]);
  expect([asked('3'), asked('600'), undefined].map((headers) => reconnectPauseMs(0, headers, clock))).toEqual([
    3_000, 60_000, 500,
  ]);
});
