/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A file of a request; the execution that takes the request finds it in the folder `attachments` of its workspace.
 */
export interface Attachment {
  /**
   * Name in the workspace: 1 to 128 letters, digits, blanks and . _ - ( ) [ ] + , = @ & # % ~, 240 bytes at most, no leading dot or blank, unique in the request, not prompt.md or event-payload.json. A later file of the same name gets a number: notes.txt, notes-2.txt.
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
