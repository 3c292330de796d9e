/** The route of explanations. contract §4, §11. */
import { Controller, Get, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow } from '../http/access-guard.ts';
import { ExplanationService } from './explanations.service.ts';

@Controller('api/v1/explanations')
export class ExplanationController {
  constructor(private readonly explanations: ExplanationService) {}

  @Get(':id')
  @Allow('viewer')
  explain(@Param('id') id: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.explanations.explain(id, accessOf(request));
  }
}
