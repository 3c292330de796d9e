/** Payloads and decisions come back from the log as they were, however short they are stored. contract §5.9 (Log). */
import { randomBytes } from 'node:crypto';
import {
  decodePayload,
  encodePayload,
  formatDecision,
  type LoggedDecision,
  parseDecision,
} from './delivery-entries.ts';

describe('a payload', () => {
  it.each([
    { body: Buffer.alloc(0), encoding: 'identity', why: 'nothing to compress' },
    { body: Buffer.from('{"a":1}'), encoding: 'identity', why: 'too small to be worth it' },
    { body: Buffer.alloc(2_047, 'a'), encoding: 'identity', why: 'just below the bound' },
    { body: Buffer.alloc(2_048, 'a'), encoding: 'deflate-raw', why: 'at the bound' },
    { body: Buffer.alloc(262_144, '{"key":"value"}'), encoding: 'deflate-raw', why: 'the largest body' },
    { body: randomBytes(262_144), encoding: 'identity', why: 'would only grow' },
  ])('comes back byte for byte: $why', ({ body, encoding }) => {
    const { payload, payloadEncoding } = encodePayload(body);
    expect(payloadEncoding).toBe(encoding);
    expect(payload.length).toBeLessThanOrEqual(body.length);
    expect(Buffer.compare(decodePayload({ bytes: payload, encoding: payloadEncoding }), body)).toBe(0);
  });
});

describe('a decision', () => {
  const started = [
    { automation_id: 'auto_a', run_id: '01a20ae6-096b-718b-aa55-f6445023b87e' },
    { automation_id: 'auto_b', run_id: '01a20ae6-096b-718c-9bdf-a071217257b1' },
  ];
  const skipped = [{ automation_id: 'auto_c', reason: 'filter', failed_pointer: '/a b=c', operator: 'in' }];

  it.each<{ decision: LoggedDecision; text: string; why: string }>([
    { decision: { started: [], skipped: [] }, text: '', why: 'nothing was asked' },
    {
      decision: { started: started.slice(0, 1), skipped: [] },
      text: 'auto_a~AaIK5glrcYuqVfZEUCO4fg',
      why: 'one run',
    },
    {
      decision: { started, skipped: [] },
      text: 'auto_a~AaIK5glrcYuqVfZEUCO4fg auto_b~AaIK5glrcYyb36BxIXJXsQ',
      why: 'several runs',
    },
    { decision: { started, skipped }, text: JSON.stringify({ started, skipped }), why: 'something was skipped' },
  ])('comes back from its short text and from JSON: $why', ({ decision, text }) => {
    expect(formatDecision(decision)).toBe(text);
    expect(parseDecision(text)).toEqual(decision);
    // As versions of before have written it.
    expect(parseDecision(JSON.stringify(decision))).toEqual(decision);
    const digits = decision.started.map(({ automation_id: id, run_id: runId }) => `${id}=${runId}`).join(' ');
    if (decision.skipped.length === 0) expect(parseDecision(digits)).toEqual(decision);
  });

  it('with an ID of a run that is no UUID comes back too', () => {
    for (const runId of ['', 'x', '01A20AE6-096B-718B-AA55-F6445023B87E']) {
      const decision = { started: [{ automation_id: 'auto_a', run_id: runId }], skipped: [] };
      expect(parseDecision(formatDecision(decision))).toEqual(decision);
    }
  });
});
