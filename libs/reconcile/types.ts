/** The vocabulary of reconciliation: what is, what should be, and the ordered changes between them. contract 9. */
import type { AutomationDefinition, EnvironmentDefinition, FactoryDefinition, SkillDefinition, WebhookDefinition } from '#definitions';

export type ObjectKind = 'factory' | 'environment' | 'skill' | 'webhook' | 'automation';
export type ChangeAction = 'create' | 'update' | 'delete';

/** One applied object as the store holds it: its UID, the file and revision that decided it, and its definition. */
export type AppliedObject =
  | { kind: 'webhook'; uid: string; slug: string; path: string; definition: WebhookDefinition }
  | { kind: 'automation'; uid: string; slug: string; path: string; definition: AutomationDefinition }
  | { kind: 'environment'; uid: string; slug: string; path: string; definition: EnvironmentDefinition }
  | { kind: 'skill'; uid: string; slug: string; path: string; definition: SkillDefinition };

export interface Actual {
  factory?: FactoryDefinition;
  objects: readonly AppliedObject[];
}

/** One step of a plan. `changes` names the members that differ (camelCase, sorted), never their values. */
export interface Change {
  action: ChangeAction;
  kind: ObjectKind;
  slug: string;
  uid: string;
  path: string;
  changes: string[];
  /** Where the object's definition stood, when the slug was renamed (exact same definition under another name). */
  renamedFrom?: string;
}

/** Ordered changes that make the actual state match the desired one. Same input, same plan, byte for byte. */
export interface Plan {
  changes: Change[];
  /** Deletions that were left out because the tree was not parse-clean or held files (perFile). */
  heldDeletions: Change[];
}

export type GuardVerdict =
  | { ok: true }
  | { ok: false; reason: 'mass-deletion'; digest: string; deletions: Change[]; message: string };
