/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Something that a run has made and that outlives its workspace.
 */
export interface ArtifactItem {
  /**
   * UUIDv7 of the artifact.
   */
  artifact_uid: string;
  /**
   * FILE: a file. PLAN: a plan in Markdown. PULL_REQUEST: a link to a pull request.
   */
  artifact_type: 'FILE' | 'PLAN' | 'PULL_REQUEST';
  /**
   * Run that made it.
   */
  run_id: string;
  /**
   * When it was stored.
   */
  created_at: string;
  /**
   * What it is; which members are there depends on its type.
   */
  data: {
    /**
     * The artifact itself.
     */
    artifact_uid: string;
    /**
     * FILE and PLAN: name of the file, A–Z a–z 0–9 . _ - only.
     */
    filename?: string;
    /**
     * FILE and PLAN: its path in the workspace.
     */
    filepath?: string;
    /**
     * FILE and PLAN: media type by the name's extension.
     */
    mime_type?: string;
    /**
     * FILE and PLAN: the same as mime_type.
     */
    content_type?: string;
    /**
     * FILE and PLAN: size of the content in bytes.
     */
    size_bytes?: number;
    /**
     * FILE and PLAN: where the content is; asks for a key like everything else.
     */
    download_url?: string;
    /**
     * Of one artifact alone, FILE: time until which download_url is good at least.
     */
    expires_at?: string;
    /**
     * PLAN: the plan; the same as artifact_uid.
     */
    document_uid?: string;
    /**
     * PLAN: the same as document_uid.
     */
    notebook_uid?: string;
    /**
     * Of one artifact alone, PLAN: its text.
     */
    content?: string;
    /**
     * What the agent calls it; of a PLAN without that, its first heading.
     */
    title?: string;
    /**
     * FILE: what to know before believing it; of a diff, that it is the run's word.
     */
    note?: string;
    /**
     * PULL_REQUEST: its address.
     */
    url?: string;
    /**
     * PULL_REQUEST: its branch; empty where the agent did not say.
     */
    branch?: string;
    /**
     * PULL_REQUEST: whether it is still open; this service does not ask the forge.
     */
    status?: 'unknown';
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
