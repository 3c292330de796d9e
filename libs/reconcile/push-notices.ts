/**
 * What a genuine push notice asks for: whether it can concern the branch that a factory follows. Every doubt is a
 * reason to ask git. contract §4.1 (push).
 */

export type PushReason = 'push' | 'suspended' | 'other-branch' | 'not-a-push';

/** A notice as far as it is understood. Everything in it is a hint: the pass that follows asks git itself. */
export interface PushHint {
  /** Name of the forge's event, if it sends one; it is not part of what is signed. */
  event?: string;
  /** The body as parsed JSON; undefined where it is none. */
  body?: unknown;
}

/** Headers that name the event, lower-case, in the order in which they are looked at. */
export const PUSH_EVENT_HEADERS = ['x-github-event', 'x-gitea-event', 'x-forgejo-event', 'x-gitlab-event'] as const;

/** Events that tell of commits. GitLab's system hooks carry every kind of event. */
const PUSH_EVENTS: ReadonlySet<string> = new Set(['push', 'Push Hook', 'Tag Push Hook', 'System Hook']);
const FULL_REF = /^refs\/(?:heads|tags|notes|pull|merge-requests|for|changes|remotes)\//;

/**
 * What a notice means for a factory that follows `branch` (undefined: whatever HEAD names). Only `push` and `suspended`
 * ask for a pass.
 */
export function judgePush(
  { event, body }: PushHint,
  { branch, suspended }: { branch?: string; suspended: boolean },
): PushReason {
  if (event !== undefined && !PUSH_EVENTS.has(event)) return 'not-a-push';
  const ref = refOf(body);
  if (branch !== undefined && ref !== undefined && ref !== `refs/heads/${branch}`) return 'other-branch';
  return suspended ? 'suspended' : 'push';
}

/** The full name of a ref, where the body has one: a short name could be a branch, a tag or anything. */
function refOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'ref')) return undefined;
  const { ref } = body as { ref: unknown };
  return typeof ref === 'string' && FULL_REF.test(ref) ? ref : undefined;
}
