/** The answers of the API as far as the verbs print them. contract 3, 4. */
import type { Problem } from '#definitions';
import type { Change } from '#reconcile';
import type { RunState } from '#runs';

export interface PageInfo {
  has_next_page: boolean;
  next_cursor?: string;
}

export interface Factory {
  uid: string;
  slug: string;
  name: string;
  suspended: boolean;
}

export interface Secret {
  name: string;
  owner: string;
  grants: { factories: '*' | string[]; uses: string[] };
  version: number;
  set: boolean;
  url_safe: boolean;
  updated_at: string;
  used_by: { webhook_uid: string; factory_uid: string; slug: string }[];
}

export interface Webhook {
  uid: string;
  slug: string;
  auth_mode: string;
  signature_scheme: string | null;
  secret_name: string | null;
  enabled: boolean;
  ingress_url: string;
  last_delivery_at: string | null;
}

export interface Delivery {
  entry_id: string;
  delivery_id: string;
  outcome: string;
  size: number;
  size_exact: boolean;
  received_at: string;
  client_address: string | null;
  count?: number;
  refused_because?: string;
  started?: { automation_id: string; run_id: string }[];
  skipped?: { automation_id: string; reason: string; failed_pointer?: string; operator?: string }[];
}

export type EndingName = 'applied' | 'blocked' | 'failed';

/** A problem in the wire's spelling. */
export type WireProblem = Omit<Problem, 'endLine' | 'endColumn'> & { end_line?: number; end_column?: number };

/** A change of a plan in the wire's spelling. */
export type WireChange = Omit<Change, 'renamedFrom'> & { renamed_from?: string };

export interface Sync {
  id: string;
  triggers: string[];
  started_at: string;
  finished_at: string;
  ending: EndingName;
  reason: string | null;
  message: string | null;
  revision: string | null;
  problems: WireProblem[];
  changes: WireChange[];
  held: WireChange[];
  /** Digest that an approval names. */
  plan: string | null;
}

export interface FactoryStatus {
  factory_uid: string;
  suspended: boolean;
  condition: { ending: EndingName | 'none'; reason: string | null; message: string | null; since: string; checked_at: string };
  generation_requested: number;
  generation_handled: number;
  revision_seen: string | null;
  revision_attempted: string | null;
  revision_applied: string | null;
  last_sync: Sync | null;
  inventory: { kind: string; uid: string; slug: string; path: string }[];
}

export interface Run {
  run_id: string;
  title: string;
  state: RunState;
  prompt: string;
  submitted_prompt?: string;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
  source: string;
  creator: { uid: string; display_name?: string };
  agent_config: { name?: string; model_id?: string };
  status_message?: { message: string; error_code?: string };
  session_link?: string;
  factory_uid?: string;
  automation_id?: string;
  metadata?: Record<string, string>;
}

export interface RunEvent {
  seq: number;
  event_type: string;
  occurred_at: string;
  /** Output of the command holds `text`; a change of the run `state` and `message`, or `text`. */
  payload?: { text?: string; state?: string; message?: string };
}
