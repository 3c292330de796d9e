/** Statistics of deliveries and runs. */
import { Module } from '@nestjs/common';
import { StatisticsController } from './statistics.controller.ts';
import { StatisticsService } from './statistics.service.ts';

@Module({ controllers: [StatisticsController], providers: [StatisticsService] })
export class StatisticsModule {}
