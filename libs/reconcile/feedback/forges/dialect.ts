/**
 * What a forge is asked and what its answers say, as texts: each kind of forge is one dialect of the same few
 * questions. contract §9.9 (Feedback in pull requests).
 */
import type { ListedComment } from '../comments.ts';
import type { OpenPullRequest, PullRequestEnd } from '../pull-requests.ts';
import type { CommitStatus } from '../statuses.ts';

/** One request to the interface of a forge. */
export interface ForgeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Behind the base URL of the interface; begins with a slash. */
  path: string;
  body?: Readonly<Record<string, unknown>>;
}

/** A status as it is posted. */
export interface PostedStatus extends Pick<CommitStatus, 'commit' | 'state' | 'description' | 'number'> {
  /** `millwright/<factory>` */
  context: string;
  /** Page that people are led to; undefined: the service has no address that they can reach. */
  targetUrl?: string;
}

/** Entries of a page that is asked for: what every forge gives at once. */
export const FORGE_PAGE_ENTRIES = 50;

/**
 * One kind of forge. `read…` are total: undefined for an answer that is none, whatever it is. Names and numbers come
 * from settings and earlier answers that were found right.
 */
export interface ForgeDialect {
  headers(token: string): Readonly<Record<string, string>>;
  listPulls(repository: string, base: string | undefined, page: number): ForgeRequest;
  readPulls(answer: unknown): OpenPullRequest[] | undefined;
  pull(repository: string, number: number): ForgeRequest;
  /** Forges name a commit before the merge, too: one that only tries it. It is none of the branch. */
  readPull(answer: unknown): PullRequestEnd | undefined;
  /** The commits of a pull request, in whatever order; GitHub lists 250 at most. */
  pullCommits(repository: string, number: number, page: number): ForgeRequest;
  readPullCommits(answer: unknown): string[] | undefined;
  /** Undefined: its list of pull requests says it. */
  mergeBase?(repository: string, branch: string, head: string): ForgeRequest;
  readMergeBase?(answer: unknown): string | undefined;
  status(repository: string, status: PostedStatus): ForgeRequest;
  listComments(repository: string, number: number, page: number): ForgeRequest;
  readComments(answer: unknown): ListedComment[] | undefined;
  createComment(repository: string, number: number, body: string): ForgeRequest;
  readComment(answer: unknown): string | undefined;
  editComment(repository: string, number: number, id: string, body: string): ForgeRequest;
  /** Whether a refusal only says that the commit has this status already. */
  isStatusThere?(answer: unknown): boolean;
  /** The request for a commit that no branch has, where a refusal says so and the pull request is known. */
  statusOffBranch?(repository: string, status: PostedStatus, answer: unknown): ForgeRequest | undefined;
}

/** Whether a Link header names a next page. Its address is never followed. */
export function hasNextPage(link: string | undefined): boolean {
  return link !== undefined && /;\s*rel="?next"?/i.test(link);
}

/** Characters of a title that are stored. */
const TITLE_CHARACTERS_MAX = 200;
const NAME_CHARACTERS_MAX = 255;
const URL_CHARACTERS_MAX = 2_000;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Members of a JSON object; none of anything else. */
export function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** A list of objects; those that lack what is read of them, as a merge request without a commit, are left out. */
export function listIn<Item>(value: unknown, read: (entry: unknown) => Item | undefined): Item[] | undefined {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'object' && entry !== null)) return undefined;
  return value.map(read).filter((item) => item !== undefined);
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function commitIdIn(value: unknown): string | undefined {
  return typeof value === 'string' && COMMIT.test(value) ? value : undefined;
}

/** A positive number, as pull requests and comments have. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** The ID of a comment. */
export function idIn(value: unknown): string | undefined {
  const number = numberIn(value);
  return number === undefined ? undefined : String(number);
}

/** The texts of a pull request: bounded, one line each, of its address nothing but https and http. */
export function pullRequestOf(found: {
  [Member in keyof OpenPullRequest]: OpenPullRequest[Member] | undefined;
}): OpenPullRequest | undefined {
  const { number, title, author, url, head, base, isFork, mergeBase } = found;
  if (number === undefined || head === undefined || base === undefined || isFork === undefined) return undefined;
  return {
    number,
    title: oneLine(title ?? '', TITLE_CHARACTERS_MAX),
    author: oneLine(author ?? '', NAME_CHARACTERS_MAX),
    url: pageUrl(url),
    head,
    base,
    isFork,
    ...(mergeBase === undefined ? {} : { mergeBase }),
  };
}

function oneLine(text: string, charactersMax: number): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ').trim();
  return [...line].slice(0, charactersMax).join('');
}

function pageUrl(text: string | undefined): string {
  if (text === undefined || text.length > URL_CHARACTERS_MAX || !URL.canParse(text)) return '';
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url.href : '';
}
