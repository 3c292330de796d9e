/** What a pass judges: the tree as it was read last, its definitions, and the facts of the factory. contract §9. */
import { type SecretFacts, readingSteps, type Reading, type TreeFile } from '#definitions';
import { deriveUid, type ReconcileInput, blobOf, objectFormatOf } from '#reconcile';
import type { DefinitionStore } from '../store/definitions/definitions.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { SecretStore } from '../store/secrets/secrets.ts';
import { EventLoopYielder } from '../process/event-loop-yielder.ts';
import type { History, Source, SourceFailure, SourceRefusal } from './sources/source.ts';

/** Where what is known of a factory comes from. */
export interface ReconcileInputDeps {
  uidKey: Uint8Array;
  factories: FactoryStore;
  definitions: DefinitionStore;
  secrets: SecretStore;
}

/** Names and facts that this factory may see, and no others. */
export async function loadReconcileInput(
  factory: Factory,
  { uidKey, factories, definitions, secrets }: ReconcileInputDeps,
): Promise<ReconcileInput> {
  const actual = await definitions.actual(factory.uid);
  const webhooks = await definitions.webhookFacts(factory.uid);
  const uidOf: ReconcileInput['uidOf'] = (kind, slug) =>
    kind === 'factory' ? factory.uid : deriveUid(uidKey, kind, factory.slug, slug);
  const known = {
    webhookSecrets: await webhookSecrets(factory.uid, secrets),
    runSecrets: new Set((await secrets.visibleTo(factory.uid, 'run')).keys()),
    liveWebhooks: webhooks.live,
    deletedWebhookUids: webhooks.deleted,
    environmentUids: new Set(actual.objects.filter(({ kind }) => kind === 'environment').map(({ uid }) => uid)),
    webhookUidOf: (slug: string) => uidOf('webhook', slug),
  };
  return {
    factorySlug: factory.slug,
    appliedBefore: factory.revisionApplied !== undefined,
    applied: appliedOf(factory),
    actual,
    known,
    approvedDigests: await factories.approvals(factory.uid),
    uidOf,
  };
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

/** A tree that was read. */
export interface Tree {
  revision: string;
  reading: Reading;
  /** Path → object ID that git gives the file. */
  blobs: ReadonlyMap<string, string>;
  history?: History;
  /** The accepted revision that the history begins after. */
  base?: string;
}

export type TreeRead = { ok: true; tree: Tree } | SourceFailure | SourceRefusal;

export class TreeCache {
  private readonly source: Source;
  private tree?: Tree;

  constructor(source: Source) {
    this.source = source;
  }

  /** The tree that was read last, if what is remembered of its history is true of `accepted`. */
  atHand(accepted: string | undefined): Tree | undefined {
    const { tree } = this;
    return tree !== undefined && (tree.revision === accepted || tree.base === accepted) ? tree : undefined;
  }

  /**
   * The tree of the accepted revision out of what the source has fetched before, for a process that has not read it
   * itself. The source verifies it as any other: nothing is taken that the policy refuses now.
   */
  async cached(accepted: string): Promise<Tree | undefined> {
    const snapshot = await this.source.cached?.(accepted);
    if (snapshot?.ok !== true || snapshot.unchanged || snapshot.revision !== accepted) return undefined;
    return this.remember(accepted, snapshot.files, accepted);
  }

  /** Reads the source, or finds that its tip is at hand. */
  async read(accepted: string | undefined, signal: AbortSignal): Promise<TreeRead> {
    const atHand = this.atHand(accepted);
    const snapshot = await this.source.snapshot({ atHand: atHand?.revision, accepted }, signal);
    if (!snapshot.ok) return snapshot;
    if (snapshot.unchanged) {
      if (atHand?.revision !== snapshot.revision)
        throw new Error(`the source takes ${snapshot.revision} for known, which it is not`);
      return { ok: true, tree: atHand };
    }
    const { revision, files, history } = snapshot;
    return { ok: true, tree: await this.remember(revision, files, accepted, history) };
  }

  private async remember(
    revision: string,
    files: TreeFile[],
    base: string | undefined,
    history?: History,
  ): Promise<Tree> {
    this.tree = {
      revision,
      reading: await readDefinitionsYielding(files, this.tree?.reading),
      blobs: await hashBlobsYielding(files, objectFormatOf(revision)),
      history,
      base,
    };
    return this.tree;
  }
}
