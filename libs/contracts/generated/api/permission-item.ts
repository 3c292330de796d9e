/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Something that an agent asks permission for.
 */
export interface PermissionItem {
  /**
   * UUIDv7 of the request.
   */
  permission_id: string;
  /**
   * The run.
   */
  run_id: string;
  /**
   * The execution whose agent asks.
   */
  execution_id: string;
  /**
   * open: the agent waits for an answer. answered: it has one. closed: nobody waits any more, because the run was cancelled, the agent has gone on or its execution is over.
   */
  state: 'open' | 'answered' | 'closed';
  /**
   * When it was asked.
   */
  asked_at: string;
  /**
   * What the agent wants to do, for people.
   */
  title: string;
  /**
   * Kind of tool: read, edit, execute, search and the like.
   */
  tool_kind?: string;
  /**
   * What the tool would be given, as JSON text; the middle of more than 4,096 characters is left out.
   */
  input?: string;
  /**
   * Files that it concerns.
   */
  paths?: string[];
  /**
   * Answers that the agent offers.
   */
  options: PermissionOption[];
  /**
   * When it was answered or closed; null while it is open.
   */
  settled_at: string | null;
  /**
   * The option that was chosen; null where none was.
   */
  answer: string | null;
  /**
   * UID of who answered; null where the service did.
   */
  answered_by: string | null;
  [k: string]: unknown;
}
/**
 * One answer that an agent offers.
 */
export interface PermissionOption {
  /**
   * Names the answer.
   */
  option_id: string;
  /**
   * The answer for people.
   */
  name: string;
  /**
   * What it does: allows or refuses, this once or from now on.
   */
  kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
  [k: string]: unknown;
}
