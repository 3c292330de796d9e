/** Routes of automations. contract §4. */
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { Automation, RawQuery, RequestBody } from '#contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { versionTag, wantedVersion } from '../http/conditional-requests.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { queryOf } from '../http/queries.ts';
import { AutomationService, type AutomationListQuery } from './automations.service.ts';
import { automationRequestErrors } from '#management';

@Controller('api/v1/factory/:factoryUid/automations')
export class AutomationController {
  constructor(private readonly automations: AutomationService) {}

  @Get()
  @Allow('viewer')
  list(
    @Param('factoryUid') factoryUid: string,
    @Query() query: RawQuery,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.automations.list(factoryUid, queryOf<AutomationListQuery>('listAutomations', query), accessOf(request));
  }

  @Post()
  @HttpCode(200)
  @Allow('manager')
  async create(
    @Param('factoryUid') factoryUid: string,
    @Body({ schema: bodySchema('automation-create', { refusedLater: automationRequestErrors }) })
    body: RequestBody<'automation-create'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return tagged(reply, await this.automations.create(factoryUid, body, callerOf(request)));
  }

  @Get(':automationId')
  @Allow('viewer')
  async get(
    @Param('factoryUid') factoryUid: string,
    @Param('automationId') uid: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return tagged(reply, await this.automations.get(factoryUid, uid, accessOf(request)));
  }

  @Patch(':automationId')
  @Allow('manager')
  async change(
    @Param('factoryUid') factoryUid: string,
    @Param('automationId') uid: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body({ schema: bodySchema('automation-patch', { refusedLater: automationRequestErrors }) })
    body: RequestBody<'automation-patch'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return tagged(
      reply,
      await this.automations.change(factoryUid, uid, body, wantedVersion(ifMatch, true), callerOf(request)),
    );
  }

  @Delete(':automationId')
  @HttpCode(204)
  @Allow('manager')
  remove(
    @Param('factoryUid') factoryUid: string,
    @Param('automationId') uid: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    return this.automations.remove(factoryUid, uid, wantedVersion(ifMatch), callerOf(request));
  }
}

function tagged(reply: FastifyReply, item: Automation): Automation {
  void reply.header('ETag', versionTag(item.version));
  return item;
}
