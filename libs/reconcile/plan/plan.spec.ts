/** Plans case by case: order, updates, renames, held and broken files. contract §9. */
import type {
  AutomationDefinition,
  Definitions,
  EnvironmentDefinition,
  SkillDefinition,
  WebhookDefinition,
} from '#definitions';
import {
  type Actual,
  type AppliedObject,
  type Change,
  isEmpty,
  plan,
  type Plan,
  type PlanOptions,
  withoutDeletions,
} from '../index.ts';

const OPTIONS: PlanOptions = {
  heldPaths: [],
  brokenPaths: [],
  applyMode: 'perFile',
  uidOf: (kind, slug) => `new:${kind}:${slug}`,
};
const FACTORY: Definitions['factory'] = { applyMode: 'atomic' };
const OFF = { enabled: false };
const NOTHING: Definitions = { factory: FACTORY, webhooks: [], automations: [], environments: [], skills: [] };

describe('order', () => {
  it('puts what is referred to first, sorts by slug, and deletes the other way round', () => {
    const desired = treeOf({ webhooks: [webhook('b'), webhook('a')], automations: [automation('b'), automation('a')] });
    desired.environments = [environment('e')];
    desired.skills = [skill('s')];
    const webhooks = [webhook('z', OFF), webhook('y', OFF)];
    const automations = [automation('z', { payload: {} }), automation('y', { payload: {} })];
    const { objects } = applied([
      skill('old', ['skills/old/a.md']),
      environment('old', 'old one'),
      ...webhooks,
      ...automations,
    ]);
    expect(told(plan(desired, { objects }, OPTIONS))).toEqual([
      'create factory ',
      'create environment e',
      'create skill s',
      'create webhook a',
      'create webhook b',
      'create automation a',
      'create automation b',
      'delete automation y',
      'delete automation z',
      'delete webhook y',
      'delete webhook z',
      'delete skill old',
      'delete environment old',
    ]);
  });

  it('mixes creates and updates of a kind by slug, by code unit and not by locale', () => {
    const desired = treeOf({ webhooks: [webhook('b'), webhook('a-b'), webhook('ab'), webhook('a'), webhook('0')] });
    const actual = applied([webhook('ab', OFF), webhook('0', OFF)]);
    expect(told(plan(desired, actual, OPTIONS))).toEqual([
      'update webhook 0',
      'create webhook a',
      'create webhook a-b',
      'update webhook ab',
      'create webhook b',
    ]);
  });

  it('keeps kinds apart that share a slug', () => {
    const made = plan(treeOf({ webhooks: [webhook('x')] }), applied([automation('x')]), OPTIONS);
    expect(told(made)).toEqual(['create webhook x', 'delete automation x']);
  });
});

describe('changes', () => {
  it.each<[Partial<WebhookDefinition>, Partial<WebhookDefinition>, string[], string]>([
    [{}, {}, [], 'nothing changed'],
    [{ description: undefined }, {}, [], 'undefined is absent'],
    [{}, { enabled: false }, ['enabled'], 'switched off'],
    [{ description: 'x' }, {}, ['description'], 'removed'],
    [{}, { authMode: 'signature', signatureScheme: 'github' }, ['authMode', 'signatureScheme'], 'two members, sorted'],
  ])('from %j to %j: %p (%s)', (before, after, expected) => {
    const made = plan(treeOf({ webhooks: [webhook('a', after)] }), applied([webhook('a', before)]), OPTIONS);
    expect(made.changes.map((change) => change.changes)).toEqual(expected.length === 0 ? [] : [expected]);
    expect(isEmpty(made)).toBe(expected.length === 0);
  });

  it('names the object with its live UID, also if the key has changed since', () => {
    const [change] = plan(treeOf({ webhooks: [webhook('a', OFF)] }), applied([webhook('a')]), OPTIONS).changes;
    const object = { kind: 'webhook', slug: 'a', uid: 'live:webhook:a', path: 'webhooks/a.yaml' };
    expect(change).toEqual({ action: 'update', ...object, changes: ['enabled'] });
  });

  it('predicts the UID of a new object', () => {
    const [change] = plan(treeOf({ webhooks: [webhook('a')] }), applied([]), OPTIONS).changes;
    expect(change).toEqual({
      action: 'create',
      kind: 'webhook',
      slug: 'a',
      uid: 'new:webhook:a',
      path: 'webhooks/a.yaml',
      changes: [],
    });
  });

  it('ignores the key order of payload filters, but not their array order', () => {
    const before = automation('a', { payload: { x: ['1', '2'], y: ['3'] } });
    const reordered = automation('a', { payload: { y: ['3'], x: ['1', '2'] } });
    const changed = automation('a', { payload: { x: ['2', '1'], y: ['3'] } });
    expect(told(plan(treeOf({ automations: [reordered] }), applied([before]), OPTIONS))).toEqual([]);
    expect(plan(treeOf({ automations: [changed] }), applied([before]), OPTIONS).changes[0]?.changes).toEqual([
      'triggers',
    ]);
  });

  it('updates the factory itself, first', () => {
    const desired = {
      ...treeOf({ webhooks: [webhook('a')] }),
      factory: { applyMode: 'perFile', name: 'Acme' } as const,
    };
    const [change, next] = plan(desired, applied([]), OPTIONS).changes;
    const factory = { kind: 'factory', slug: '', uid: 'new:factory:', path: 'factory.yaml' };
    expect(change).toEqual({ action: 'update', ...factory, changes: ['applyMode', 'name'] });
    expect(next?.kind).toBe('webhook');
  });

  it('never names a value', () => {
    const desired = treeOf({ webhooks: [webhook('a', { description: 'TOP-SECRET', secretName: 'hush' })] });
    expect(JSON.stringify(plan(desired, applied([webhook('a')]), OPTIONS))).not.toMatch(/TOP-SECRET|hush/);
  });

  it('leaves its arguments as they were', () => {
    const desired = treeOf({ webhooks: [webhook('b'), webhook('a')] });
    const actual = applied([webhook('d'), webhook('c')]);
    plan(deepFreeze(desired), deepFreeze(actual), OPTIONS);
    expect(desired.webhooks.map(({ name }) => name)).toEqual(['b', 'a']);
  });
});

describe('renames', () => {
  it.each<[string, AnyDefinition[], AnyDefinition[], string[]]>([
    [
      'an exact rename',
      [webhook('old')],
      [webhook('new')],
      ['create webhook new from webhooks/old.yaml', 'delete webhook old'],
    ],
    [
      'another definition is no rename',
      [webhook('old')],
      [webhook('new', OFF)],
      ['create webhook new', 'delete webhook old'],
    ],
    ['an object that stays was not renamed', [webhook('a')], [webhook('a'), webhook('b')], ['create webhook b']],
    [
      'one old object explains one new one',
      [webhook('old')],
      [webhook('a'), webhook('b')],
      ['create webhook a from webhooks/old.yaml', 'create webhook b', 'delete webhook old'],
    ],
    [
      'twins are paired in order',
      [webhook('y'), webhook('x')],
      [webhook('b'), webhook('a')],
      [
        'create webhook a from webhooks/x.yaml',
        'create webhook b from webhooks/y.yaml',
        'delete webhook x',
        'delete webhook y',
      ],
    ],
    [
      'an automation',
      [automation('old')],
      [automation('new')],
      ['create automation new from automations/old/automation.md', 'delete automation old'],
    ],
    [
      'a skill, whose other files moved along',
      [skill('old', ['skills/old/notes.md'])],
      [skill('new', ['skills/new/notes.md'])],
      ['create skill new from skills/old/SKILL.md', 'delete skill old'],
    ],
    [
      'a skill with other files is no rename',
      [skill('old', ['skills/old/a.md'])],
      [skill('new', ['skills/new/b.md'])],
      ['create skill new', 'delete skill old'],
    ],
  ])('%s', (_why, before, after, expected) => {
    expect(told(plan(treeFrom(after), applied(before), OPTIONS))).toEqual(expected);
  });

  it('are told also while the deletion is held', () => {
    const made = plan(treeFrom([webhook('new')]), applied([webhook('old')]), {
      ...OPTIONS,
      brokenPaths: ['webhooks/x.yaml'],
    });
    expect(told(made)).toEqual(['create webhook new from webhooks/old.yaml']);
    expect(made.heldDeletions.map(({ slug }) => slug)).toEqual(['old']);
  });
});

describe('held and broken files (perFile)', () => {
  it.each<['heldPaths' | 'brokenPaths', string]>([
    ['heldPaths', 'a file with a broken reference'],
    ['brokenPaths', 'a file that cannot be read'],
  ])('%s: its object stays, others apply, nothing is pruned (%s)', (member) => {
    const desired = treeFrom([webhook('changed', OFF), webhook('fresh')]);
    const actual = applied([webhook('bad'), webhook('changed'), webhook('gone', OFF)]);
    const made = plan(desired, actual, { ...OPTIONS, [member]: ['webhooks/bad.yaml'] });
    expect(told(made)).toEqual(['update webhook changed', 'create webhook fresh']);
    expect(made.heldDeletions).toEqual([
      {
        action: 'delete',
        kind: 'webhook',
        slug: 'gone',
        uid: 'live:webhook:gone',
        path: 'webhooks/gone.yaml',
        changes: [],
      },
    ]);
  });

  it('does not update an object whose file is held, even if the tree still has a definition', () => {
    const made = plan(treeFrom([webhook('a', OFF)]), applied([webhook('a')]), {
      ...OPTIONS,
      heldPaths: ['webhooks/a.yaml'],
    });
    expect(made).toEqual({ changes: [], heldDeletions: [] });
  });

  it('does not create an object whose file is held', () => {
    expect(isEmpty(plan(treeFrom([webhook('a')]), applied([]), { ...OPTIONS, heldPaths: ['webhooks/a.yaml'] }))).toBe(
      true,
    );
  });

  it('leaves the factory alone while factory.yaml is broken, before and after the first apply', () => {
    const options = { ...OPTIONS, brokenPaths: ['factory.yaml'] };
    const desired = { ...NOTHING, factory: { applyMode: 'perFile', name: 'default' } as const };
    expect(isEmpty(plan(desired, applied([]), options))).toBe(true);
    expect(isEmpty(plan(desired, { objects: [] }, options))).toBe(true);
  });

  it('holds a whole skill for a defect in one of its files', () => {
    const desired = treeFrom([skill('a', ['skills/a/new.md'])]);
    const made = plan(desired, applied([skill('a')]), { ...OPTIONS, brokenPaths: ['skills/a/huge.bin'] });
    expect(made).toEqual({ changes: [], heldDeletions: [] });
  });

  it('prunes nothing for a broken path that belongs to no object', () => {
    const made = plan(NOTHING, applied([webhook('a')]), { ...OPTIONS, brokenPaths: ['webhooks'] });
    expect(isEmpty(made)).toBe(true);
    expect(made.heldDeletions.map(({ slug }) => slug)).toEqual(['a']);
  });
});

describe('held and broken files (atomic)', () => {
  it('plans no change of a revision that must not apply', () => {
    const desired = treeFrom([webhook('changed', OFF), webhook('fresh')]);
    const actual = applied([webhook('bad'), webhook('changed'), webhook('gone', OFF)]);
    const made = plan(desired, actual, { ...OPTIONS, applyMode: 'atomic', brokenPaths: ['webhooks/bad.yaml'] });
    expect(made.changes).toEqual([]);
    expect(made.heldDeletions.map(({ slug }) => slug)).toEqual(['gone']);
  });

  it('plans like perFile when every file is fine', () => {
    const desired = treeFrom([webhook('fresh')]);
    const actual = applied([webhook('gone', OFF)]);
    expect(plan(desired, actual, { ...OPTIONS, applyMode: 'atomic' })).toEqual(plan(desired, actual, OPTIONS));
  });
});

describe('withoutDeletions', () => {
  it('moves the deletions to the held ones and keeps the rest', () => {
    const made = plan(treeFrom([webhook('fresh')]), applied([webhook('gone', OFF)]), OPTIONS);
    const kept = withoutDeletions(made);
    expect(told(kept)).toEqual(['create webhook fresh']);
    expect(kept.heldDeletions.map(({ slug }) => slug)).toEqual(['gone']);
    expect(withoutDeletions(kept)).toEqual(kept);
  });
});

// ---- definitions with nothing special about them ----

type AnyDefinition = AppliedObject['definition'];

function webhook(name: string, rest: Partial<WebhookDefinition> = {}): WebhookDefinition {
  return { name, path: `webhooks/${name}.yaml`, authMode: 'token', secretName: 'hook', enabled: true, ...rest };
}

function automation(name: string, trigger: { payload?: AutomationTriggerPayload } = {}): AutomationDefinition {
  const path = `automations/${name}/automation.md`;
  return {
    name,
    path,
    enabled: true,
    prompt: 'Do it.',
    agent: {},
    triggers: [{ provider: 'webhook', webhookUids: ['wh_1'], ...trigger }],
  };
}
type AutomationTriggerPayload = Extract<AutomationDefinition['triggers'][number], { provider: 'webhook' }>['payload'];

function environment(name: string, description?: string): EnvironmentDefinition {
  return { name, path: `environments/${name}.yaml`, description };
}

function skill(name: string, files: string[] = []): SkillDefinition {
  return { name, path: `skills/${name}/SKILL.md`, text: 'How to.', files };
}

function treeOf(part: Partial<Definitions>): Definitions {
  return { ...NOTHING, ...part };
}

function treeFrom(definitions: AnyDefinition[]): Definitions {
  const { objects } = applied(definitions);
  return {
    factory: FACTORY,
    webhooks: objects.flatMap((object) => (object.kind === 'webhook' ? [object.definition] : [])),
    automations: objects.flatMap((object) => (object.kind === 'automation' ? [object.definition] : [])),
    environments: objects.flatMap((object) => (object.kind === 'environment' ? [object.definition] : [])),
    skills: objects.flatMap((object) => (object.kind === 'skill' ? [object.definition] : [])),
  };
}

function applied(definitions: AnyDefinition[]): Actual {
  return { factory: FACTORY, objects: definitions.map(toApplied) };
}

function toApplied(definition: AnyDefinition): AppliedObject {
  const { name: slug, path } = definition;
  if ('secretName' in definition) return { kind: 'webhook', uid: `live:webhook:${slug}`, slug, path, definition };
  if ('triggers' in definition) return { kind: 'automation', uid: `live:automation:${slug}`, slug, path, definition };
  if ('text' in definition) return { kind: 'skill', uid: `live:skill:${slug}`, slug, path, definition };
  return { kind: 'environment', uid: `live:environment:${slug}`, slug, path, definition };
}

function told(made: Plan): string[] {
  return made.changes.map(({ action, kind, slug, renamedFrom }: Change) => {
    return `${action} ${kind} ${slug}${renamedFrom === undefined ? '' : ` from ${renamedFrom}`}`;
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach((member) => deepFreeze(member));
  return Object.freeze(value);
}
