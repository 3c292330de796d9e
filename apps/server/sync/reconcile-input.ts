/** What a pass judges: the definitions of a tree, and the facts of the factory. contract §9. */
import { HARNESS_NAMES, type AgentAvailability } from '#agents';
import { agentsHere, type KnownFacts, type SecretFacts, readingSteps, type Reading, type TreeFile } from '#definitions';
import { deriveUid, type ReconcileInput, blobOf } from '#reconcile';
import { formatPattern, hostPatternOfUrl, releaseProblemOf, repositoriesCut } from '#isolation';
import { declaredRepositories } from '#runs';
import type { Config } from '../config/config.ts';
import type { DefinitionStore } from '../store/definitions/definitions.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { runGrantsOf } from '../store/secrets/secret-rows.ts';
import type { SecretStore } from '../store/secrets/secrets.ts';
import { EventLoopYielder } from '../process/event-loop.ts';

/** Where what is known of a factory comes from. */
export interface ReconcileInputDeps {
  /** What runs may reach; absent: nothing is said of it. */
  config?: Pick<Config, 'runNetwork' | 'forgeUrl' | 'models' | 'agentProfilesFile'>;
  /** What runs get here; absent: nothing is said of it. */
  agents?: { available(): Promise<AgentAvailability | undefined> };
  uidKey: Uint8Array;
  factories: FactoryStore;
  definitions: DefinitionStore;
  secrets: SecretStore;
  nowMs(): number;
}

/** Names and facts that this factory may see, and no others. */
export async function loadReconcileInput(
  factory: Factory,
  { config, agents, uidKey, factories, definitions, secrets, nowMs }: ReconcileInputDeps,
): Promise<ReconcileInput> {
  const actual = await definitions.actual(factory.uid);
  const webhooks = await definitions.webhookFacts(factory.uid);
  const uidOf: ReconcileInput['uidOf'] = (kind, slug) =>
    kind === 'factory' ? factory.uid : deriveUid(uidKey, kind, factory.slug, slug);
  const runSecrets = await secrets.visibleTo(factory.uid, 'run');
  const known = {
    webhookSecrets: await webhookSecrets(factory.uid, secrets),
    runSecrets: new Set(runSecrets.keys()),
    runGrants: runGrantsOf(runSecrets),
    liveWebhooks: webhooks.live,
    deletedWebhookUids: webhooks.deleted,
    environmentUids: new Set(actual.objects.filter(({ kind }) => kind === 'environment').map(({ uid }) => uid)),
    ...(config && listedAgents(config)),
    agentsHere: agentsHere(await agents?.available()),
    unreachedHostOf: config && ((repository: unknown) => unreachedHost(config, repository)),
    releaseProblemOf: releaseProblemOf(new Map([...runSecrets].map(([name, { grants }]) => [name, grants.hosts]))),
    webhookUidOf: (slug: string) => uidOf('webhook', slug),
    today: dayOf(nowMs()),
  };
  return {
    factorySlug: factory.slug,
    appliedBefore: factory.revisionApplied !== undefined,
    applied: appliedOf(factory),
    actual,
    known,
    holdsGrowth: factory.syncPolicy.growthApproval !== undefined,
    approvedDigests: await factories.approvals(factory.uid),
    uidOf,
  };
}

/** Models that the operator lists; harnesses, unless the operator has profiles of its own in a file. */
function listedAgents({
  models,
  agentProfilesFile,
}: NonNullable<ReconcileInputDeps['config']>): Pick<KnownFacts, 'models' | 'harnesses'> {
  return { models: new Set(models), ...(agentProfilesFile === undefined ? { harnesses: new Set(HARNESS_NAMES) } : {}) };
}

/** The day of a time, as acceptances name it. */
export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** As a run of the environment would find it out. */
function unreachedHost(
  { runNetwork, forgeUrl }: NonNullable<ReconcileInputDeps['config']>,
  repository: unknown,
): string | undefined {
  const declared = declaredRepositories([repository], forgeUrl);
  const url = declared.ok ? declared.repositories[0]?.url : undefined;
  const host = url === undefined ? undefined : hostPatternOfUrl(url);
  return host && repositoriesCut(runNetwork, [host]).map(formatPattern)[0];
}

function appliedOf({ revisionApplied, howApplied }: Factory): ReconcileInput['applied'] {
  return revisionApplied === undefined || howApplied === undefined
    ? undefined
    : { revision: revisionApplied, how: howApplied };
}

async function webhookSecrets(factoryUid: string, secrets: SecretStore): Promise<Map<string, SecretFacts>> {
  const visible = await secrets.visibleTo(factoryUid, 'webhook');
  return new Map([...visible].map(([name, { version, usableFor }]) => [name, { name, set: version > 0, usableFor }]));
}

/**
 * What `readDefinitions` answers, read file by file; other work is done in between. What an earlier reading of the
 * factory knows is not read again.
 */
export async function readDefinitionsYielding(
  files: readonly TreeFile[],
  earlier?: Reading,
  nowMs?: () => number,
): Promise<Reading> {
  const steps = readingSteps(files, undefined, earlier);
  const slices = new EventLoopYielder(nowMs);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.yield();
  }
}

/** Path → object ID that git gives the file, of every regular file whose content was read. */
export async function hashBlobsYielding(
  files: readonly TreeFile[],
  format: 'sha1' | 'sha256',
): Promise<Map<string, string>> {
  const blobs = new Map<string, string>();
  const slices = new EventLoopYielder();
  for (const { path, kind = 'file', sizeBytes, content } of files) {
    if (kind === 'file' && sizeBytes === undefined) blobs.set(path, blobOf(content, format));
    if (slices.isOver()) await slices.yield();
  }
  return blobs;
}
