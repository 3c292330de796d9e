/** Routes of what agents ask permission for. contract 3 (States, Follow-up). */
import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { RequestBody } from '#contracts';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { PermissionService } from './permissions.service.ts';

@Controller('api/v1/agent/runs/:runId/permissions')
export class PermissionController {
  constructor(private readonly permissions: PermissionService) {}

  @Get()
  @Allow('viewer')
  list(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.permissions.list(runId, accessOf(request));
  }

  @Post(':permissionId')
  @HttpCode(200)
  @Allow('operator')
  answer(
    @Param('runId') runId: string,
    @Param('permissionId') permissionId: string,
    @Body({ schema: bodySchema('permission-answer') }) { option_id: optionId }: RequestBody<'permission-answer'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.permissions.answer(runId, permissionId, optionId, callerOf(request));
  }
}
