/** Routes of agent identities. contract §3.14 (Agent identities). */
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Req } from '@nestjs/common';
import type { RawQuery, RequestBody } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { queryOf } from '../http/queries.ts';
import { AgentIdentityService } from './agent-identities.service.ts';

@Controller('api/v1/agent/identities')
export class AgentIdentityController {
  constructor(private readonly identities: AgentIdentityService) {}

  @Get()
  @Allow('viewer')
  list(@Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    const { factory_uid: factoryUid } = queryOf<{ factory_uid?: string }>('listAgentIdentities', query);
    return this.identities.list(factoryUid, accessOf(request));
  }

  @Post()
  @HttpCode(200)
  @Allow('operator')
  create(
    @Body({ schema: bodySchema('agent-identity-create') }) body: RequestBody<'agent-identity-create'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.identities.create(body, callerOf(request));
  }

  @Get(':uid')
  @Allow('viewer')
  get(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.identities.get(uid, accessOf(request));
  }

  @Put(':uid')
  @Allow('operator')
  update(
    @Param('uid') uid: string,
    @Body({ schema: bodySchema('agent-identity-update') }) body: RequestBody<'agent-identity-update'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.identities.update(uid, body, callerOf(request));
  }

  @Delete(':uid')
  @HttpCode(204)
  @Allow('operator')
  async remove(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<void> {
    await this.identities.remove(uid, callerOf(request));
  }
}
