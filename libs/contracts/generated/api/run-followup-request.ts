/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * How the agent is asked to work on this message; normal by default. It counts for the turn that takes the message.
 */
export type RunMode = 'normal' | 'plan' | 'orchestrate';

/**
 * Steers or continues a run. Unknown members are ignored.
 */
export interface RunFollowupRequest {
  /**
   * What to tell the agent.
   */
  message: string;
  mode?: RunMode;
  /**
   * Files for the agent.
   *
   * @maxItems 5
   */
  attachments?: Attachment[];
  [k: string]: unknown;
}
/**
 * A file of a request; the execution that takes the request finds it in the folder `attachments` of its workspace.
 */
export interface Attachment {
  /**
   * Name in the workspace: 1 to 128 of A–Z a–z 0–9 . _ -, no leading dot, unique in the request, not prompt.md or event-payload.json. A later file of the same name gets a number: notes.txt, notes-2.txt.
   */
  file_name: string;
  /**
   * Media type, such as text/plain.
   */
  mime_type: string;
  /**
   * Content in base64 with padding.
   */
  data: string;
  [k: string]: unknown;
}
