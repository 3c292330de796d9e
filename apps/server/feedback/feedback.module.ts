/** Feedback in pull requests: processes that sync answer them, those with the API show how they stand. */
import { Module } from '@nestjs/common';
import { PlansModule } from '../plans/plans.module.ts';
import { FeedbackLoop } from './feedback-loop.ts';
import { FeedbackService } from './feedback.service.ts';
import { ForgeConnections } from './forge-connections.ts';
import { PullRequestJudge } from './pull-request-judge.ts';
import { PullRequestController } from './pull-requests.controller.ts';
import { PullRequestService } from './pull-requests.service.ts';

/** Answers them. */
@Module({
  imports: [PlansModule],
  providers: [FeedbackLoop, FeedbackService, ForgeConnections, PullRequestJudge],
  exports: [FeedbackLoop],
})
export class FeedbackModule {}

/** Lists them. */
@Module({
  imports: [PlansModule],
  controllers: [PullRequestController],
  providers: [PullRequestService, PullRequestJudge],
})
export class PullRequestsModule {}
