/** What a process tells of itself in figures: of every process. */
import { Module } from '@nestjs/common';
import { MetricsController, MetricsListener } from './metrics.controller.ts';

@Module({ controllers: [MetricsController], providers: [MetricsListener], exports: [MetricsListener] })
export class MetricsModule {}
