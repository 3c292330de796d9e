/** Routes of the agent run interface. spec: Agent run interface; contract 3. */
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access.ts';
import { queryInteger, queryList, single } from '../http/body.ts';
import { RUN_AGENT_REQUEST, RUN_FOLLOWUP_REQUEST, type RunAgentRequest, type RunFollowupRequest } from '../http/body-schemas.ts';
import { RunService } from './service.ts';
import { sourceOf } from './source.ts';
import { refuseUnsupportedFilters, refuseUnsupportedMembers } from './unsupported.ts';

type RunQuery = Record<string, string | string[] | undefined>;

@Controller('api/v1/agent')
export class RunController {
  private readonly runs: RunService;
  constructor(runs: RunService) {
    this.runs = runs;
  }

  @Post(['run', 'runs'])
  @HttpCode(200)
  @Allow('operator')
  create(@Body({ schema: RUN_AGENT_REQUEST }) body: RunAgentRequest, @Req() request: FastifyRequest): Promise<unknown> {
    refuseUnsupportedMembers(body);
    return this.runs.create(body, callerOf(request), sourceOf(request));
  }

  @Get('runs')
  @Allow('viewer')
  list(@Query() query: RunQuery, @Req() request: FastifyRequest): Promise<unknown> {
    refuseUnsupportedFilters(query);
    return this.runs.list(
      {
        states: queryList(query['state']), factoryUids: queryList(query['factory_uid']), name: single(query['name'] ?? query['config_name']),
        deliveryId: single(query['delivery_id']), limit: queryInteger(single(query['limit']), 'limit', 20, 1, 500), cursor: single(query['cursor']),
      },
      accessOf(request),
    );
  }

  @Get('runs/:runId')
  @Allow('viewer')
  get(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.runs.get(runId, accessOf(request));
  }

  @Post('runs/:runId/followups')
  @HttpCode(200)
  @Allow('operator')
  followup(@Param('runId') runId: string, @Body({ schema: RUN_FOLLOWUP_REQUEST }) body: RunFollowupRequest, @Req() request: FastifyRequest): Promise<unknown> {
    refuseUnsupportedMembers(body);
    return this.runs.followup(runId, body, callerOf(request));
  }

  @Post('runs/:runId/cancel')
  @HttpCode(200)
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Allow('operator')
  async cancel(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    // A bare JSON string: serialised here, because the framework would send a string as text.
    return JSON.stringify(await this.runs.cancel(runId, callerOf(request)));
  }

  @Get('runs/:runId/events')
  @Allow('viewer')
  events(@Param('runId') runId: string, @Query() query: RunQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.runs.events(
      runId,
      queryInteger(single(query['after']), 'after', 0, 0, 999_999_999),
      queryInteger(single(query['limit']), 'limit', 200, 1, 1_000),
      accessOf(request),
    );
  }
}
