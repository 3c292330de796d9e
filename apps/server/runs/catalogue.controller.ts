/** Routes of what runs can be made of. contract 3 (agent, environments, models). */
import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { RawQuery } from '#contracts';
import { accessOf, Allow } from '../http/access-guard.ts';
import { queryOf } from '../http/queries.ts';
import { CatalogueService, type SkillQuery } from './catalogue.service.ts';

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
    return this.catalogue.environments(accessOf(request));
  }

  @Get('models')
  @Allow('viewer')
  models(@Req() request: FastifyRequest): Promise<unknown> {
    return this.catalogue.modelList(accessOf(request));
  }
}
