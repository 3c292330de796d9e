/**
 * The forge of a factory: its open pull requests, statuses of commits, and our one comment on each; whatever kind it
 * is. contract §9.9 (Feedback in pull requests).
 */
import {
  ownComments,
  type ForgeDialect,
  type ForgeRequest,
  type ListedComment,
  type OpenPullRequest,
  type PostedStatus,
  type PullRequestEnd,
} from '#reconcile';
import { ForgeError, type ForgeClient } from './forge-client.ts';

/** Pages of one list: a thousand pull requests, and as many comments on one. */
const PAGES_MAX = 20;
/** As many commits of one pull request as GitHub lists. */
const COMMIT_PAGES_MAX = 5;

export class Forge {
  constructor(
    private readonly client: ForgeClient,
    private readonly dialect: ForgeDialect,
    private readonly repository: string,
  ) {}

  /** Of the branch, where the forge can tell them apart. Throws ForgeError. */
  openPulls(branch: string | undefined, signal: AbortSignal): Promise<OpenPullRequest[]> {
    return this.pages((page) => this.dialect.listPulls(this.repository, branch, page), this.dialect.readPulls, signal);
  }

  /** Throws ForgeError where the forge does not take requests for the repository now, or never. */
  async probe(signal: AbortSignal): Promise<void> {
    await this.read(this.dialect.listPulls(this.repository, undefined, 1), this.dialect.readPulls, signal);
  }

  /** What became of a pull request; one that is gone is closed. */
  async pull(number: number, signal: AbortSignal): Promise<PullRequestEnd> {
    try {
      return await this.read(this.dialect.pull(this.repository, number), this.dialect.readPull, signal);
    } catch (error) {
      if (error instanceof ForgeError && error.fault === 'missing') return { state: 'closed', base: '' };
      throw error;
    }
  }

  /** Commits of a pull request, from either end; none where the forge does not tell. */
  async pullCommits(number: number, signal: AbortSignal): Promise<string[]> {
    const { dialect, repository } = this;
    const requestOf = (page: number): ForgeRequest => dialect.pullCommits(repository, number, page);
    return this.pages(requestOf, dialect.readPullCommits, signal, COMMIT_PAGES_MAX).catch(noneIfRefused(() => []));
  }

  /** The last commit that the branch has in common with the head; undefined where the forge does not tell. */
  async mergeBase({ mergeBase, head }: OpenPullRequest, tip: string, signal: AbortSignal): Promise<string | undefined> {
    const { readMergeBase } = this.dialect;
    const request = this.dialect.mergeBase?.(this.repository, tip, head);
    if (request === undefined || readMergeBase === undefined) return mergeBase;
    return this.read(request, readMergeBase, signal).catch(noneIfRefused(() => undefined));
  }

  async setStatus(status: PostedStatus, signal: AbortSignal): Promise<void> {
    const { dialect, repository } = this;
    const refusal = await this.statusRefusal(dialect.status(repository, status), signal);
    const offBranch = refusal && dialect.statusOffBranch?.(repository, status, refusal.answer);
    const last = offBranch === undefined ? refusal : await this.statusRefusal(offBranch, signal);
    if (last !== undefined) throw last;
  }

  /** Why it was not taken; undefined: the commit has it. */
  private async statusRefusal(request: ForgeRequest, signal: AbortSignal): Promise<ForgeError | undefined> {
    try {
      await this.client.send(request, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      return this.dialect.isStatusThere?.(error.answer) === true ? undefined : error;
    }
  }

  /**
   * Edits our comment, `id` where it is known, and makes it where there is none, or none that may be edited. Answers
   * its ID.
   */
  async comment(
    number: number,
    { body, id }: { body: string; id: string | undefined },
    signal: AbortSignal,
  ): Promise<string> {
    const edit = async (each: string): Promise<ForgeError | undefined> => {
      try {
        await this.client.send(this.dialect.editComment(this.repository, number, each, body), signal);
        return undefined;
      } catch (error) {
        // Deleted; or of an account that the token is not of any more.
        if (error instanceof ForgeError && (error.fault === 'missing' || error.fault === 'denied')) return error;
        throw error;
      }
    };
    const refusal = id === undefined ? undefined : await edit(id);
    if (id !== undefined && refusal === undefined) return id;
    const listed = await this.comments(number, signal);
    // It is there all the same: whatever answered was not the forge, and a second one is not made for that.
    if (refusal?.fault === 'missing' && listed.some((each) => each.id === id))
      throw new ForgeError('away', refusal.message);
    for (const own of ownComments(listed, body)) if (own !== id && (await edit(own)) === undefined) return own;
    return this.read(this.dialect.createComment(this.repository, number, body), this.dialect.readComment, signal);
  }

  private comments(number: number, signal: AbortSignal): Promise<ListedComment[]> {
    const { dialect, repository } = this;
    return this.pages((page) => dialect.listComments(repository, number, page), dialect.readComments, signal);
  }

  private async pages<Item>(
    requestOf: (page: number) => ForgeRequest,
    read: (answer: unknown) => Item[] | undefined,
    signal: AbortSignal,
    pagesMax = PAGES_MAX,
  ): Promise<Item[]> {
    const items: Item[] = [];
    for (let page = 1; page <= pagesMax; page += 1) {
      const request = requestOf(page);
      const { json, hasNext } = await this.client.send(request, signal);
      items.push(...demanded(read(json), request));
      if (!hasNext) break;
    }
    return items;
  }

  private async read<Answer>(
    request: ForgeRequest,
    read: (answer: unknown) => Answer | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { json } = await this.client.send(request, signal);
    return demanded(read(json), request);
  }
}

/** For what can be done without: the forge takes requests, but not this one. */
function noneIfRefused<None>(none: () => None): (error: unknown) => None {
  return (error) => {
    if (error instanceof ForgeError && (error.fault === 'missing' || error.fault === 'refused')) return none();
    throw error;
  };
}

function demanded<Answer>(answer: Answer | undefined, { method, path }: ForgeRequest): Answer {
  if (answer !== undefined) return answer;
  throw new ForgeError('away', `the forge's answer to ${method} ${path.replace(/\?.*$/s, '')} is none of a forge`);
}
