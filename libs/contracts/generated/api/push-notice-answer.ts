/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * What became of a push notice.
 */
export interface PushNoticeAnswer {
  /**
   * The factory.
   */
  factory_uid: string;
  /**
   * Whether a pass was asked for.
   */
  requested: boolean;
  /**
   * `push`: the branch that the factory follows may have moved. `suspended`: the same, and as the factory is suspended the pass looks after secrets only. `other-branch`: the notice names another branch, or a tag. `not-a-push`: it tells of something else, such as a test of the connection.
   */
  reason: 'push' | 'suspended' | 'other-branch' | 'not-a-push';
  /**
   * The generation that was asked for, which generation_handled of the status reaches when it is done; where none was, the latest one.
   */
  generation_requested: number;
  [k: string]: unknown;
}
