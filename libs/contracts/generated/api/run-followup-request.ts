/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * How the agent is asked to work on this message; normal by default. It counts for the turn that takes the message.
 */
export type RunMode = 'normal' | 'plan' | 'orchestrate';

/**
 * Steers or continues a run. Members that are not served are ignored, and named in the answer.
 */
export interface RunFollowupRequest {
  /**
   * What to tell the agent; may be left out, or empty, where there are attachments.
   */
  message?: string;
  mode?: RunMode;
  /**
   * Files for the agent, 25 at most: each sent along, or one that is here, by its attachment_id.
   *
   * @maxItems 25
   */
  attachments?: FollowupAttachment[];
  [k: string]: unknown;
}
/**
 * A file of a follow-up: sent along (file_name, mime_type and data), or a file that a run has made, by its ID (attachment_id).
 */
export interface FollowupAttachment {
  /**
   * UID of an artifact that is a file, of a run that the key may see, as the handoff attachments of a run name it.
   */
  attachment_id?: string;
  /**
   * Name in the workspace, as of any attachment; by default that of the artifact.
   */
  file_name?: string;
  /**
   * Media type, such as text/plain.
   */
  mime_type?: string;
  /**
   * Content in base64 with padding.
   */
  data?: string;
  [k: string]: unknown;
}
