/** Why a delivery or a run came to be what it is. */
import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.ts';
import { ExplanationController } from './explanations.controller.ts';
import { ExplanationService } from './explanations.service.ts';

@Module({ imports: [RunsModule], controllers: [ExplanationController], providers: [ExplanationService] })
export class ExplanationsModule {}
