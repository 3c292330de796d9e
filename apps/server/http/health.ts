/** Whether the process lives and whether it can serve. contract 1. */
import { Controller, Get, HttpCode, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AccessStore } from '../store/access.ts';

@Controller()
export class HealthController {
  private readonly store: AccessStore;
  constructor(store: AccessStore) {
    this.store = store;
  }

  @Get('healthz')
  @HttpCode(200)
  alive(): { status: string } {
    return { status: 'ok' };
  }

  /** 200 while the database answers, whatever the state of any repository. */
  @Get('readyz')
  async ready(@Res() reply: FastifyReply): Promise<void> {
    try {
      await this.store.ping();
      await reply.status(200).send({ status: 'ready' });
    } catch {
      await reply.status(503).header('Retry-After', '5').send({ status: 'not ready' });
    }
  }
}
