/**
 * Routes of runs, of the questions of their agents, and of what they can be made of. spec: Agent run interface;
 * contract §3.
 */
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { eventPlace, followupProblems, runRequestProblems } from '#runs';
import type { RawQuery, RequestBody } from '#contracts';
import { AccessGuard, accessOf, Allow, callerOf, maySee } from '../http/access-guard.ts';
import { RefusalError } from '../http/error-codes.ts';
import { acceptedType } from '../http/negotiation.ts';
import { queryOf } from '../http/queries.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { EventStreams } from './event-streams.ts';
import { RunListing } from './run-list.service.ts';
import { RunService } from './runs.service.ts';
import { runSourceOf, refuseUnsupportedMembers } from './runs.requests.ts';
import { PermissionService } from './permissions.service.ts';
import { CatalogueService, type EnvironmentQuery, type SkillQuery } from './catalogue.service.ts';

type RunQuery = Record<string, string | string[] | undefined>;

@Controller('api/v1/agent')
export class RunController {
  constructor(
    private readonly runs: RunService,
    private readonly listing: RunListing,
    private readonly streams: EventStreams,
    private readonly guard: AccessGuard,
  ) {}

  @Post(['run', 'runs'])
  @HttpCode(200)
  @Allow('operator', { withAttachments: true })
  create(
    @Body({ schema: bodySchema('run-agent-request', { rules: runRequestProblems }) })
    body: RequestBody<'run-agent-request'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    refuseUnsupportedMembers(body);
    return this.runs.create(body, callerOf(request), runSourceOf(request));
  }

  @Get('runs')
  @Allow('viewer')
  list(@Query() query: RunQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.listing.list(query, accessOf(request));
  }

  /** Runs as the oldest clients know them, which join states by commas. contract §3.11 (tasks). */
  @Get('tasks')
  @Allow('viewer')
  async tasks(@Query() query: RunQuery, @Req() request: FastifyRequest): Promise<unknown> {
    const states = [query['state'] ?? []].flat().flatMap((state) => state.split(','));
    const asked = states.length === 0 ? query : { ...query, state: states };
    const { runs, ...page } = await this.listing.list(asked, accessOf(request));
    return { tasks: runs, ...page };
  }

  @Get(['runs/:runId', 'tasks/:runId'])
  @Allow('viewer')
  get(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.runs.get(runId, accessOf(request));
  }

  @Post('runs/:runId/followups')
  @HttpCode(200)
  @Allow('operator', { withAttachments: true })
  followup(
    @Param('runId') runId: string,
    @Body({ schema: bodySchema('run-followup-request', { rules: followupProblems }) })
    body: RequestBody<'run-followup-request'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
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

  @Post('runs/:runId/interrupt')
  @HttpCode(202)
  @Allow('operator')
  interrupt(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.runs.interrupt(runId, callerOf(request));
  }

  /** The log as it grows, or what there is of it: the Accept header decides. contract §3.1 (events). */
  @Get('runs/:runId/events')
  @Allow('viewer')
  async events(
    @Param('runId') runId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const query = queryOf<{ after: number; limit: number }>('listRunEvents', request.query as RunQuery);
    const access = accessOf(request);
    if (!wantsStream(request.headers.accept))
      return void (await reply.send(await this.runs.events(runId, query.after, query.limit, access)));
    const { factory_uid: factoryUid } = await this.runs.statusOf(runId, access);
    const isAllowed = async (): Promise<boolean> => {
      const now = await this.guard.find(request);
      return now !== undefined && maySee(now, factoryUid ?? undefined);
    };
    const stream = this.streams.watch({
      runId,
      after: resumedFrom(request) ?? query.after,
      keyId: access.keyId,
      isAllowed,
      onceGone: (callback) => void reply.raw.once('close', callback),
    });
    // A client that takes nothing for so long, heartbeats included, is gone without a word.
    reply.raw.setTimeout(STALLED_MS, () => reply.raw.destroy());
    await reply
      .header('Content-Type', STREAM_TYPE)
      .header('Cache-Control', 'no-store')
      .header('X-Accel-Buffering', 'no')
      .send(stream);
  }
}

const STREAM_TYPE = 'text/event-stream';
const JSON_TYPE = 'application/json';
/** Four heartbeats. */
const STALLED_MS = 60_000;

/**
 * A stream, unless the client prefers JSON, or names it and no stream: JSON and a wildcard is what clients send that
 * know nothing of streams.
 */
function wantsStream(accept: string | undefined): boolean {
  const namesJsonAlone = accept?.includes(JSON_TYPE) === true && !accept.includes(STREAM_TYPE);
  return acceptedType(accept, namesJsonAlone ? [JSON_TYPE, STREAM_TYPE] : [STREAM_TYPE, JSON_TYPE]) === STREAM_TYPE;
}

/** Where a client that lost the connection goes on. */
function resumedFrom(request: FastifyRequest): number | undefined {
  const header = request.headers['last-event-id'];
  if (header === undefined || header === '') return undefined;
  const place = eventPlace(String(header));
  if (place !== undefined) return place;
  throw new RefusalError('invalid_request', 'the header Last-Event-ID is no place in a log', {
    errors: [{ pointer: 'Last-Event-ID', message: 'must be the id of an event' }],
  });
}

@Controller('api/v1/agent/runs/:runId/permissions')
export class PermissionController {
  constructor(private readonly permissions: PermissionService) {}

  @Get()
  @Allow('viewer')
  list(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.permissions.list(runId, accessOf(request));
  }

  @Post(':permissionId')
  @HttpCode(200)
  @Allow('operator')
  answer(
    @Param('runId') runId: string,
    @Param('permissionId') permissionId: string,
    @Body({ schema: bodySchema('permission-answer') }) { option_id: optionId }: RequestBody<'permission-answer'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.permissions.answer(runId, permissionId, optionId, callerOf(request));
  }
}

@Controller('api/v1/agent')
export class CatalogueController {
  constructor(private readonly catalogue: CatalogueService) {}

  @Get()
  @Allow('viewer')
  agents(@Req() request: FastifyRequest): Promise<unknown> {
    return this.catalogue.agents(queryOf<SkillQuery>('listAgents', request.query as RawQuery), accessOf(request));
  }

  @Get('environments')
  @Allow('viewer')
  environments(@Req() request: FastifyRequest): Promise<unknown> {
    const query = queryOf<EnvironmentQuery>('listEnvironments', request.query as RawQuery);
    return this.catalogue.environments(query, accessOf(request));
  }

  @Get('models')
  @Allow('viewer')
  models(@Req() request: FastifyRequest): Promise<unknown> {
    return this.catalogue.modelList(accessOf(request));
  }
}
