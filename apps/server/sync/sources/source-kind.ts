/**
 * What one kind of source has to say for itself: how it is asked for, stored, shown, read and forgotten. contract §4.1
 * (source), §9.
 */
import type { SourceSettings } from '#reconcile';
import type { FactorySource as SourceItem } from '#contracts';
import type { Config } from '../../config/config.ts';
import type { MemberError } from '../../http/error-codes.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import type { Factory } from '../../store/factories/factory-rows.ts';
import type { Source } from './source.ts';

/** What a service has for all of its sources. */
export interface SourceDeps {
  config: Config;
  secrets: SecretReader;
}

/** Opens the source of a factory. `isTrusted`: the operator named it on the command line, so it may be local. */
export type SourceOpener = (factory: Factory, isTrusted: boolean) => Source;

/** The git repository that holds a factory's files. */
export interface SourceRepository {
  url: string;
  branch?: string;
  /** Folder of the repository that is the factory's root. */
  path?: string;
  credentialSecret?: string;
}

/**
 * One kind of source. Members of a stored source that mean the same for every kind are read without asking the kind:
 * `interval`, and the names of secrets, `credentialSecret` (use git) and `pushSecret` (use forge).
 */
export interface SourceKind<Stored extends SourceSettings = SourceSettings> {
  readonly kind: Stored['kind'];
  /** Whether it has commits, which can be signed and descend from each other: what a sync policy may ask for. */
  readonly hasCommits: boolean;
  /** Whether it is of one machine: the operator has to allow it, and no other machine can read it. */
  readonly isLocal: boolean;
  /** Whether a revision is named by its files alone, so that a plan of posted files can name the one that will be. */
  readonly isNamedByFiles: boolean;
  /** What no server would take of a wanted source, each by its pointer into the body; members may be anything. */
  requestErrors(wanted: Readonly<Record<string, unknown>>, allowLocal: boolean): MemberError[];
  /** What is stored of a wanted source that schema and `requestErrors` let pass. */
  toStored(wanted: SourceItem): Stored;
  /** What the API shows of a stored one. */
  toItem(stored: Stored): SourceItem;
  /** The repository that holds the files, where there is one. */
  repositoryOf(stored: Stored): SourceRepository | undefined;
  /** Makes what opens the sources of one service; what they share is made once. */
  opener(deps: SourceDeps): (stored: Stored, factory: Factory, isTrusted: boolean) => Source;
  /** Deletes what the source of a factory keeps on disk; called when it is closed. */
  forget(dataDir: string, factoryUid: string): Promise<void>;
}
