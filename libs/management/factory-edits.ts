/** What an edit of a dashboard factory is decided on, what it writes, and why it is refused. contract §2, §4. */
import type { WebhookDefinition, RunGrant } from '#definitions';
import type { AppliedObject } from '#reconcile';
import type { RequestProblem } from '#runs';

/** A live webhook as it is stored; members have the names of their columns. */
export interface WebhookRecord {
  uid: string;
  slug: string;
  name: string;
  auth_mode: string;
  signature_scheme: string | null;
  secret_name: string;
  /** Its file; '' where no file decides it. */
  path: string;
  /** What it says, as JSON text. */
  definition: string;
  version: number;
}

/** A live automation as it is stored; members have the names of their columns. */
export interface AutomationRecord {
  uid: string;
  slug: string;
  name: string;
  /** Its file; '' where no file decides it. */
  path: string;
  /** What it says, as JSON text. */
  definition: string;
  version: number;
}

/** A managed secret without its value. `owner`: the team, or a factory's UID. */
export interface SecretRecord {
  id: string;
  owner: string;
  name: string;
  /** 0 while no value has been set. */
  version: number;
  usableFor?: Readonly<Record<'token' | 'url_token' | 'signature' | 'standard_webhooks', boolean>>;
}

/** A dashboard factory as it is: nothing of it changes until the edit is committed. */
export interface FactoryRecord {
  uid: string;
  slug: string;
  /** Live webhooks by slug. */
  webhooks: readonly WebhookRecord[];
  /** Live automations by slug. */
  automations: readonly { slug: string }[];
  /** The automation that the edit is about, while it lives. */
  automation?: AutomationRecord;
  deletedWebhookUids: ReadonlySet<string>;
  environments: readonly { uid: string; slug: string }[];
  skills: readonly { slug: string }[];
  /** Secrets that webhooks of the factory may use, by name. */
  webhookSecrets: ReadonlyMap<string, SecretRecord>;
  /** Names of the secrets that its runs may have. */
  runSecretNames: ReadonlySet<string>;
  /** Which runs may have them, where not all that a definition names. */
  runGrants?: ReadonlyMap<string, RunGrant>;
  /** Names of its own secrets, whatever they are granted for. */
  ownSecretNames: ReadonlySet<string>;
  /** IDs of the secrets that live webhooks of other factories use. */
  secretsUsedElsewhere: ReadonlySet<string>;
}

/** Which webhook is meant, and in which versions. */
export interface WebhookTarget {
  uid: string;
  isWanted: (version: number) => boolean;
}

/** A secret to make, or to give a value. */
export interface SecretWrite {
  owner: string;
  name: string;
  /** Absent: it has none yet. */
  text?: string;
}

/** A value that came into use with an edit, and whether it was made here, so that it is shown. */
export interface NewSecretValue {
  text: string;
  generated: boolean;
}

/** Everything that one edit writes. Absent members: nothing of that kind. */
export interface DecidedEdit {
  ok: true;
  /** What the edit is about. */
  uid: string;
  secrets?: readonly SecretWrite[];
  objects?: readonly { object: Extract<AppliedObject, { kind: 'webhook' | 'automation' }>; name: string }[];
  /** UIDs of webhooks whose secret has a new value. */
  moved?: readonly string[];
  deletions?: readonly { kind: 'webhook' | 'automation'; uid: string }[];
  /** For the audit trail. Absent: nothing is to be written. */
  change?: {
    action: string;
    subject: string;
    factoryUid: string;
    details: Readonly<Record<string, string | boolean | readonly string[]>>;
  };
  value?: NewSecretValue;
}

/**
 * Why an edit is refused. `detail` is for people; `errors` name members of the body, `members` are further ones of the
 * answer.
 */
export type EditRefusal =
  | { kind: 'not-found'; what: string }
  | { kind: 'stale-version'; what: string; version: number }
  | { kind: 'invalid-members'; errors: readonly RequestProblem[] }
  | { kind: 'invalid-request'; detail: string; errors: readonly RequestProblem[] }
  | { kind: 'not-supported'; detail: string; errors?: readonly RequestProblem[] }
  | { kind: 'not-authorized'; detail: string }
  | {
      kind: 'conflict';
      detail: string;
      errors?: readonly RequestProblem[];
      members?: Readonly<Record<string, unknown>>;
    };

/** A refusal as a value. */
export interface RefusedEdit {
  ok: false;
  reason: EditRefusal;
}

/** What a request comes to. */
export type EditVerdict = DecidedEdit | RefusedEdit;

/** A refused edit for this reason. */
export function refusedEdit(reason: EditRefusal): RefusedEdit {
  return { ok: false, reason };
}

/** What a stored webhook says. */
export function webhookDefinitionOf({ definition }: Pick<WebhookRecord, 'definition'>): WebhookDefinition {
  return JSON.parse(definition) as WebhookDefinition;
}
