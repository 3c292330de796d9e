/** The tree that was read last of a factory's source, so that an unchanged revision is not read again. contract §9. */
import type { Reading, TreeFile } from '#definitions';
import { objectFormatOf } from '#reconcile';
import { hashBlobsYielding, readDefinitionsYielding } from './reconcile-input.ts';
import type { PassFigures } from './pass-figures.ts';
import type { History, Source, SourceFailure, SourceRefusal } from './sources/source.ts';

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

/** Who measures the parts of a pass. */
type PassParts = Pick<PassFigures, 'during'>;

const UNMEASURED: PassParts = { during: (_stage, work) => work() };

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
  async read(accepted: string | undefined, signal: AbortSignal, parts: PassParts = UNMEASURED): Promise<TreeRead> {
    const atHand = this.atHand(accepted);
    const asked = { atHand: atHand?.revision, accepted };
    const snapshot = await parts.during('fetch', () => this.source.snapshot(asked, signal));
    if (!snapshot.ok) return snapshot;
    if (snapshot.unchanged) {
      if (atHand?.revision !== snapshot.revision)
        throw new Error(`the source takes ${snapshot.revision} for known, which it is not`);
      return { ok: true, tree: atHand };
    }
    const { revision, files, history } = snapshot;
    const tree = await parts.during('parse', () => this.remember(revision, files, accepted, history));
    return { ok: true, tree };
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
