/**
 * A thousand triggers and a body of 256 KiB hold up nobody: what is decided is the same, one at a time, in slices, and
 * a factory gets no more than its share. contract §7.3 (looks).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { decideRuns, DecisionBudgets } from '#deliveries';
import { compileFilter, type CompiledFilter, type JsonValue } from '#filters';
import type { Clock } from '../process/injection-tokens.ts';
import type { Log } from '../process/log.ts';
import { Metrics } from '../process/metrics.ts';
import type { ServedWebhook } from '../webhooks/served-webhooks.ts';
import { WideDecisions } from './wide-decisions.ts';

const BODY = Array.from({ length: 87_000 }, () => ({}));
const BODY_BYTES = 262_000;

function filterOf(filter: JsonValue): CompiledFilter {
  const compilation = compileFilter(filter);
  if (!compilation.ok) throw new Error('bad filter');
  return compilation.filter;
}

const isCompiled = (filter: JsonValue | CompiledFilter): filter is CompiledFilter =>
  typeof filter === 'object' && filter !== null && 'explainInSteps' in filter;

function webhookOf(triggers: number, filter: JsonValue | CompiledFilter, factoryUid = 'fac_a'): ServedWebhook {
  const compiled = isCompiled(filter) ? filter : filterOf(filter);
  const automations = Array.from({ length: triggers }, (_, index) => {
    const uid = `auto_${index}`;
    return { uid, id: uid, name: uid, enabled: true, webhookUids: ['wh_1'], filter: compiled };
  });
  return { uid: 'wh_1', automations, factory: { uid: factoryUid, slug: 'shop' } } as unknown as ServedWebhook;
}

function world(budgets?: DecisionBudgets): {
  wide: WideDecisions;
  warned: object[];
  metrics: Metrics;
  clock: { now: number };
} {
  const [clock, warned, metrics] = [{ now: 0 }, [] as object[], new Metrics()];
  const wide = new WideDecisions(
    { nowMs: () => clock.now } as Clock,
    { warn: (_message: string, details: object) => void warned.push(details) } as unknown as Log,
    metrics,
    budgets,
  );
  return { wide, warned, metrics, clock };
}

describe('a decision', () => {
  it.each<{ triggers: number; filter: JsonValue; bytes: number; isWide: boolean; why: string }>([
    { triggers: 3, filter: { action: ['opened'] }, bytes: 20_000, isWide: false, why: 'few triggers' },
    { triggers: 100, filter: { action: ['opened'] }, bytes: 4_000, isWide: false, why: 'many, and a small body' },
    { triggers: 900, filter: {}, bytes: BODY_BYTES, isWide: false, why: 'nothing is asked' },
    { triggers: 100, filter: { action: ['opened'] }, bytes: BODY_BYTES, isWide: true, why: 'many, and a large body' },
    { triggers: 1_001, filter: {}, bytes: 1, isWide: true, why: 'so many that nobody knows what they cost' },
  ])('is wide ($isWide) of $triggers triggers and $bytes bytes: $why', ({ triggers, filter, bytes, isWide }) => {
    const { wide } = world();
    const webhook = webhookOf(triggers, filter);
    expect([wide.isWide(webhook, bytes), wide.isWide(webhook, bytes)]).toEqual([isWide, isWide]);
  });

  it('in slices is the same, and lets others come in between', async () => {
    const { wide } = world();
    const webhook = webhookOf(10, { action: ['opened'] });
    const progress = { isOver: false };
    let rounds = 0;
    const watching = (async () => {
      for (; !progress.isOver; rounds += 1) await nextTurn();
    })();
    const decided = await wide.decide(webhook, BODY);
    progress.isOver = true;
    await watching;
    expect(decided).toEqual(decideRuns(webhook.automations, 'wh_1', BODY));
    expect(rounds).toBeGreaterThan(3);
  });

  it('rests between two slices, so that others have a part of the time that they need not ask for', async () => {
    const { wide } = world();
    const filter = filterOf({ action: ['opened'] });
    let round = 0;
    let end = { round, atMs: performance.now() };
    const restsMs: number[] = [];
    const explainInSteps = function* (payload: JsonValue): ReturnType<CompiledFilter['explainInSteps']> {
      const steps = filter.explainInSteps(payload);
      for (;;) {
        if (round !== end.round) restsMs.push(performance.now() - end.atMs);
        const step = steps.next();
        end = { round, atMs: performance.now() };
        if (step.done === true) return step.value;
        yield step.value;
      }
    };
    const webhook = webhookOf(20, { ...filter, explainInSteps });
    const progress = { isOver: false };
    const others = (async () => {
      for (; !progress.isOver; round += 1) await nextTurn();
    })();
    await wide.decide(webhook, BODY);
    progress.isOver = true;
    await others;
    expect(restsMs.length).toBeGreaterThan(3);
    // A turn of the event loop takes a hundredth of that; a timer may be early now and then.
    expect(restsMs.filter((ms) => ms > 1).length).toBeGreaterThan(restsMs.length / 2);
  });

  it('that costs more than there is leaves the rest undecided, and says so', async () => {
    const { wide, warned, metrics } = world();
    // Stored before it was refused: each takes more than eleven million looks.
    const dear = Object.fromEntries(Array.from({ length: 63 }, (_, index) => [`f${index}`, { not_in: [1] }]));
    const decided = await wide.decide(webhookOf(30, { ...dear, z: ['x'] }), BODY);
    const reasons = decided?.skipped.map(({ reason }) => reason) ?? [];
    expect(new Set(reasons)).toEqual(new Set(['filter', 'filter-budget']));
    expect(reasons.indexOf('filter-budget')).toBe(23); // so many have room
    expect(warned).toEqual([{ factory: 'shop', webhook_uid: 'wh_1', automations_skipped: 7 }]);
    expect(await metrics.text()).toMatch(/^millwright_filter_budget_exceeded_total 1$/m);
  });
});

describe('many decisions', () => {
  it('wait for each other, few of one factory, and those beyond come again', async () => {
    const { wide } = world();
    const [mine, other] = [webhookOf(4, { action: ['opened'] }), webhookOf(4, { action: ['opened'] }, 'fac_b')];
    const decisions = [mine, mine, mine, mine, mine, other].map((webhook) => wide.decide(webhook, BODY));
    const decided = (await Promise.all(decisions)).map((starts) => starts !== undefined);
    expect(decided).toEqual([true, true, true, true, false, true]); // one at work, three in line
  });

  it('of one factory take no more than its share of a minute', async () => {
    const { wide, clock } = world(new DecisionBudgets(1_000_000));
    const webhook = webhookOf(2, { action: ['opened'] }); // some half a million looks
    let count = 0;
    while ((await wide.decide(webhook, BODY)) !== undefined) count += 1;
    expect(count).toBe(2);
    expect([wide.isSpent(webhook, BODY_BYTES), wide.isSpent(webhook, 100)]).toEqual([true, false]);
    expect(await wide.decide({ ...webhook, factory: { ...webhook.factory, uid: 'fac_b' } }, BODY)).toBeDefined();
    clock.now += 60_000;
    expect(wide.isSpent(webhook, BODY_BYTES)).toBe(false);
    expect(await wide.decide(webhook, BODY)).toBeDefined();
  });
});
