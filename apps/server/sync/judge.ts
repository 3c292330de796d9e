/** What is made of a tree: checked, planned and guarded against what is applied now. A pass applies it, a plan over the API only shows it. contract 9. */
import { checkReferences, hasErrors, type CheckedDefinitions, type KnownFacts, type Reading, type SecretFacts } from '#definitions';
import { deriveUid, guard, plan, withoutDeletions, type Actual, type ObjectKind, type Plan } from '#reconcile';
import type { DefinitionStore } from '../store/definitions.ts';
import type { Factory, FactoryStore } from '../store/factories.ts';
import type { SecretStore } from '../store/secrets.ts';
import { applied, blockedByGuard, blockedByProblems, type Ending } from './endings.ts';

/** Where what is known of a factory comes from. */
export interface GroundSources {
  uidKey: Uint8Array;
  factories: FactoryStore;
  definitions: DefinitionStore;
  secrets: SecretStore;
}

/** What is known of a factory before its tree is judged. */
export interface Ground {
  actual: Actual;
  known: KnownFacts;
  approvedDigests: ReadonlySet<string>;
  /** The UID that an object has or will have. */
  uidOf(kind: ObjectKind, slug: string): string;
}

export interface JudgedTree {
  revision: string;
  reading: Reading;
}

export interface Judgement {
  checked: CheckedDefinitions;
  /** What is to be applied, or would be once the held deletions are approved; these stand apart. Empty when problems block the revision. */
  planned: Plan;
  /** Whether that may be applied now. */
  applies: boolean;
  /** How a pass over this tree ends. */
  ending: Ending;
}

/** Names and facts that this factory may see, and no others. */
export async function groundOf(factory: Factory, { uidKey, factories, definitions, secrets }: GroundSources): Promise<Ground> {
  const actual = await definitions.actual(factory.uid);
  const webhooks = await definitions.webhookFacts(factory.uid);
  const uidOf: Ground['uidOf'] = (kind, slug) => (kind === 'factory' ? factory.uid : deriveUid(uidKey, kind, factory.slug, slug));
  const known = {
    webhookSecrets: await webhookSecrets(factory.uid, secrets),
    runSecrets: new Set((await secrets.visibleTo(factory.uid, 'run')).keys()),
    liveWebhooks: webhooks.live,
    deletedWebhookUids: webhooks.deleted,
    environmentUids: new Set(actual.objects.filter(({ kind }) => kind === 'environment').map(({ uid }) => uid)),
    webhookUidOf: (slug: string) => uidOf('webhook', slug),
  };
  return { actual, known, approvedDigests: await factories.approvals(factory.uid), uidOf };
}

async function webhookSecrets(factoryUid: string, secrets: SecretStore): Promise<Map<string, SecretFacts>> {
  const visible = await secrets.visibleTo(factoryUid, 'webhook');
  return new Map([...visible].map(([name, { version, usableFor }]) => [name, { name, set: version > 0, usableFor }]));
}

/** Decides on a tree: what of it applies, and what a pass over it ends with. Pure. */
export function judge(factory: Factory, { revision, reading }: JudgedTree, { actual, known, approvedDigests, uidOf }: Ground): Judgement {
  const checked = checkReferences(reading, known);
  const applyMode = factory.revisionApplied === undefined ? 'atomic' : (actual.factory?.applyMode ?? 'atomic');
  if (applyMode === 'atomic' && hasErrors(checked.problems)) return { checked, planned: NO_CHANGE, applies: false, ending: blockedByProblems(revision, checked.problems) };
  const planned = plan(checked.definitions, actual, { heldPaths: checked.heldPaths, brokenPaths: reading.brokenPaths, applyMode, uidOf });
  const verdict = guard(planned, actual, { factorySlug: factory.slug, revision, approvedDigests });
  if (verdict.ok) return { checked, planned, applies: true, ending: applied(revision, planned.changes, checked.problems, planned.heldDeletions) };
  const rest = withoutDeletions(planned);
  if (applyMode === 'atomic') return { checked, planned: rest, applies: false, ending: blockedByGuard(revision, checked.problems, verdict) };
  return { checked, planned: rest, applies: true, ending: applied(revision, rest.changes, checked.problems, rest.heldDeletions, verdict.digest) };
}

const NO_CHANGE: Plan = { changes: [], heldDeletions: [] };
