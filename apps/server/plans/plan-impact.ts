/**
 * What a plan concerns beside the definitions: use of what it touches, deliveries that it would decide otherwise,
 * secrets that it changes. contract §12.1 (Plan).
 */
import { Injectable } from '@nestjs/common';
import type { Definitions } from '#definitions';
import {
  replaySubjects,
  TRAFFIC_DAYS,
  type Actual,
  type AppliedObject,
  type Change,
  type ChangeDetails,
  type ChangeTraffic,
  type EnvironmentUse,
  type Evaluation,
  type Plan,
} from '#reconcile';
import { toTime } from '../http/queries.ts';
import { SecretFingerprints } from '../secrets/secret-reader.ts';
import { type RunTraffic, type Traffic, TrafficStore } from '../store/factories/traffic.ts';
import type { Acquirer } from '../filters/fair-semaphore.ts';
import { Clock } from '../process/injection-tokens.ts';
import { Replays } from './delivery-replays.ts';

const DAY_MS = 86_400_000;

/** Looks up what a plan concerns. */
@Injectable()
export class PlanImpact {
  constructor(
    private readonly traffic: TrafficStore,
    private readonly replays: Replays,
    private readonly fingerprints: SecretFingerprints,
    private readonly clock: Clock,
  ) {}

  /** Of each change. Throws 429 or 503 where too many ask, and the reason of the signal soon after that is aborted. */
  async of(
    factoryUid: string,
    { planned, checked, applies }: Evaluation,
    actual: Actual,
    { withoutSecrets, ...asker }: Required<Acquirer> & { withoutSecrets: boolean },
  ): Promise<Impact> {
    const changes = [...planned.changes, ...planned.heldDeletions];
    if (changes.length === 0) return new Map();
    const objects = objectsOf(planned, actual, checked.definitions);
    const sinceMs = this.clock.nowMs() - TRAFFIC_DAYS * DAY_MS;
    const traffic = await trafficOf(changes, actual, objects, (subjects) =>
      this.traffic.since(factoryUid, sinceMs, subjects),
    );
    // What does not apply waits for an approval, and that lets the held deletions go.
    const replays = await this.replays.of(replaySubjects(planned, actual, checked.definitions, !applies), asker);
    const secrets = withoutSecrets ? () => undefined : await secretsOf(factoryUid, changes, objects, this.fingerprints);
    const uses = await usesOf(changes, checked.definitions, () => this.traffic.environmentUsers(factoryUid));
    return new Map(
      changes.map((change) => [
        change,
        {
          traffic: traffic(change),
          usedBy: uses(change),
          replay: replays.get(change),
          secret: secrets(change),
        },
      ]),
    );
  }
}

/** What is told of each change of a plan, held deletions too. */
export type Impact = ReadonlyMap<Change, ChangeDetails>;

/** Definitions on both sides of each change. */
interface Sides {
  before(change: Change): AppliedObject['definition'] | undefined;
  after(change: Change): AppliedObject['definition'] | undefined;
}

function objectsOf(planned: Plan, actual: Actual, desired: Definitions): Sides {
  const applied = new Map(actual.objects.map(({ uid, definition }) => [uid, definition]));
  const kinds = {
    webhook: desired.webhooks,
    automation: desired.automations,
    environment: desired.environments,
    skill: desired.skills,
  };
  const wanted = new Map(
    Object.entries(kinds).flatMap(([kind, definitions]) =>
      definitions.map((definition): [string, AppliedObject['definition']] => [
        `${kind}/${definition.name}`,
        definition,
      ]),
    ),
  );
  return {
    before: ({ uid }) => applied.get(uid),
    after: ({ action, kind, slug }) => (action === 'delete' ? undefined : wanted.get(`${kind}/${slug}`)),
  };
}

async function trafficOf(
  changes: readonly Change[],
  actual: Actual,
  sides: Sides,
  count: (subjects: Parameters<TrafficStore['since']>[2]) => ReturnType<TrafficStore['since']>,
): Promise<(change: Change) => ChangeTraffic> {
  const selected = new Map(changes.map((change) => [change, selectedBy(change, sides)]));
  const uidsOf = (kind: Change['kind']): string[] =>
    changes.flatMap((change) => (change.kind === kind ? [change.uid] : []));
  const slugsOf = (kind: Change['kind']): string[] =>
    changes.flatMap((change) => (change.kind === kind ? [change.slug] : []));
  const whole = changes.some(({ kind }) => kind === 'factory');
  const all = whole ? actual.objects.flatMap(({ kind, uid }) => (kind === 'webhook' ? [uid] : [])) : [];
  const counted = await count({
    webhookUids: unique([...selected.values(), all].flat()),
    automationUids: uidsOf('automation'),
    environmentIds: [...uidsOf('environment'), ...slugsOf('environment')],
    skills: slugsOf('skill'),
    whole,
  });
  return (change) => toTraffic(change, selected.get(change) ?? [], counted);
}

/** Webhooks whose deliveries an object may see, now or then. */
function selectedBy(change: Change, { before, after }: Sides): string[] {
  if (change.kind === 'webhook') return [change.uid];
  if (change.kind !== 'automation') return [];
  const definitions = [before(change), after(change)];
  return unique(
    definitions
      .flatMap((definition) => (definition !== undefined && 'triggers' in definition ? definition.triggers : []))
      .flatMap((trigger) => (trigger.provider === 'webhook' ? trigger.webhookUids : [])),
  );
}

function toTraffic(change: Change, webhookUids: readonly string[], traffic: Traffic): ChangeTraffic {
  const runs = runsOf(change, traffic);
  const started = {
    runs: runs?.runs ?? 0,
    failedRuns: runs?.failed ?? 0,
    ...(runs === undefined ? {} : { lastRunAt: toTime(runs.lastMs) }),
  };
  if (change.kind === 'environment' || change.kind === 'skill') return started;
  const received =
    change.kind === 'factory'
      ? [...traffic.deliveriesOfWebhook.values()]
      : webhookUids.flatMap((uid) => traffic.deliveriesOfWebhook.get(uid) ?? []);
  const lastMs = Math.max(0, ...received.map((each) => each.lastMs));
  return {
    deliveries: received.reduce((sum, { deliveries }) => sum + deliveries, 0),
    accepted: received.reduce((sum, { accepted }) => sum + accepted, 0),
    ...started,
    ...(lastMs === 0 ? {} : { lastDeliveryAt: toTime(lastMs) }),
  };
}

function runsOf({ kind, uid, slug }: Change, traffic: Traffic): RunTraffic | undefined {
  switch (kind) {
    case 'factory':
      return traffic.runsOfFactory;
    case 'webhook':
      return traffic.runsOfWebhook.get(uid);
    case 'automation':
      return traffic.runsOfAutomation.get(uid);
    case 'skill':
      return traffic.runsOfSkill.get(slug);
    case 'environment':
      return together(traffic.runsOfEnvironment.get(uid), traffic.runsOfEnvironment.get(slug));
  }
}

/** Runs that named it one way and the other. */
function together(a: RunTraffic | undefined, b: RunTraffic | undefined): RunTraffic | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { runs: a.runs + b.runs, failed: a.failed + b.failed, lastMs: Math.max(a.lastMs, b.lastMs) };
}

/** Who would go without, of each environment that is deleted; by its name files themselves are in error. */
async function usesOf(
  changes: readonly Change[],
  { automations }: Definitions,
  look: () => ReturnType<TrafficStore['environmentUsers']>,
): Promise<(change: Change) => readonly EnvironmentUse[] | undefined> {
  const isGone = ({ kind, action }: Change): boolean => kind === 'environment' && action === 'delete';
  if (!changes.some(isGone)) return () => undefined;
  const users = await look();
  return (change) => {
    if (!isGone(change)) return undefined;
    const isMeant = (id: string | undefined): boolean => id === change.uid || id === change.slug;
    const uses = [
      ...automations.flatMap(({ name, agent }) =>
        isMeant(agent.environmentId) ? [{ kind: 'automation' as const, name }] : [],
      ),
      ...users.flatMap(({ environmentId, ...use }) => (isMeant(environmentId) ? [use] : [])),
    ];
    return uses.length === 0 ? undefined : uses;
  };
}

/** Of webhooks that are made, or that change the name of their secret. */
async function secretsOf(
  factoryUid: string,
  changes: readonly Change[],
  sides: Sides,
  fingerprints: SecretFingerprints,
): Promise<(change: Change) => ChangeDetails['secret']> {
  const names = new Map(
    changes
      .filter(changesSecret)
      .map((change) => [
        change,
        { before: secretNameOf(sides.before(change)), after: secretNameOf(sides.after(change)) },
      ]),
  );
  const marks = await fingerprints.marks(
    factoryUid,
    [...names.values()].flatMap(({ before, after }) => [before, after].filter((name) => name !== undefined)),
  );
  return (change) => {
    const named = names.get(change);
    return named && { before: marks.get(named.before ?? ''), after: marks.get(named.after ?? '') };
  };
}

function changesSecret({ kind, action, changes }: Change): boolean {
  return kind === 'webhook' && (action === 'create' || changes.includes('secretName'));
}

function secretNameOf(definition: AppliedObject['definition'] | undefined): string | undefined {
  return definition !== undefined && 'secretName' in definition ? definition.secretName : undefined;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
