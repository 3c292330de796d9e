/** Agent identities: named defaults of runs, made over the API. */
import { Module } from '@nestjs/common';
import { AgentIdentityController } from './agent-identities.controller.ts';
import { AgentIdentityService } from './agent-identities.service.ts';

@Module({ controllers: [AgentIdentityController], providers: [AgentIdentityService] })
export class AgentIdentitiesModule {}
