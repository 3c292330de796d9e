/** Checks, answers, retention and starts: the tables of the ingress. */
import { compileFilter, UNREADABLE_FILTER, type CompiledFilter, type JsonValue } from '#filters';
import {
  acceptedBody,
  BODY_BYTES_MAX,
  CHECKS,
  decideRuns,
  decideRunsInSteps,
  decisionReadsMax,
  INGRESS_ANSWERS,
  OUTCOMES,
  REFUSALS,
  retentionClass,
  type IngressRefusal,
  type OutcomeKind,
} from './index.ts';

/** Looks of one step of a filter, at most. */
const STEP_READS_MAX = 4_096;

describe('CHECKS', () => {
  it.each([
    { mode: 'token', before: 'credential', after: 'size', why: 'an unauthenticated sender costs no body' },
    { mode: 'url_token', before: 'credential', after: 'size', why: 'an unauthenticated sender costs no body' },
    {
      mode: 'signature',
      before: 'size',
      after: 'signature',
      why: 'the signature needs the whole body, so the body must be bounded first',
    },
    { mode: 'signature', before: 'signature', after: 'rate', why: 'only authenticated deliveries take slots' },
    { mode: 'token', before: 'size', after: 'rate', why: 'contract §5, step 3 before step 4' },
    { mode: 'token', before: 'rate', after: 'json', why: 'an invalid body keeps its slot' },
    { mode: 'signature', before: 'rate', after: 'json', why: 'an invalid body keeps its slot' },
    { mode: 'url_token', before: 'json', after: 'identity', why: 'only valid deliveries are named' },
  ] as const)('$mode: $before before $after, because $why', ({ mode, before, after }) => {
    const order: readonly string[] = CHECKS[mode];
    expect(order).toContain(before);
    expect(order.indexOf(before)).toBeLessThan(order.indexOf(after));
  });

  it('asks every mode for exactly one proof', () => {
    for (const order of Object.values(CHECKS))
      expect(order.filter((check) => check === 'credential' || check === 'signature')).toHaveLength(1);
  });
});

describe('REFUSALS and INGRESS_ANSWERS', () => {
  it.each<{ refusal: IngressRefusal; status: number; label: string | undefined; why: string }>([
    { refusal: 'not-post', status: 405, label: undefined, why: 'before anything is looked up' },
    { refusal: 'not-found', status: 404, label: undefined, why: 'not logged' },
    { refusal: 'unauthenticated', status: 401, label: 'Rejected (auth)', why: 'spec: Errors' },
    { refusal: 'failures-over-budget', status: 429, label: undefined, why: 'not logged' },
    { refusal: 'too-large', status: 413, label: 'Rejected (too large)', why: 'spec: Errors' },
    { refusal: 'too-large-unauthenticated', status: 413, label: 'Rejected (too large)', why: 'spec: Errors' },
    { refusal: 'over-rate', status: 429, label: 'Throttled', why: 'counted by the minute: contract §5.6' },
    { refusal: 'invalid-json', status: 400, label: 'Rejected (invalid JSON)', why: 'spec: Errors' },
    { refusal: 'unavailable', status: 503, label: undefined, why: 'the delivery may come again' },
  ])('$refusal → $status $label: $why', ({ refusal, status, label }) => {
    const rule = REFUSALS[refusal];
    expect(rule.status).toBe(status);
    expect(rule.outcome && OUTCOMES[rule.outcome]).toBe(label);
    expect(rule.retryAfter === true).toBe(status === 429 || status === 503);
  });

  it('answer a failed credential over the failure budget otherwise, and nothing else', () => {
    const changed = (Object.keys(REFUSALS) as IngressRefusal[]).flatMap((refusal) => {
      const { overBudget } = REFUSALS[refusal];
      return overBudget === undefined ? [] : [[refusal, overBudget]];
    });
    expect(changed).toEqual([['unauthenticated', 'failures-over-budget']]);
  });

  it('answers constant JSON with one text for each status', () => {
    for (const { body } of Object.values(INGRESS_ANSWERS))
      expect(Object.keys(JSON.parse(body) as object)).toEqual(['error']);
    expect(INGRESS_ANSWERS[400].body).toBe('{"error": "body is not valid JSON"}');
    expect(INGRESS_ANSWERS[405].headers).toEqual({ allow: 'POST' });
    expect(INGRESS_ANSWERS[413].body).toContain(String(BODY_BYTES_MAX));
    expect(JSON.parse(acceptedBody('a"\\b'))).toEqual({ delivery_id: 'a"\\b' });
  });
});

describe('retentionClass', () => {
  it('counts Accepted and Duplicate together and every refusal together', () => {
    const classes = (Object.keys(OUTCOMES) as OutcomeKind[]).map((outcome) => [outcome, retentionClass(outcome)]);
    expect(classes).toEqual([
      ['accepted', 'accepted'],
      ['duplicate', 'accepted'],
      ['rejectedAuth', 'rejected'],
      ['rejectedInvalidJson', 'rejected'],
      ['rejectedTooLarge', 'rejected'],
      ['throttled', 'rejected'],
    ]);
  });
});

describe('decideRuns', () => {
  function filterOf(filter: JsonValue): CompiledFilter {
    const compiled = compileFilter(filter);
    if (!compiled.ok) throw new Error('bad filter');
    return compiled.filter;
  }
  const every = filterOf({});
  const opened = filterOf({ action: ['opened'] });
  const on = (
    id: string,
    filter: CompiledFilter,
    enabled = true,
    webhookUids = ['wh_a'],
  ): Parameters<typeof decideRuns>[0][number] => ({
    id,
    enabled,
    webhookUids,
    filter,
  });
  const payload = { action: 'closed' };

  it.each([
    { rows: [], expected: { starts: [], skipped: [] }, why: 'nobody subscribes' },
    {
      rows: [on('a', every), on('b', every)],
      expected: { starts: ['a', 'b'], skipped: [] },
      why: 'each matching automation, in order',
    },
    {
      rows: [on('a', every, true, ['wh_b'])],
      expected: { starts: [], skipped: [] },
      why: "another webhook's subscriber is not mentioned",
    },
    {
      rows: [on('a', every, true, ['wh_b', 'wh_a'])],
      expected: { starts: ['a'], skipped: [] },
      why: 'one of several webhooks',
    },
    {
      rows: [on('a', every, false)],
      expected: { starts: [], skipped: [{ id: 'a', reason: 'disabled' }] },
      why: 'disabled, whatever the filter',
    },
    {
      rows: [on('a', opened)],
      expected: { starts: [], skipped: [{ id: 'a', reason: 'filter', failedPointer: '/action', operator: 'in' }] },
      why: 'the first failing key, never its value',
    },
    {
      rows: [on('a', UNREADABLE_FILTER)],
      expected: { starts: [], skipped: [{ id: 'a', reason: 'filter-unreadable' }] },
      why: 'never matches, and says so',
    },
    {
      rows: [on('a', opened), on('a', every)],
      expected: { starts: ['a'], skipped: [] },
      why: 'one of its triggers matches',
    },
    {
      rows: [on('a', every), on('a', every)],
      expected: { starts: ['a'], skipped: [] },
      why: 'at most one run per automation and delivery',
    },
    {
      rows: [on('a', opened), on('a', UNREADABLE_FILTER)],
      expected: { starts: [], skipped: [{ id: 'a', reason: 'filter', failedPointer: '/action', operator: 'in' }] },
      why: 'skipped once, with the first reason',
    },
  ])('$why', ({ rows, expected }) => {
    expect(decideRuns(rows, 'wh_a', payload)).toEqual(expected);
  });

  const inSteps = (rows: Parameters<typeof decideRuns>[0], value: JsonValue, readsMax?: number) => {
    const steps = decideRunsInSteps(rows, 'wh_a', value, readsMax);
    for (let reads = 0; ;) {
      const step = steps.next();
      if (step.done === true) return { result: step.value, reads };
      reads += step.value;
    }
  };
  const unreadable = on('u', UNREADABLE_FILTER);
  const LONG = { action: Array.from({ length: 20_000 }, () => 'closed') };

  it.each([payload, { action: 'opened' }, {}, [], LONG])('decides the same in steps of %j', (value) => {
    const rows = [on('a', opened), on('b', every), on('c', opened, false), unreadable, on('a', every), on('d', opened)];
    expect(inSteps(rows, value).result).toEqual(decideRuns(rows, 'wh_a', value));
    expect(inSteps(rows, value).reads).toBeLessThanOrEqual(
      decisionReadsMax(rows, Buffer.byteLength(JSON.stringify(value))),
    );
  });

  it('asks no further filter once they took all the looks that there are, and says so of each', () => {
    const rows = [
      on('a', every),
      ...['b', 'c', 'd'].map((id) => on(id, opened)),
      on('e', every),
      on('f', every, false),
    ];
    const { result, reads } = inSteps([...rows, on('a', opened)], LONG, 30_000);
    expect(result).toEqual({
      starts: ['a'],
      skipped: [
        { id: 'b', reason: 'filter', failedPointer: '/action', operator: 'in' },
        { id: 'c', reason: 'filter-budget' },
        { id: 'd', reason: 'filter-budget' },
        { id: 'e', reason: 'filter-budget' },
        { id: 'f', reason: 'disabled' },
      ],
    });
    expect(reads).toBeLessThan(30_000 + 2 * STEP_READS_MAX); // a step more than there are, and a little
  });

  it.each([[[]], ['text'], [null], [7]])('an empty filter takes %j', (value) => {
    expect(decideRuns([on('a', every)], 'wh_a', value as JsonValue).starts).toEqual(['a']);
  });

  it('is safe on a payload of any nesting', () => {
    const deep = JSON.parse(`{"action":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as JsonValue;
    expect(decideRuns([on('a', opened)], 'wh_a', deep).skipped).toHaveLength(1);
  });
});
