/**
 * The steps that a random history is made of, and how they are drawn. Numbers choose among what is there when their
 * turn comes, so that a shorter history means the same.
 */
import * as fc from 'fast-check';
import type { Breakage } from './trees.ts';

export const SECRET_NAMES = ['hook', 'other'] as const;

/** One change of files; several make a commit. */
export type Edit =
  | { edit: 'webhook'; name: number; secret: number; enabled: boolean }
  | { edit: 'automation'; name: number; webhooks: number; environment: boolean }
  | { edit: 'environment' | 'skill'; name: number }
  | { edit: 'factory'; applyMode: 'atomic' | 'perFile' }
  | { edit: 'delete'; at: number; tidy: boolean }
  | { edit: 'rename'; at: number; name: number; tidy: boolean }
  /** `replaced`: something else stands there instead, as on a wrong branch. */
  | { edit: 'wipe'; what: 'everything' | 'webhooks' | 'automations' | 'most' | 'replaced' }
  | { edit: 'break'; at: number; how: Breakage }
  | { edit: 'mend' }
  | { edit: 'revert'; back: number };

/**
 * How the pass goes that follows a step. `at` counts the calls that a pass makes to its database, source and publisher.
 */
export type Manner =
  | { pass: 'none' }
  /** `again`: once more, which must change nothing. `planned`: a plan is made before, which must be what is done. */
  | { pass: 'quiet'; replica: number; again: boolean; planned: boolean; askMeanwhile: boolean }
  /** The process ended and another one begins. */
  | { pass: 'restart'; replica: number }
  /** The process dies in the middle, and those that follow it too; then one is left alone. */
  | { pass: 'dies'; replica: number; at: readonly number[] }
  /** One call fails, with or without having been done; the process goes on. */
  | { pass: 'hiccup'; replica: number; at: number }
  /**
   * It stands still until another replica has taken over and is done; then it goes on. `newer`: something was committed
   * meanwhile.
   */
  | { pass: 'stale'; replica: number; at: number; newer: boolean };

export type Deed =
  | { do: 'commit'; edits: readonly Edit[]; forced: boolean }
  | { do: 'rotate' | 'withdraw' | 'grant' | 'drop' | 'make'; secret: number }
  | { do: 'approve'; real: boolean }
  | { do: 'suspend' | 'resume' }
  | { do: 'outage'; kind: number }
  | { do: 'back' }
  | { do: 'wait'; ms: number }
  | { do: 'nothing' };

export type Step = Deed & { next: Manner };

export interface History {
  /** Webhooks and automations to begin with. */
  webhooks: number;
  automations: number;
  applyMode: 'atomic' | 'perFile';
  fastForwardOnly: boolean;
  steps: readonly Step[];
}

/** Calls that a pass makes, and some more: a process may die right after it. */
const CALLS_MAX = 44;
const STEPS_MAX = 12;
const NUMBER = fc.nat({ max: 11 });

export function histories(): fc.Arbitrary<History> {
  return fc.record({
    // Mostly enough of them that something can be deleted without an approval.
    webhooks: fc.oneof(
      { weight: 2, arbitrary: fc.nat({ max: 2 }) },
      { weight: 4, arbitrary: fc.integer({ min: 3, max: 5 }) },
    ),
    automations: fc.nat({ max: 4 }),
    applyMode: fc.constantFrom('atomic', 'perFile'),
    fastForwardOnly: mostly(false),
    steps: fc.array(steps(), { minLength: 1, maxLength: STEPS_MAX, size: 'max' }),
  });
}

function steps(): fc.Arbitrary<Step> {
  return fc.tuple(deeds(), manners()).map(([deed, next]) => ({ ...deed, next }));
}

function deeds(): fc.Arbitrary<Deed> {
  return fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        do: fc.constant('commit' as const),
        edits: fc.array(edits(), { minLength: 1, maxLength: 3, size: 'max' }),
        forced: mostly(false),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom('rotate' as const, 'withdraw' as const, 'grant' as const, 'drop' as const, 'make' as const),
        secret: NUMBER,
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('approve' as const), real: mostly(true) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('suspend' as const, 'resume' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('outage' as const), kind: NUMBER }) },
    { weight: 2, arbitrary: fc.constant({ do: 'back' } as const) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 100_000 }) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'nothing' } as const) },
  );
}

function manners(): fc.Arbitrary<Manner> {
  const replica = fc.nat({ max: 1 });
  const at = fc.nat({ max: CALLS_MAX });
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        pass: fc.constant('quiet' as const),
        replica,
        again: fc.boolean(),
        planned: mostly(false),
        askMeanwhile: mostly(false),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ pass: 'none' } as const) },
    { weight: 1, arbitrary: fc.record({ pass: fc.constant('restart' as const), replica }) },
    {
      weight: 4,
      arbitrary: fc.record({
        pass: fc.constant('dies' as const),
        replica,
        at: fc.array(at, { minLength: 1, maxLength: 2 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ pass: fc.constant('hiccup' as const), replica, at }) },
    { weight: 2, arbitrary: fc.record({ pass: fc.constant('stale' as const), replica, at, newer: fc.boolean() }) },
  );
}

function edits(): fc.Arbitrary<Edit> {
  const tidy = mostly(true);
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        edit: fc.constant('webhook' as const),
        name: NUMBER,
        secret: NUMBER,
        enabled: mostly(true),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        edit: fc.constant('automation' as const),
        name: NUMBER,
        webhooks: NUMBER,
        environment: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ edit: fc.constantFrom('environment' as const, 'skill' as const), name: NUMBER }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        edit: fc.constant('factory' as const),
        applyMode: fc.constantFrom('atomic' as const, 'perFile' as const),
      }),
    },
    { weight: 5, arbitrary: fc.record({ edit: fc.constant('delete' as const), at: NUMBER, tidy }) },
    { weight: 2, arbitrary: fc.record({ edit: fc.constant('rename' as const), at: NUMBER, name: NUMBER, tidy }) },
    {
      weight: 2,
      arbitrary: fc.record({
        edit: fc.constant('wipe' as const),
        what: fc.constantFrom(
          'everything' as const,
          'webhooks' as const,
          'automations' as const,
          'most' as const,
          'replaced' as const,
          'replaced' as const,
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        edit: fc.constant('break' as const),
        at: NUMBER,
        how: fc.constantFrom('syntax' as const, 'key' as const, 'reference' as const),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ edit: 'mend' } as const) },
    { weight: 2, arbitrary: fc.record({ edit: fc.constant('revert' as const), back: NUMBER }) },
  );
}

function mostly(value: boolean): fc.Arbitrary<boolean> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constant(!value) });
}
