/** Route of open pull requests. contract §9.9. */
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { RawQuery } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow } from '../http/access-guard.ts';
import { queryOf } from '../http/queries.ts';
import { PullRequestService, type PullRequestQuery } from './pull-requests.service.ts';

@Controller('api/v1/factory')
export class PullRequestController {
  constructor(private readonly pullRequests: PullRequestService) {}

  @Get(':uid/pull-requests')
  @Allow('viewer')
  list(@Param('uid') uid: string, @Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.pullRequests.list(uid, queryOf<PullRequestQuery>('listPullRequests', query), accessOf(request));
  }
}
