/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Files that an ended run has left for whoever goes on.
 */
export interface HandoffAttachmentList {
  /**
   * Its latest hundred artifacts that are files, oldest first; none of a run that has not ended.
   */
  attachments: {
    /**
     * UID of the artifact.
     */
    attachment_id: string;
    /**
     * Name of the file.
     */
    filename: string;
    /**
     * Its media type.
     */
    mime_type?: string;
    /**
     * Where the content is; asks for a key like everything else.
     */
    download_url: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
