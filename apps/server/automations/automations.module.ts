/** Automations. */
import { Module } from '@nestjs/common';
import { AutomationController } from './automations.controller.ts';
import { AutomationService } from './automations.service.ts';

@Module({ controllers: [AutomationController], providers: [AutomationService] })
export class AutomationsModule {}
