/** What a process tells of itself in figures: of every process. */
import { Module } from '@nestjs/common';
import { MetricsController } from './metrics.controller.ts';
import { MetricsListener } from './metrics-listener.ts';

@Module({ controllers: [MetricsController], providers: [MetricsListener], exports: [MetricsListener] })
export class MetricsModule {}
