/** Routes of schedules. contract §12.8 (Schedules). */
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Req } from '@nestjs/common';
import type { RequestBody } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { newScheduleProblems, scheduleProblems } from '#runs';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { ScheduledAgentService } from './scheduled-agents.service.ts';

@Controller('api/v1/agent/schedules')
export class ScheduleController {
  constructor(private readonly schedules: ScheduledAgentService) {}

  @Get()
  @Allow('viewer')
  list(@Req() request: FastifyRequest): Promise<unknown> {
    return this.schedules.list(accessOf(request));
  }

  @Post()
  @HttpCode(200)
  @Allow('operator')
  create(
    @Body({ schema: bodySchema('schedule-create', { rules: newScheduleProblems }) })
    body: RequestBody<'schedule-create'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.schedules.create(body, callerOf(request));
  }

  @Get(':scheduleId')
  @Allow('viewer')
  get(@Param('scheduleId') scheduleId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.schedules.get(scheduleId, accessOf(request));
  }

  @Put(':scheduleId')
  @Allow('operator')
  update(
    @Param('scheduleId') scheduleId: string,
    @Body({ schema: bodySchema('schedule-update', { rules: scheduleProblems }) })
    body: RequestBody<'schedule-update'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.schedules.update(scheduleId, body, callerOf(request));
  }

  @Delete(':scheduleId')
  @Allow('operator')
  remove(@Param('scheduleId') scheduleId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.schedules.remove(scheduleId, callerOf(request));
  }

  @Post(':scheduleId/pause')
  @HttpCode(200)
  @Allow('operator')
  pause(@Param('scheduleId') scheduleId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.schedules.setEnabled(scheduleId, false, callerOf(request));
  }

  @Post(':scheduleId/resume')
  @HttpCode(200)
  @Allow('operator')
  resume(@Param('scheduleId') scheduleId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.schedules.setEnabled(scheduleId, true, callerOf(request));
  }
}
