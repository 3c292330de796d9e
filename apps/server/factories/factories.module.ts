/** Factories: their life, their plans, and what happened to them. */
import { Module } from '@nestjs/common';
import { FiltersModule } from '../filters/filters.module.ts';
import { PlansModule } from '../plans/plans.module.ts';
import { RunsModule } from '../runs/runs.module.ts';
import { FactoryController, FactoryHistoryController } from './factories.controller.ts';
import { FactoryService } from './factories.service.ts';
import { FactoryHistory } from './factory-history.service.ts';

@Module({
  imports: [FiltersModule, PlansModule, RunsModule],
  controllers: [FactoryController, FactoryHistoryController],
  providers: [FactoryService, FactoryHistory],
})
export class FactoriesModule {}
