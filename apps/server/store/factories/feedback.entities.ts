/** Tables of feedback in pull requests. contract §9.9 */
import { defineTable, type RowOf } from '../database/table.ts';

/** How the forge of a factory answered last. `place`: which one it is; another one begins anew. */
export const FORGE = defineTable(
  'forge',
  {
    factory_uid: 'key',
    place: 'text',
    polled_at: 'int?',
    failures: 'int',
    fault: 'text?',
    message: 'text?',
    retry_at: 'int',
    /** The newest recorded pass whose commit has its status. */
    pass_seen: 'text?',
  },
  { lease_owner: 'text?', lease_until: 'int' },
);

/** Row of `forge`. */
export type ForgeRow = RowOf<typeof FORGE>;

/** Pull requests; `comment`: what is to be said, null as soon as the forge has it. Digests are of its content. */
export const PULL_REQUEST = defineTable(
  'pull_request',
  {
    factory_uid: 'key',
    number: 'int key',
    title: 'text',
    author: 'text',
    url: 'text',
    head: 'text',
    base: 'text',
    is_fork: 'int',
    merge_base: 'text?',
    /** Of a merged one the newest commit that its branch got by it. */
    merge_commit: 'text?',
    state: 'text',
    judged: 'text?',
    judged_against: 'text?',
    attempts: 'int',
    comment_digest: 'text?',
    comment_posted: 'text?',
    comment_id: 'text?',
    commented_at: 'int?',
    updated_at: 'int',
  },
  { comment: 'text?' },
);

/** Row of `pull_request`. */
export type PullRequestRow = RowOf<typeof PULL_REQUEST>;

/** What is to be said of a commit; the forge does not have it while `posted_version` is behind `version`. */
export const COMMIT_STATUS = defineTable('commit_status', {
  factory_uid: 'key',
  commit_id: 'key',
  number: 'int?',
  state: 'text',
  description: 'text',
  version: 'int',
  posted_version: 'int',
  attempts: 'int',
  updated_at: 'int',
});

/** Row of `commit_status`. */
export type CommitStatusRow = RowOf<typeof COMMIT_STATUS>;
