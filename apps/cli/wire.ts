/** The answers of the API as far as the verbs print them. contract 3, 4. */
import type { RunState } from '#runs';

export type { Delivery, Factory, FactoryStatus, Sync } from '#contracts';

export interface PageInfo {
  has_next_page: boolean;
  next_cursor?: string;
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
  artifacts?: Artifact[];
  run_time?: string;
  request_usage?: { total_tokens?: number; inference_cost?: number; currency?: string };
}

/** Something that a run has made. */
export interface Artifact {
  artifact_uid: string;
  artifact_type: string;
  created_at: string;
  data: { filename?: string; size_bytes?: number; title?: string; url?: string };
}

/** Something that an agent asks permission for. */
export interface RunPermission {
  permission_id: string;
  state: string;
  title: string;
  input?: string;
  options: { option_id: string; name: string; kind: string }[];
  asked_at: string;
  answer: string | null;
}

export interface TimelineEvent {
  event_type: string;
  occurred_at: string;
  payload?: Record<string, unknown>;
}

export interface RunEvent {
  seq: number;
  event_type: string;
  occurred_at: string;
  /** Output and what an agent says hold `text`; a change of the run `state` and `message`, or `text`; what an agent does has members of its own. */
  payload?: { text?: string; state?: string; message?: string; [member: string]: unknown };
}
