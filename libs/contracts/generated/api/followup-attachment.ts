/** Generated from schemas/ by test/support/generate.ts; do not edit. */

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
