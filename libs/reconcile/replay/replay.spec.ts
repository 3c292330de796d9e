/**
 * What a plan would have started: every way in which it can decide otherwise over deliveries that came before it.
 * contract §12.1 (Plan).
 */
import type { AutomationDefinition, Definitions, WebhookDefinition } from '#definitions';
import { compileFilter, type JsonValue } from '#filters';
import {
  firesFor,
  plan,
  REPLAY_DELIVERIES_MAX,
  replayLog,
  replayOf,
  replaySubjects,
  replayWindow,
  samplePayloadOf,
  unreadableFilters,
  withoutDeletions,
  type Actual,
  type AppliedObject,
  type Replay,
} from '../index.ts';

const webhook = (name: string, enabled = true): WebhookDefinition => ({
  name,
  path: `webhooks/${name}.yaml`,
  authMode: 'token',
  secretName: 's',
  enabled,
});
const automation = (
  name: string,
  webhooks: string[],
  payload?: JsonValue,
  more: Partial<AutomationDefinition> = {},
): AutomationDefinition => ({
  name,
  path: `automations/${name}/automation.md`,
  enabled: true,
  prompt: 'p',
  agent: {},
  triggers: [
    {
      provider: 'webhook',
      webhookUids: webhooks.map((slug) => `wh_${slug}`),
      ...(payload === undefined ? {} : { payload }),
    },
  ],
  ...more,
});
const uidOf = (kind: string, slug: string): string => `${kind === 'webhook' ? 'wh' : kind}_${slug}`;
type Side = (WebhookDefinition | AutomationDefinition)[];
const isWebhook = (one: Side[number]): one is WebhookDefinition => 'authMode' in one;

function actualOf(side: Side): Actual {
  const objects = side.map((definition) => {
    const kind = isWebhook(definition) ? 'webhook' : 'automation';
    return {
      kind,
      uid: uidOf(kind, definition.name),
      slug: definition.name,
      path: definition.path,
      definition,
    } as AppliedObject;
  });
  return { factory: { applyMode: 'atomic' }, objects };
}

function desiredOf(side: Side): Definitions {
  return {
    factory: { applyMode: 'atomic' },
    webhooks: side.filter(isWebhook),
    automations: side.filter((one) => !isWebhook(one)) as AutomationDefinition[],
    environments: [],
    skills: [],
  };
}

const ISSUES = { action: ['opened'] };
/** Oldest first; the log names them by time. */
const STORED: { entryId: string; webhookUid: string; payload: JsonValue }[] = [
  { entryId: 'e1', webhookUid: 'wh_a', payload: { action: 'opened' } },
  { entryId: 'e2', webhookUid: 'wh_b', payload: { action: 'opened' } },
  { entryId: 'e3', webhookUid: 'wh_a', payload: { action: 'closed' } },
  { entryId: 'e4', webhookUid: 'wh_a', payload: [] },
];

/** All the steps, whatever work they are. */
function done<Result>(steps: Generator<number, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The work of the steps. */
function workOf(steps: Generator<number, unknown>): number {
  return [...steps].reduce((sum, units) => sum + units, 0);
}

/** Replays of a change from one side to the other, by what changes. */
function replays(before: Side, after: Side, stored = STORED, held = false): Record<string, Replay> {
  const [actual, desired] = [actualOf(before), desiredOf(after)];
  const whole = plan(desired, actual, { heldPaths: [], brokenPaths: [], applyMode: 'atomic', uidOf });
  const subjects = replaySubjects(held ? withoutDeletions(whole) : whole, actual, desired, held);
  return Object.fromEntries(
    subjects.map((subject) => {
      const firings = done(replayWindow(subject, replayLog(stored))).map(({ entryId, webhookUid }) => {
        const payload = stored.find((each) => each.entryId === entryId)?.payload;
        return {
          entryId,
          fires: payload === undefined ? undefined : done(firesFor(subject, webhookUid, samplePayloadOf(payload))),
        };
      });
      return [
        `${subject.change.action} ${subject.change.slug}`,
        replayOf({ firings, filtersUnreadable: done(unreadableFilters(subject)), cut: false }),
      ];
    }),
  );
}

const A = webhook('a');
const B = webhook('b');
const EMPTY = { starts: [], stops: [], unreadable: 0, filtersUnreadable: 0, cut: false };

describe('a replay', () => {
  it.each<[string, Side, Side, Record<string, Partial<Replay>>]>([
    [
      'a filter that becomes narrower',
      [A, automation('x', ['a'])],
      [A, automation('x', ['a'], ISSUES)],
      { 'update x': { deliveries: 3, before: 3, after: 1, starts: [], stops: ['e4', 'e3'] } },
    ],
    [
      'a filter that goes',
      [A, automation('x', ['a'], ISSUES)],
      [A, automation('x', ['a'])],
      { 'update x': { before: 1, after: 3, starts: ['e4', 'e3'], stops: [] } },
    ],
    [
      'another webhook: deliveries of both are asked',
      [A, B, automation('x', ['a'], ISSUES)],
      [A, B, automation('x', ['b'], ISSUES)],
      { 'update x': { deliveries: 4, before: 1, after: 1, starts: ['e2'], stops: ['e1'] } },
    ],
    [
      'an automation that is disabled',
      [A, automation('x', ['a'])],
      [A, automation('x', ['a'], undefined, { enabled: false })],
      { 'update x': { before: 3, after: 0 } },
    ],
    [
      'an automation that comes',
      [A],
      [A, automation('x', ['a'], ISSUES)],
      { 'create x': { before: 0, after: 1, starts: ['e1'] } },
    ],
    [
      'an automation that goes',
      [A, automation('x', ['a'], ISSUES)],
      [A],
      { 'delete x': { before: 1, after: 0, stops: ['e1'] } },
    ],
    [
      'a prompt decides nothing',
      [A, automation('x', ['a'])],
      [A, automation('x', ['a'], undefined, { prompt: 'other' })],
      {},
    ],
    [
      'a schedule is no delivery',
      [automation('x', [], undefined, { triggers: [] })],
      [automation('x', [], undefined, { triggers: [{ provider: 'schedule', cron: '@daily' }] })],
      { 'update x': { deliveries: 0, before: 0, after: 0 } },
    ],
    [
      'a webhook that is disabled: what it fed stops',
      [A, B, automation('x', ['a', 'b'], ISSUES), automation('y', ['a'])],
      [webhook('a', false), B, automation('x', ['a', 'b'], ISSUES), automation('y', ['a'])],
      { 'update a': { deliveries: 3, before: 3, after: 0, stops: ['e4', 'e3', 'e1'] } },
    ],
    [
      'a webhook that is enabled again',
      [webhook('a', false), automation('x', ['a'], ISSUES)],
      [A, automation('x', ['a'], ISSUES)],
      { 'update a': { before: 0, after: 1 } },
    ],
    [
      'a webhook that goes, and the automation that it fed',
      [A, B, automation('x', ['a'])],
      [B, automation('x', ['b'])],
      { 'update x': { deliveries: 4, before: 3, after: 1 }, 'delete a': { deliveries: 3, before: 3, after: 0 } },
    ],
    [
      'a rename is what goes and what comes',
      [A, automation('x', ['a'])],
      [A, automation('z', ['a'])],
      { 'create z': { before: 0, after: 3 }, 'delete x': { before: 3, after: 0 } },
    ],
    [
      'a webhook that changes its secret only',
      [A, automation('x', ['a'])],
      [{ ...A, secretName: 't' }, automation('x', ['a'])],
      {},
    ],
    [
      'a filter that cannot be read matches nothing, and is counted',
      [A, automation('x', ['a'], { action: 'bare' })],
      [A, automation('x', ['a'], ISSUES)],
      { 'update x': { before: 0, after: 1, filtersUnreadable: 1 } },
    ],
    [
      'two triggers are one start',
      [A, automation('x', ['a'])],
      [
        A,
        automation('x', ['a'], undefined, {
          triggers: [
            { provider: 'webhook', webhookUids: ['wh_a'] },
            { provider: 'webhook', webhookUids: ['wh_a'], payload: ISSUES },
          ],
        }),
      ],
      { 'update x': { before: 3, after: 3 } },
    ],
  ])('%s', (_why, before, after, expected) => {
    const found = replays(before, after);
    expect(Object.keys(found)).toEqual(Object.keys(expected));
    expect(found).toMatchObject(expected);
    expect(replays(before, after)).toEqual(found);
  });

  it('of a held deletion says what an approval would stop', () => {
    expect(replays([A, automation('x', ['a'])], [], STORED, true)).toEqual({
      'delete x': { ...EMPTY, deliveries: 3, before: 3, after: 0, stops: ['e4', 'e3', 'e1'] },
      'delete a': { ...EMPTY, deliveries: 3, before: 3, after: 0, stops: ['e4', 'e3', 'e1'] },
    });
  });

  it('asks the newest 50 of all its webhooks, and names the newest 5', () => {
    const many = Array.from({ length: 80 }, (_, at) => ({
      entryId: `e${String(at).padStart(2, '0')}`,
      webhookUid: at % 2 === 0 ? 'wh_a' : 'wh_b',
      payload: { at },
    }));
    const { 'create x': found } = replays([A, B], [A, B, automation('x', ['a', 'b'])], many);
    expect(found).toEqual({
      ...EMPTY,
      deliveries: REPLAY_DELIVERIES_MAX,
      before: 0,
      after: 50,
      starts: ['e79', 'e78', 'e77', 'e76', 'e75'],
    });
  });

  it('counts what cannot be read, and takes it for nothing', () => {
    const damaged = [...STORED, { entryId: 'e5', webhookUid: 'wh_a', payload: undefined as unknown as JsonValue }];
    expect(replays([A], [A, automation('x', ['a'])], damaged)).toMatchObject({
      'create x': { deliveries: 4, before: 0, after: 3, unreadable: 1 },
    });
  });

  it('of a payload that nests without end ends', () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(
      replays([A], [A, automation('x', ['a'], ISSUES)], [{ entryId: 'e1', webhookUid: 'wh_a', payload: deep }]),
    ).toMatchObject({ 'create x': { after: 0 } });
  });

  it('asks the newest 50 of many webhooks as of few', () => {
    const webhooks = Array.from({ length: 30 }, (_, at) => webhook(`w${at}`));
    const many = Array.from({ length: 90 }, (_, at) => ({
      entryId: `e${String(at).padStart(2, '0')}`,
      webhookUid: `wh_w${at % 30}`,
      payload: {},
    }));
    const { 'create x': found } = replays(
      webhooks,
      [
        ...webhooks,
        automation(
          'x',
          webhooks.map(({ name }) => name),
        ),
      ],
      many,
    );
    expect(found).toEqual({
      ...EMPTY,
      deliveries: 50,
      before: 0,
      after: 50,
      starts: ['e89', 'e88', 'e87', 'e86', 'e85'],
    });
  });
});

describe('the work of a replay', () => {
  const HEAVY: JsonValue = { items: { a: [1], b: [2], c: [3] } };
  const payload: JsonValue = {
    items: Array.from({ length: 1000 }, (_, at) => ({ a: 1, b: 2, c: at, d: [] })),
    action: 'opened',
  };
  /** A webhook that is switched on, and with it what it feeds. */
  const switchedOn = (automations: AutomationDefinition[]): ReturnType<typeof replaySubjects>[number] => {
    const [actual, desired] = [actualOf([webhook('a', false), ...automations]), desiredOf([A, ...automations])];
    const [subject] = replaySubjects(
      plan(desired, actual, { heldPaths: [], brokenPaths: [], applyMode: 'atomic', uidOf }),
      actual,
      desired,
      false,
    );
    if (subject === undefined) throw new Error('nothing changes');
    return subject;
  };
  const filters = (count: number, filter: (at: number) => JsonValue): AutomationDefinition[] =>
    Array.from({ length: count }, (_, at) => automation(`x${at}`, ['a'], filter(at)));

  it('is that of one evaluation for equal filters, whoever has them, and is told in short steps', () => {
    const never = (at: number): JsonValue => ({ items: { a: [1], b: [2], c: [`no ${at}`] } });
    const work = (count: number, filter: (at: number) => JsonValue): number =>
      workOf(firesFor(switchedOn(filters(count, filter)), 'wh_a', samplePayloadOf(payload)));
    const alone = work(1, () => never(0));
    expect(alone).toBeGreaterThan(3 * 1000);
    expect(work(100, () => never(0))).toBeLessThan(alone * 1.2);
    expect(work(100, never)).toBeGreaterThan(alone * 98);
    expect(Math.max(...firesFor(switchedOn(filters(100, never)), 'wh_a', samplePayloadOf(payload)))).toBeLessThan(
      alone,
    );
  });

  it('of both sides of an automation that moves is done once', () => {
    const never = { items: { a: [1], b: [2], c: ['no'] } };
    const alone = workOf(firesFor(switchedOn([automation('x', ['a'], never)]), 'wh_a', samplePayloadOf(payload)));
    const [before, after] = [
      [A, B, automation('x', ['a'], never)],
      [A, B, automation('x', ['a', 'b'], { ...never })],
    ];
    const [actual, desired] = [actualOf(before), desiredOf(after)];
    const [subject] = replaySubjects(
      plan(desired, actual, { heldPaths: [], brokenPaths: [], applyMode: 'atomic', uidOf }),
      actual,
      desired,
      false,
    );
    const moved = workOf(firesFor(subject as NonNullable<typeof subject>, 'wh_a', samplePayloadOf(payload)));
    expect(moved).toBeGreaterThan(3 * 1000);
    expect(moved).toBeLessThan(alone * 1.2);
  });

  it('grows with what a filter looks at, not with what stands beside it', () => {
    const work = (filter: JsonValue): number =>
      workOf(firesFor(switchedOn(filters(1, () => filter)), 'wh_a', samplePayloadOf(payload)));
    expect(work(ISSUES)).toBeLessThan(50);
    expect(work({ items: { d: { e: [1] } } })).toBeGreaterThan(2 * 1000);
  });

  it('leaves the answers as they are', () => {
    const texts: JsonValue[] = [
      ISSUES,
      HEAVY,
      { action: ['closed'] },
      { items: { c: [5], a: [2] } },
      { items: { d: { exists: true } } },
      {},
      { action: { not_in: ['opened'] } },
      { none: { exists: false } },
      { constructor: { exists: true } },
    ];
    const payloads: JsonValue[] = [
      payload,
      {},
      [],
      'x',
      { action: ['closed', 'opened'] },
      { items: { a: 1, b: 2, c: 3 } },
    ];
    const subjects = texts.map((text) => switchedOn([automation('x', ['a'], text)]));
    for (const each of payloads) {
      const naive = texts.map((text) => {
        const compilation = compileFilter(text);
        return compilation.ok && compilation.filter.matches(each);
      });
      const specimen = samplePayloadOf(each);
      expect(subjects.map((subject) => done(firesFor(subject, 'wh_a', specimen)).after)).toEqual(naive);
    }
  });
});
