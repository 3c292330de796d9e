/** Whether the process lives and can serve: of every process. */
import { Module } from '@nestjs/common';
import { HealthController, Readiness } from './health.controller.ts';

@Module({ controllers: [HealthController], providers: [Readiness], exports: [Readiness] })
export class HealthModule {}
