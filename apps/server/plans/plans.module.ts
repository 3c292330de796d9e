/** Plans of factories. */
import { Module } from '@nestjs/common';
import { FiltersModule } from '../filters/filters.module.ts';
import { Replays } from './delivery-replays.ts';
import { PlanImpact } from './plan-impact.ts';
import { PlanService } from './plans.service.ts';
import { RefTrees } from './ref-trees.ts';

@Module({ imports: [FiltersModule], providers: [PlanImpact, PlanService, RefTrees, Replays], exports: [PlanService] })
export class PlansModule {}
