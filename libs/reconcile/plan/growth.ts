/**
 * What runs could do after a plan and cannot do now: new writers, secrets, hosts, repositories, tools, effects, and
 * more budget. contract §9.8 (Growth).
 */
import { createHash } from 'node:crypto';
import {
  capabilitiesOf,
  WRITERS,
  type AutomationCapabilities,
  type AutomationDefinition,
  type Definitions,
  type RunSecret,
  type Trigger,
} from '#definitions';
import { compareTexts } from '../canonical.ts';
import { updateFramed } from '../framing.ts';
import type { Actual, AppliedObject, Change, DeletionScope, Plan } from '../types.ts';

export type GrowthKind = 'input' | 'secret' | 'host' | 'repository' | 'tool' | 'effect' | 'budget';

/** One thing that the runs of one automation get. */
export interface CapabilityGrowth {
  automation: string;
  path: string;
  kind: GrowthKind;
  /** Name of what it is; never a value. */
  what: string;
  /** Where something that was there gets wider. */
  before?: string;
  after?: string;
}

type Objects = ReadonlyMap<string, AppliedObject>;

/** What grows when the plan applies, by automation, in a fixed order. A disabled automation can do nothing. */
export function growthOf(planned: Plan, desired: Definitions, actual: Actual): CapabilityGrowth[] {
  if (planned.changes.length === 0) return [];
  const before = new Map(actual.objects.map((object) => [keyOf(object), object]));
  const after = new Map(before);
  for (const change of planned.changes) applyChange(after, change, desired);
  const isFactoryChanged = planned.changes.some(({ kind }) => kind === 'factory');
  const defaults = actual.factory ?? { applyMode: 'atomic' as const };
  const had = capabilitiesBySlug(before, defaults);
  const gets = capabilitiesBySlug(after, isFactoryChanged ? desired.factory : defaults);
  return [...gets]
    .toSorted(([left], [right]) => compareTexts(left, right))
    .flatMap(([slug, now]) => grownBetween(had.get(slug), now));
}

/** What an approval of growth names: factory, revision and all that grows. */
export function growthDigest(growth: readonly CapabilityGrowth[], { factorySlug, revision }: DeletionScope): string {
  const lines = growth.flatMap(({ automation, kind, what, before = '', after = '' }) => [
    automation,
    kind,
    what,
    before,
    after,
  ]);
  const hash = updateFramed(createHash('sha256'), ['millwright growth 1', factorySlug, revision, ...lines]);
  return `sha256:${hash.digest('hex')}`;
}

/** One of them for people: `triage: secret NPM_TOKEN (inside)`. */
export function growthWords({ automation, kind, what, before, after }: CapabilityGrowth): string {
  const change = after === undefined ? '' : `: ${before === undefined ? '' : `${before} → `}${after}`;
  return `${automation}: ${kind} ${what}${change}`;
}

function applyChange(objects: Map<string, AppliedObject>, change: Change, desired: Definitions): void {
  const { action, kind, slug, uid, path } = change;
  if (kind === 'factory') return;
  if (action === 'delete') return void objects.delete(keyOf(change));
  const lists = {
    webhook: desired.webhooks,
    automation: desired.automations,
    environment: desired.environments,
    skill: desired.skills,
  };
  const definition = lists[kind].find(({ name }) => name === slug);
  if (definition !== undefined) objects.set(keyOf(change), { kind, uid, slug, path, definition } as AppliedObject);
}

function keyOf({ kind, slug }: { kind: string; slug: string }): string {
  return `${kind}/${slug}`;
}

function capabilitiesBySlug(objects: Objects, factory: Definitions['factory']): Map<string, AutomationCapabilities> {
  const webhooks = new Map(
    [...objects.values()].flatMap((object) =>
      object.kind === 'webhook' && object.definition.enabled ? [[object.uid, object.definition] as const] : [],
    ),
  );
  const deps = {
    factory,
    environmentOf: (id: string) => {
      const named = objects.get(`environment/${id}`);
      const found = named ?? [...objects.values()].find(({ kind, uid }) => kind === 'environment' && uid === id);
      return found?.kind === 'environment' ? found.definition : undefined;
    },
    webhooksOf: (trigger: Trigger) =>
      trigger.provider === 'webhook' ? trigger.webhookUids.flatMap((uid) => webhooks.get(uid) ?? []) : [],
  };
  const automations = [...objects.values()].flatMap((object) => (object.kind === 'automation' ? [object] : []));
  return new Map(
    automations
      .filter(({ definition }) => definition.enabled)
      .map(({ slug, definition }) => [slug, capabilitiesOf<Trigger>(definition satisfies AutomationDefinition, deps)]),
  );
}

function grownBetween(before: AutomationCapabilities | undefined, after: AutomationCapabilities): CapabilityGrowth[] {
  const grown: Omit<CapabilityGrowth, 'automation' | 'path'>[] = [
    ...grownInput(before, after),
    ...after.secrets.flatMap((secret) => grownSecret(before?.secrets ?? [], secret)),
    ...after.hosts.flatMap(({ host }) => (isReached(before, host) ? [] : [{ kind: 'host' as const, what: host }])),
    ...added(before?.repositories, after.repositories, ({ address }) => address, 'repository'),
    ...after.tools.flatMap((tool) => grownTool(before?.tools ?? [], tool)),
    ...added(before?.effects, after.effects, ({ kind, target }) => `${kind} ${target}`, 'effect'),
    ...grownBudget(before, after),
  ];
  const { automation, path } = after;
  const seen = new Set<string>();
  return grown
    .map((growth) => ({ automation, path, ...growth }))
    .filter((growth) => !seen.has(growthWords(growth)) && seen.add(growthWords(growth)));
}

type Grown = Omit<CapabilityGrowth, 'automation' | 'path'>;

function grownInput(before: AutomationCapabilities | undefined, after: AutomationCapabilities): Grown[] {
  const [old, now] = [widestWriter(before), widestWriter(after)];
  return now > old
    ? [{ kind: 'input', what: 'writers', ...(old < 0 ? {} : { before: WRITERS[old] }), after: WRITERS[now] }]
    : [];
}

function widestWriter(capabilities: AutomationCapabilities | undefined): number {
  return Math.max(-1, ...(capabilities?.inputs ?? []).map(({ writer }) => WRITERS.indexOf(writer)));
}

type Secrets = AutomationCapabilities['secrets'];

function grownSecret(before: Secrets, { name, isInside, entry }: Secrets[number]): Grown[] {
  const same = before.filter((secret) => secret.name === name);
  // What is inside can be sent anywhere: anything else is less.
  if (same.some((secret) => secret.isInside)) return [];
  const what = isInside ? `${name} (inside)` : entry.host === undefined ? name : `${name} at ${entry.host}`;
  const atHost = same.find((secret) => !isInside && secret.entry.host === entry.host);
  if (atHost === undefined) return [{ kind: 'secret', what }];
  return isWider(atHost.entry, entry)
    ? [{ kind: 'secret', what, before: requestWords(atHost.entry), after: requestWords(entry) }]
    : [];
}

/** GET and HEAD unless said. contract §10.4. */
const methodsOf = ({ methods = ['GET', 'HEAD'] }: RunSecret): readonly string[] => methods;

function isWider(before: RunSecret, after: RunSecret): boolean {
  const isMoreMethods = methodsOf(after).some((method) => !methodsOf(before).includes(method));
  if (before.paths === undefined) return isMoreMethods;
  return isMoreMethods || after.paths === undefined || after.paths.some((path) => !before.paths?.includes(path));
}

function requestWords(entry: RunSecret): string {
  return `${methodsOf(entry).join(', ')} ${entry.paths?.join(', ') ?? 'every path'}`;
}

/** Whether a host was within what could be reached. */
function isReached(before: AutomationCapabilities | undefined, host: string): boolean {
  return (before?.hosts ?? []).some(
    (known) => known.host === host || (known.host.startsWith('*.') && host.endsWith(known.host.slice(1))),
  );
}

function added<Item>(
  before: readonly Item[] | undefined,
  after: readonly Item[],
  nameOf: (item: Item) => string,
  kind: GrowthKind,
): Grown[] {
  const known = new Set((before ?? []).map(nameOf));
  return after.map(nameOf).flatMap((what) => (known.has(what) ? [] : [{ kind, what }]));
}

type Tools = AutomationCapabilities['tools'];
const EVERYTHING = 'every tool';

function grownTool(before: Tools, { server, source, tools }: Tools[number]): Grown[] {
  const known = before.find((tool) => tool.server === server);
  if (known === undefined) return [{ kind: 'tool', what: server, after: tools ?? EVERYTHING }];
  if (known.source !== source) return [{ kind: 'tool', what: server, after: 'another program or address' }];
  return known.tools === undefined || known.tools === tools
    ? []
    : [{ kind: 'tool', what: server, before: known.tools, after: tools ?? EVERYTHING }];
}

function grownBudget(before: AutomationCapabilities | undefined, after: AutomationCapabilities): Grown[] {
  return (['tokens', 'cost', 'minutes'] as const).flatMap((what): Grown[] => {
    const [old, now] = [before?.budget[what], after.budget[what]];
    if (before === undefined) return now === undefined ? [] : [{ kind: 'budget', what, after: String(now) }];
    if (old === undefined || (now !== undefined && now <= old)) return [];
    return [{ kind: 'budget', what, before: String(old), after: now === undefined ? 'no bound' : String(now) }];
  });
}
