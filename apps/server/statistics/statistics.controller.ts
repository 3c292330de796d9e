/** Routes of what charts show. contract §12.2 (Statistics). */
import { Controller, Get, Query, Req } from '@nestjs/common';
import type { RawQuery } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow } from '../http/access-guard.ts';
import { queryOf } from '../http/queries.ts';
import { StatisticsService, type DeliveryStatisticsQuery, type RunStatisticsQuery } from './statistics.service.ts';

@Controller('api/v1/statistics')
export class StatisticsController {
  constructor(private readonly statistics: StatisticsService) {}

  @Get('deliveries')
  @Allow('viewer')
  deliveries(@Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.statistics.deliveries(
      queryOf<DeliveryStatisticsQuery>('getDeliveryStatistics', query),
      accessOf(request),
    );
  }

  @Get('runs')
  @Allow('viewer')
  runs(@Query() query: RawQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.statistics.runs(queryOf<RunStatisticsQuery>('getRunStatistics', query), accessOf(request));
  }
}
