/** Routes of the agent run interface. spec: Agent run interface; contract 3. */
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { RunSource } from '#runs';
import { accessOf, Allow } from '../http/access.ts';
import { Refusal } from '../http/answers.ts';
import { queryInteger, queryList } from '../http/body.ts';
import { RUN_AGENT_REQUEST, RUN_FOLLOWUP_REQUEST, type RunAgentRequest, type RunFollowupRequest } from '../http/body-schemas.ts';
import { RunService } from './service.ts';

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
    refuseMembers(body, MEMBERS_NOT_HERE, '/');
    return this.runs.create(body, accessOf(request), sourceOf(request));
  }

  @Get('runs')
  @Allow('viewer')
  list(@Query() query: RunQuery, @Req() request: FastifyRequest): Promise<unknown> {
    refuseMembers(query, FILTERS_NOT_HERE, '');
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
    refuseMembers(body, ['attachments'], '/');
    return this.runs.followup(runId, body, accessOf(request));
  }

  @Post('runs/:runId/cancel')
  @HttpCode(200)
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Allow('operator')
  async cancel(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    // A bare JSON string: serialised here, because the framework would send a string as text.
    return JSON.stringify(await this.runs.cancel(runId, accessOf(request)));
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

/** Members of a request that mean something elsewhere and nothing here: leaving them out in silence would do another thing than was asked for. contract 3. */
const MEMBERS_NOT_HERE = ['agent_identity_uid', 'on_behalf_of', 'attachments', 'conversation_id', 'parent_run_id'];

/** Filters that a list without them would answer wrongly. contract 3 (List). */
const FILTERS_NOT_HERE = [
  'model_id', 'creator', 'executor', 'source', 'created_after', 'created_before', 'updated_after', 'environment_id', 'skill', 'skill_spec', 'automation_id',
  'webhook_uid', 'schedule_id', 'execution_location', 'ancestor_run_id', 'artifact_type', 'q', 'sort_by', 'sort_order',
];

function refuseMembers(given: object, unsupported: readonly string[], at: string): void {
  const found = Object.entries(given).filter(([name, value]) => value !== undefined && (unsupported.includes(name) || name.startsWith('metadata[')));
  if (found.length === 0) return;
  const errors = found.map(([name]) => ({ pointer: `${at}${name}`, message: 'is not supported here' }));
  throw new Refusal('operation_not_supported', `this service does not have ${found.map(([name]) => name).join(', ')}`, { errors });
}

function sourceOf(request: FastifyRequest): RunSource {
  return String(request.headers['x-millwright-client'] ?? '').startsWith('cli/') ? 'CLI' : 'API';
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
