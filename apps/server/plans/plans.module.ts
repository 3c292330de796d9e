/** Plans of factories. */
import { Module } from '@nestjs/common';
import { FiltersModule } from '../filters/filters.module.ts';
import { Replays } from './delivery-replays.ts';
import { PlanImpact } from './plan-impact.ts';
import { PlanService } from './plans.service.ts';

@Module({ imports: [FiltersModule], providers: [PlanImpact, PlanService, Replays], exports: [PlanService] })
export class PlansModule {}
