/** What a process tells of itself in figures: of every process. */
import { Module } from '@nestjs/common';
import { EventLoopDelay } from '../process/event-loop.ts';
import { InstallationFigures } from './installation-figures.ts';
import { MetricsController, MetricsListener } from './metrics.controller.ts';
import { MetricsText } from './metrics-text.ts';

@Module({
  controllers: [MetricsController],
  providers: [MetricsListener, MetricsText, InstallationFigures, EventLoopDelay],
  exports: [MetricsListener, EventLoopDelay],
})
export class MetricsModule {}
