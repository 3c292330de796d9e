/** The vocabulary of reconciliation: what is, what should be, and the ordered changes between them. contract §9. */
import type {
  ApplyMode,
  AutomationDefinition,
  EnvironmentDefinition,
  FactoryDefinition,
  SkillDefinition,
  WebhookDefinition,
} from '#definitions';

export type ObjectKind = 'factory' | 'environment' | 'skill' | 'webhook' | 'automation';
export type ChangeAction = 'create' | 'update' | 'delete';

/** One applied object as the store holds it: its UID, the file and revision that decided it, and its definition. */
export type AppliedObject =
  | { kind: 'webhook'; uid: string; slug: string; path: string; definition: WebhookDefinition }
  | { kind: 'automation'; uid: string; slug: string; path: string; definition: AutomationDefinition }
  | { kind: 'environment'; uid: string; slug: string; path: string; definition: EnvironmentDefinition }
  | { kind: 'skill'; uid: string; slug: string; path: string; definition: SkillDefinition };

/** The live state of one factory: deleted objects are not part of it. `factory` is absent before the first apply. */
export interface Actual {
  factory?: FactoryDefinition;
  objects: readonly AppliedObject[];
}

/** One step of a plan. */
export interface Change {
  action: ChangeAction;
  kind: ObjectKind;
  /** Empty for the factory itself, which a tree does not name. */
  slug: string;
  uid: string;
  path: string;
  /** Of an update: the members that differ (camelCase, sorted), never their values. Empty otherwise. */
  changes: string[];
  /** Of a create: path of the deleted object with the exact same definition under another name. */
  renamedFrom?: string;
}

/** Ordered changes that make the actual state match the desired one. Same input, same plan, byte for byte. */
export interface Plan {
  changes: Change[];
  /**
   * Deletions that were left out because the tree was not parse-clean, held files, or the guard held them (perFile).
   */
  heldDeletions: Change[];
}

/** A webhook whose secret version moved in step 0 of a pass. */
export interface Rebinding {
  webhookUid: string;
  slug: string;
  path: string;
  secretName: string;
  /** undefined: the secret is gone, no longer granted, or has no value: the webhook refuses everything. */
  version?: number;
}

/** What a plan depends on besides the two states. */
export interface PlanOptions {
  /** Files left out of the desired definitions because of what they refer to. */
  heldPaths: readonly string[];
  /** Files that could not be read into a definition. */
  brokenPaths: readonly string[];
  applyMode: ApplyMode;
  /**
   * The UID a new object will have; asked for creates, and for the factory (with an empty slug). Live objects keep
   * theirs.
   */
  uidOf(kind: ObjectKind, slug: string): string;
}

/** What must be known of the applied revision when it is judged again. */
export interface HowApplied {
  /** What its own factory.yaml says acts from the next revision on. */
  applyMode: ApplyMode;
  /** Of its deletions that need an approval. */
  heldDigest?: string;
  /** Whether files or deletions of it were held back; absent: recorded by a version that did not keep it. */
  inPart?: boolean;
}

/** What a set of deletions is bound to: approved here, it is approved nowhere else. */
export interface DeletionScope {
  factorySlug: string;
  revision: string;
}

export interface GuardContext extends DeletionScope {
  /** Digests that somebody with the right to it approved. */
  approvedDigests: ReadonlySet<string>;
  /**
   * The tree is not what a pass will judge, so that its digest approves nothing: that is another one's, where a server
   * holds the deletions.
   */
  approvedElsewhere?: boolean;
  /**
   * Deletions that were held when the rest of their revision applied: what was created beside them makes them no
   * smaller.
   */
  heldDigest?: string;
}

export type GuardVerdict =
  | { ok: true }
  | { ok: false; reason: 'mass-deletion'; digest: string; deletions: Change[]; message: string };
