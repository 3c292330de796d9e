/** Routes of the factory interface, and of what happened to a factory. contract §4, §11.1 (wait). */
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FactoryDispatchResponse, RawQuery, RequestBody } from '#contracts';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { abortOnDisconnect } from '../http/connections.ts';
import { dispatchProblems } from '#runs';
import { planRequestProblems } from '#reconcile';
import { filterTestProblems, filterReplayProblems, filterSuggestionProblems } from '#filters';
import { bodySchema } from '../http/body-schemas.ts';
import { queryOf } from '../http/queries.ts';
import { DISPATCH_MEMBERS, refuseUnsupportedMembers, runSourceOf } from '../runs/runs.requests.ts';
import { RunService } from '../runs/runs.service.ts';
import { FilterReplayService } from '../filters/filter-replays.service.ts';
import { FilterSuggestionService } from '../filters/filter-suggestions.service.ts';
import { FilterTestService } from '../filters/filter-tests.service.ts';
import { PlanService } from '../plans/plans.service.ts';
import { FactoryService, type FactoryListQuery, type PageQuery } from './factories.service.ts';
import { FactoryHistory } from './factory-history.service.ts';
import { factoryRequestErrors } from './factories.requests.ts';

@Controller('api/v1/factory')
export class FactoryController {
  constructor(
    private readonly factories: FactoryService,
    private readonly plans: PlanService,
    private readonly filterTests: FilterTestService,
    private readonly filterReplays: FilterReplayService,
    private readonly filterSuggestions: FilterSuggestionService,
    private readonly runs: RunService,
  ) {}

  @Get()
  @Allow('viewer')
  list(@Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.list(queryOf<FactoryListQuery>('listFactories', query), accessOf(request));
  }

  @Post()
  @HttpCode(200)
  @Allow('admin')
  create(
    @Body({ schema: bodySchema('factory-create', { refusedLater: factoryRequestErrors }) })
    body: RequestBody<'factory-create'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.factories.create(body, callerOf(request));
  }

  @Get(':uid')
  @Allow('viewer')
  get(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.get(uid, accessOf(request));
  }

  @Patch(':uid')
  @Allow('admin')
  patch(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('factory-patch', { refusedLater: factoryRequestErrors }) })
    body: RequestBody<'factory-patch'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.factories.patch(uid, body, callerOf(request));
  }

  @Delete(':uid')
  @HttpCode(204)
  @Allow('admin')
  remove(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<void> {
    return this.factories.remove(uid, callerOf(request));
  }

  /** spec: What the service does 5. */
  @Post(':uid/runs')
  @HttpCode(200)
  @Allow('operator', { withAttachments: true })
  dispatch(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('dispatch-request', { rules: dispatchProblems }) })
    body: RequestBody<'dispatch-request'>,
    @Req() request: FastifyRequest,
  ): Promise<FactoryDispatchResponse> {
    refuseUnsupportedMembers(body, DISPATCH_MEMBERS);
    return this.runs.dispatch(uid, body, callerOf(request), runSourceOf(request));
  }

  @Get(':uid/status')
  @Allow('viewer')
  status(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.status(uid, accessOf(request));
  }

  @Post(':uid/sync')
  @HttpCode(200)
  @Allow('manager')
  sync(@Param('uid') uid: string, @Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.sync(uid, queryOf<{ wait: boolean }>('syncFactory', query).wait, callerOf(request));
  }

  @Post(':uid/suspend')
  @HttpCode(200)
  @Allow('manager')
  suspend(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.setSuspended(uid, true, callerOf(request));
  }

  @Post(':uid/resume')
  @HttpCode(200)
  @Allow('manager')
  resume(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.setSuspended(uid, false, callerOf(request));
  }

  @Post(':uid/approve')
  @HttpCode(200)
  @Allow('manager')
  approve(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('approve') }) body: RequestBody<'approve'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.factories.approve(uid, body.plan, callerOf(request));
  }

  @Get(':uid/syncs')
  @Allow('viewer')
  passes(@Param('uid') uid: string, @Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.passes(uid, queryOf<PageQuery>('listSyncs', query), accessOf(request));
  }

  @Get(':uid/syncs/:id')
  @Allow('viewer')
  pass(@Param('uid') uid: string, @Param('id') id: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.pass(uid, id, accessOf(request));
  }

  @Post(':uid/plan')
  @HttpCode(200)
  @Allow('viewer', { withTree: true })
  plan(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('plan-request', { rules: planRequestProblems }) }) body: RequestBody<'plan-request'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.plans.plan(uid, body, accessOf(request), abortOnDisconnect(reply));
  }

  /** spec: Webhook management (Test filter). */
  @Post(':uid/filters/test')
  @HttpCode(200)
  @Allow('viewer')
  testFilter(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('filter-test-request', { rules: filterTestProblems }) })
    body: RequestBody<'filter-test-request'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.filterTests.test(uid, body, accessOf(request), abortOnDisconnect(reply));
  }

  @Post(':uid/filters/replay')
  @HttpCode(200)
  @Allow('viewer')
  replayFilter(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('filter-replay-request', { rules: filterReplayProblems }) })
    body: RequestBody<'filter-replay-request'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.filterReplays.replay(uid, body, accessOf(request), abortOnDisconnect(reply));
  }

  @Post(':uid/filters/suggest')
  @HttpCode(200)
  @Allow('viewer')
  suggestFilter(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('filter-suggest-request', { rules: filterSuggestionProblems }) })
    body: RequestBody<'filter-suggest-request'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.filterSuggestions.suggest(uid, body, accessOf(request), abortOnDisconnect(reply));
  }
}

@Controller('api/v1/factory')
export class FactoryHistoryController {
  constructor(private readonly history: FactoryHistory) {}

  @Get(':uid/events')
  @Allow('viewer')
  events(@Param('uid') uid: string, @Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.history.events(uid, queryOf<PageQuery>('listFactoryEvents', query), accessOf(request));
  }

  @Get(':uid/revisions/:revision')
  @Allow('viewer')
  revision(
    @Param('uid') uid: string,
    @Param('revision') revision: string,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.history.revision(uid, revision, accessOf(request));
  }
}
