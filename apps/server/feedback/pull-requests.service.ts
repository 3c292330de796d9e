/** Open pull requests of a factory with their verdicts, as the API shows them. contract §9.9, §4.1 (pull-requests). */
import { Injectable } from '@nestjs/common';
import type { ForgeStatus, PullRequest, PullRequestList } from '#contracts';
import { forgePlaceOf, statusDescription, type ForgePlace } from '#reconcile';
import { queryDigest } from '#runs';
import { visibleFactory } from '../http/access-guard.ts';
import { pageKeyOf, pageOf, toTime } from '../http/queries.ts';
import { Clock } from '../process/injection-tokens.ts';
import type { Access } from '../store/access/access.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import type { StoredPullRequest, StoredStatus } from '../store/factories/feedback-rows.ts';
import { FeedbackStore } from '../store/factories/feedback.ts';
import { ForgeStore } from '../store/factories/forge-conditions.ts';
import { PullRequestJudge } from './pull-request-judge.ts';

/** A parsed query. */
export interface PullRequestQuery {
  limit: number;
  cursor?: string;
}

@Injectable()
export class PullRequestService {
  constructor(
    private readonly factories: FactoryStore,
    private readonly forges: ForgeStore,
    private readonly store: FeedbackStore,
    private readonly judge: PullRequestJudge,
    private readonly clock: Clock,
  ) {}

  async list(uid: string, { limit, cursor }: PullRequestQuery, access: Access): Promise<PullRequestList> {
    const factory = await visibleFactory(this.factories, uid, access);
    const digest = queryDigest({ list: 'pull-requests', factory: uid });
    const [before] = pageKeyOf(cursor, digest, ['number']) ?? [];
    const place = forgePlaceOf(factory.source);
    if (place === undefined) return { pull_requests: [], forge: null, page_info: { has_next_page: false } };
    const found = await this.store.openPulls(uid, limit + 1, before as number | undefined);
    const { page, pageInfo } = pageOf(found, limit, digest, ({ number }) => [number]);
    const heads = page.map(({ head }) => head);
    const statuses = await this.store.statuses(uid, heads);
    return {
      pull_requests: page.map((pull) =>
        toPullRequestItem(pull, statuses.get(pull.head), this.judge.planUrl(uid, pull.number)),
      ),
      forge: await this.forgeItem(uid, place),
      page_info: pageInfo,
    };
  }

  private async forgeItem(uid: string, { forge, repository }: ForgePlace): Promise<ForgeStatus> {
    const [condition, waiting] = await Promise.all([this.forges.condition(uid), this.store.waiting(uid)]);
    const { polledAtMs, fault, message, retryAtMs = 0 } = condition ?? {};
    return {
      kind: forge,
      repository,
      polled_at: polledAtMs === undefined ? null : toTime(polledAtMs),
      fault: (fault ?? null) as ForgeStatus['fault'],
      message: message ?? null,
      retry_at: retryAtMs > this.clock.nowMs() ? toTime(retryAtMs) : null,
      waiting,
    };
  }
}

function toPullRequestItem(pull: StoredPullRequest, status: StoredStatus | undefined, planUrl: string): PullRequest {
  const { number, title, author, url, head, base, isFork, judged, judgedAgainst, updatedAtMs } = pull;
  const isJudged = judged === head && status !== undefined && status.state !== 'superseded';
  return {
    number,
    title,
    author,
    url: url === '' ? null : url,
    head,
    base,
    fork: isFork,
    verdict: isJudged ? (status.state as PullRequest['verdict']) : 'pending',
    description: isJudged ? status.description : statusDescription('the plan is being made'),
    judged_against: isJudged ? (judgedAgainst ?? null) : null,
    plan_url: planUrl,
    posted: isJudged && status.isPosted && !pull.hasDueComment,
    updated_at: toTime(updatedAtMs),
  };
}
