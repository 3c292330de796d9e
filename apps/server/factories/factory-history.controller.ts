/** Routes of what happened to a factory. contract 4, 11 (wait). */
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { RawQuery } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow } from '../http/access-guard.ts';
import { queryOf } from '../http/queries.ts';
import { FactoryHistory } from './factory-history.service.ts';
import type { PageQuery } from './factories.service.ts';

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
