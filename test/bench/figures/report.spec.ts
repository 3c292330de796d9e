/** How a report of the benchmark reads. */
import { describe, expect, it } from '@jest/globals';
import { isMet, linesOf } from './report.ts';

describe('a report', () => {
  it('is a table with aims and notes: numbers to the right, words to the left', () => {
    const lines = linesOf({
      name: 'accept',
      title: 'accepted deliveries',
      columns: ['sender', '/s', 'of bare'],
      rows: [
        ['bare', 41_234.4, 1],
        ['standard_webhooks', 9_876, 0.2395],
        ['none', Number.NaN, ''],
      ],
      aims: [
        { what: 'token, of bare', wanted: { atLeast: 0.5 }, value: 0.4999 },
        { what: 'p99, of bare', wanted: { atMost: 5 }, value: 2 },
      ],
      remarks: ['on loopback'],
    });
    expect(lines).toEqual([
      'accept: accepted deliveries',
      'sender                /s  of bare',
      'bare               41234        1',
      'standard_webhooks   9876     0.24',
      'none                   –',
      'aim: token, of bare ≥ 0.50: 0.50 MISSED',
      'aim: p99, of bare ≤ 5: 2 met',
      'note: on loopback',
    ]);
  });

  it('without rows has no table', () => {
    expect(
      linesOf({ name: 'replicas', title: 'several processes', columns: [], rows: [], aims: [], remarks: ['SKIPPED'] }),
    ).toEqual(['replicas: several processes', 'note: SKIPPED']);
  });
});

describe('an aim', () => {
  it.each([
    { wanted: { atLeast: 0.5 }, value: 0.5, met: true, why: 'exactly what was wanted is enough' },
    { wanted: { atLeast: 0.5 }, value: 0.4999, met: false, why: 'nothing is rounded in its favour' },
    { wanted: { atMost: 0 }, value: 0, met: true, why: 'no errors' },
    { wanted: { atMost: 0 }, value: 1, met: false, why: 'one error' },
    { wanted: { atLeast: 0.5 }, value: Number.NaN, met: false, why: 'what was not measured is not met' },
    { wanted: { atMost: 5 }, value: Number.NaN, met: false, why: 'what was not measured is not met' },
  ])('$why: $value', ({ wanted, value, met }) => {
    expect(isMet({ what: 'it', wanted, value })).toBe(met);
  });
});
