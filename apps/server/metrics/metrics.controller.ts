/** Figures of this process, to whoever has a key. contract §1.1 (/metrics). */
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Allow } from '../http/access-guard.ts';
import { Metrics } from '../process/metrics.ts';

@Controller()
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get('metrics')
  @Allow('viewer')
  async figures(@Res() reply: FastifyReply): Promise<void> {
    await reply.header('Content-Type', this.metrics.contentType).send(await this.metrics.text());
  }
}
