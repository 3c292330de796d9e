/**
 * What holds for every history of trees, broken files and passes (the invariants I1 to I4 of reconciliation). contract
 * §9.
 */
import * as fc from 'fast-check';
import type {
  AutomationDefinition,
  Definitions,
  EnvironmentDefinition,
  FactoryDefinition,
  SkillDefinition,
  WebhookDefinition,
} from '#definitions';
import {
  type Actual,
  type AppliedObject,
  type Change,
  deriveUid,
  guard,
  isEmpty,
  plan,
  type Plan,
  planDigest,
  type PlanOptions,
  printPlan,
  withoutDeletions,
} from './index.ts';
import { examples } from '../../test/support/tier.ts';

const SEED = 20_260_101; // fixed: a failure is the same one everywhere
const KEY = new Uint8Array(32).fill(7);
const NAMES = ['a', 'b', 'c', 'd', 'orders', 'orders-2'];

/** What one pass finds: a tree, and the files of it that cannot be used. */
interface Found {
  desired: Definitions;
  options: PlanOptions;
}

describe('plans', () => {
  it('are the same for the same input, whatever the order of lists and keys, byte for byte (I3)', () => {
    check(fc.tuple(actuals(), founds()), ([actual, found]) => {
      const one = plan(found.desired, actual, found.options);
      const other = plan(reversed(found.desired), { ...actual, objects: actual.objects.toReversed() }, found.options);
      expect(JSON.stringify(other)).toBe(JSON.stringify(one));
      expect(printPlan(other)).toBe(printPlan(one));
    });
  });

  it('are empty once applied, and applying reaches the tree (I4)', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const after = appliedTo(actual, plan(desired, actual, options), desired);
      const again = plan(desired, after, options);
      expect(isEmpty(again)).toBe(true);
      if (options.heldPaths.length + options.brokenPaths.length === 0)
        expect(slugsOf(after)).toEqual(slugsOfTree(desired));
    });
  });

  it('stay empty after a round trip of the state through JSON, as a store makes it', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const after = appliedTo(actual, plan(desired, actual, options), desired);
      expect(isEmpty(plan(desired, JSON.parse(JSON.stringify(after)) as Actual, options))).toBe(true);
    });
  });

  it('never touch an object whose file is held or broken, and prune nothing beside one (I1)', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const held = new Set([...options.heldPaths, ...options.brokenPaths]);
      const made = plan(desired, actual, options);
      for (const change of [...made.changes, ...made.heldDeletions]) expect(held.has(change.path)).toBe(false);
      if (held.size > 0) expect(deletionsOf(made)).toEqual([]);
      if (held.size > 0 && options.applyMode === 'atomic') expect(made.changes).toEqual([]);
    });
  });

  it('delete only what the tree does not have (I1)', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const made = plan(desired, actual, options);
      const present = new Set(slugsOfTree(desired));
      for (const change of [...deletionsOf(made), ...made.heldDeletions])
        expect(present.has(`${change.kind}/${change.slug}`)).toBe(false);
    });
  });

  it('name every object once, and renames only beside the deletion they explain', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const made = plan(desired, actual, options);
      const all = [...made.changes, ...made.heldDeletions];
      expect(new Set(all.map(({ kind, slug }) => `${kind}/${slug}`)).size).toBe(all.length);
      const gone = [...deletionsOf(made), ...made.heldDeletions].map(({ path }) => path);
      const renames = made.changes.flatMap(({ renamedFrom }) => (renamedFrom === undefined ? [] : [renamedFrom]));
      for (const source of renames) expect(gone).toContain(source);
      expect(new Set(renames).size).toBe(renames.length);
    });
  });

  it('keep the UID of every live name over any history, and bring it back after a deletion (I2)', () => {
    check(fc.array(founds(), { maxLength: 6 }), (history) => {
      const known = new Map<string, string>();
      let actual: Actual = { objects: [] };
      for (const { desired, options } of history) {
        actual = appliedTo(actual, plan(desired, actual, options), desired);
        for (const { kind, slug, uid } of actual.objects) {
          const name = `${kind}/${slug}`;
          expect(uid).toBe(known.get(name) ?? uid);
          known.set(name, uid);
        }
      }
      expect(new Set(known.values()).size).toBe(known.size);
    });
  });

  it('keep the UID of a live name under another UID key', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const after = appliedTo(
        actual,
        plan(desired, actual, { ...options, uidOf: (kind, slug) => `other:${kind}:${slug}` }),
        desired,
      );
      const before = new Map(actual.objects.map(({ kind, slug, uid }) => [`${kind}/${slug}`, uid]));
      for (const { kind, slug, uid } of after.objects)
        expect(uid).toBe(before.get(`${kind}/${slug}`) ?? `other:${kind}:${slug}`);
    });
  });
});

describe('the guard', () => {
  const scope = { factorySlug: 'acme', revision: 'main@sha1:abc' };

  it('lets nothing of a kind vanish unasked, and lets every approved plan through', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const made = plan(desired, actual, options);
      const verdict = guard(made, actual, { ...scope, approvedDigests: new Set() });
      if (verdict.ok) {
        for (const kind of ['webhook', 'automation'] as const)
          expect(kindVanishes(kind, actual, made, desired)).toBe(false);
        return;
      }
      expect(verdict.digest).toBe(planDigest(deletionsOf(made), scope));
      expect(guard(made, actual, { ...scope, approvedDigests: new Set([verdict.digest]) }).ok).toBe(true);
      expect(guard(withoutDeletions(made), actual, { ...scope, approvedDigests: new Set() }).ok).toBe(true);
    });
  });

  it('holds what it held, however much of the same revision is created beside it', () => {
    check(fc.tuple(actuals(), founds()), ([actual, { desired, options }]) => {
      const sound: PlanOptions = { ...options, heldPaths: [], brokenPaths: [], applyMode: 'perFile' };
      const made = plan(desired, actual, sound);
      const verdict = guard(made, actual, { ...scope, approvedDigests: new Set() });
      if (verdict.ok) return;
      const after = appliedTo(actual, withoutDeletions(made), desired);
      const again = plan(desired, after, sound);
      const context = { ...scope, heldDigest: verdict.digest };
      expect(guard(again, after, { ...context, approvedDigests: new Set() })).toMatchObject({
        ok: false,
        digest: verdict.digest,
      });
      expect(guard(again, after, { ...context, approvedDigests: new Set([verdict.digest]) }).ok).toBe(true);
    });
  });

  function kindVanishes(kind: AppliedObject['kind'], actual: Actual, made: Plan, desired: Definitions): boolean {
    const had = actual.objects.some((object) => object.kind === kind);
    return had && !appliedTo(actual, made, desired).objects.some((object) => object.kind === kind);
  }
});

function check<T>(arbitrary: fc.Arbitrary<T>, predicate: (value: T) => void): void {
  fc.assert(fc.property(arbitrary, predicate), { numRuns: examples(400), seed: SEED });
}

// ---- a naive apply: what the store does with a plan ----

function appliedTo(actual: Actual, made: Plan, desired: Definitions): Actual {
  const objects = new Map(actual.objects.map((object) => [object.uid, object]));
  let { factory } = actual;
  for (const change of made.changes) {
    if (change.kind === 'factory') factory = desired.factory;
    else if (change.action === 'delete') expect(objects.delete(change.uid)).toBe(true);
    else objects.set(change.uid, appliedObject(change, desired));
  }
  return { factory, objects: [...objects.values()] };
}

function appliedObject({ kind, slug, uid, path }: Change, desired: Definitions): AppliedObject {
  const found = objectsOf(desired).find((object) => object.kind === kind && object.slug === slug);
  if (found === undefined) throw new Error('the plan names an object that the tree does not have');
  expect(found.path).toBe(path);
  return { ...found, uid };
}

function objectsOf({ webhooks, automations, environments, skills }: Definitions): AppliedObject[] {
  const at = ({ name, path }: { name: string; path: string }) => ({ uid: '', slug: name, path });
  return [
    ...webhooks.map((definition): AppliedObject => ({ kind: 'webhook', ...at(definition), definition })),
    ...automations.map((definition): AppliedObject => ({ kind: 'automation', ...at(definition), definition })),
    ...environments.map((definition): AppliedObject => ({ kind: 'environment', ...at(definition), definition })),
    ...skills.map((definition): AppliedObject => ({ kind: 'skill', ...at(definition), definition })),
  ];
}

function deletionsOf(made: Plan): Change[] {
  return made.changes.filter(({ action }) => action === 'delete');
}

function slugsOf(actual: Actual): string[] {
  return actual.objects.map(({ kind, slug }) => `${kind}/${slug}`).sort();
}

function slugsOfTree(desired: Definitions): string[] {
  return slugsOf({ objects: objectsOf(desired) });
}

/** The same tree with every list of objects and every object's keys the other way round. */
function reversed(desired: Definitions): Definitions {
  return {
    factory: withKeysReversed(desired.factory),
    webhooks: desired.webhooks.toReversed().map(withKeysReversed),
    automations: desired.automations.toReversed().map(withKeysReversed),
    environments: desired.environments.toReversed().map(withKeysReversed),
    skills: desired.skills.toReversed().map(withKeysReversed),
  };
}

function withKeysReversed<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).reverse()) as T;
}

// ---- generators: few names and few values, so that states and trees meet ----

function founds(): fc.Arbitrary<Found> {
  const paths = NAMES.flatMap((name) => [
    `webhooks/${name}.yaml`,
    `automations/${name}/automation.md`,
    `skills/${name}/SKILL.md`,
  ]);
  const few = fc.subarray([...paths, 'factory.yaml', 'webhooks/x.yml'], { maxLength: 4 });
  const some = fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: few });
  return fc
    .record({ desired: trees(), heldPaths: some, brokenPaths: some, applyMode: fc.constantFrom('atomic', 'perFile') })
    .map(({ desired, ...holds }) => ({ desired, options: { ...holds, uidOf } }));
}

function actuals(): fc.Arbitrary<Actual> {
  return fc.tuple(trees(), fc.boolean()).map(([tree, fresh]) => ({
    factory: fresh ? undefined : tree.factory,
    objects: objectsOf(tree).map((object) => ({ ...object, uid: uidOf(object.kind, object.slug) })),
  }));
}

function uidOf(kind: Change['kind'], slug: string): string {
  return deriveUid(KEY, kind, 'acme', slug);
}

function trees(): fc.Arbitrary<Definitions> {
  const factory: fc.Arbitrary<FactoryDefinition> = fc.record({
    applyMode: fc.constantFrom('atomic', 'perFile'),
    name: maybe('x'),
  });
  const serving = { webhooks: named(webhook), automations: named(automation) };
  return fc.record({ factory, ...serving, environments: named(environment), skills: named(skill) });
}

function named<T>(one: (name: string) => fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.subarray(NAMES).chain((names) => fc.tuple(...names.map(one)));
}

function webhook(name: string): fc.Arbitrary<WebhookDefinition> {
  const secretName = fc.constantFrom('hook', 'other');
  const fixed = {
    name: fc.constant(name),
    path: fc.constant(`webhooks/${name}.yaml`),
    authMode: fc.constant('token' as const),
  };
  return fc.record({ ...fixed, secretName, enabled: fc.boolean(), description: maybe('text') });
}

function automation(name: string): fc.Arbitrary<AutomationDefinition> {
  const payload = fc.constantFrom(
    undefined,
    { a: ['x'] },
    JSON.parse('{"__proto__": ["x"]}') as { [name: string]: string[] },
  );
  const triggers = payload.map((filter) => [{ provider: 'webhook' as const, webhookUids: ['wh_1'], payload: filter }]);
  const fixed = {
    name: fc.constant(name),
    path: fc.constant(`automations/${name}/automation.md`),
    enabled: fc.constant(true),
  };
  return fc.record({
    ...fixed,
    prompt: fc.constantFrom('Do it.', 'Do that.'),
    agent: fc.record({ model: maybe('m') }),
    triggers,
  });
}

function environment(name: string): fc.Arbitrary<EnvironmentDefinition> {
  return fc.record({
    name: fc.constant(name),
    path: fc.constant(`environments/${name}.yaml`),
    dockerImage: maybe('node:20'),
  });
}

function skill(name: string): fc.Arbitrary<SkillDefinition> {
  const files = fc.subarray([`skills/${name}/a.md`, `skills/${name}/b.md`]);
  return fc.record({
    name: fc.constant(name),
    path: fc.constant(`skills/${name}/SKILL.md`),
    text: fc.constantFrom('One.', 'Two.'),
    files,
  });
}

function maybe(text: string): fc.Arbitrary<string | undefined> {
  return fc.constantFrom(undefined, text);
}
