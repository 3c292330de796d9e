/** Routes of browsers that sign in. contract §4. */
import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { RequestBody } from '#contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AccessGuard, Allow, AllowEverybody, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { recordOf } from '../http/requests.ts';
import { SessionService } from './sessions.service.ts';
import { Sessions } from './session-authenticator.ts';

@Controller('api/v1/session')
export class SessionController {
  constructor(
    private readonly service: SessionService,
    private readonly sessions: Sessions,
    private readonly guard: AccessGuard,
  ) {}

  /** From our own pages only: another site could sign somebody in as whom it likes, and see what he does there. */
  @Post()
  @HttpCode(200)
  @AllowEverybody({ ownPagesOnly: true })
  async open(
    @Body({ schema: bodySchema('session-create') }) { api_key: key }: RequestBody<'session-create'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    await this.guard.admitKey(key, request, reply);
    const { token, seconds, item } = await this.service.open(callerOf(request));
    void reply.header('Set-Cookie', this.sessions.cookie.given(token, seconds));
    return item;
  }

  @Get()
  @Allow('viewer')
  get(@Req() request: FastifyRequest): Promise<unknown> {
    return this.service.get(callerOf(request), recordOf(request.raw).session);
  }

  @Delete()
  @HttpCode(204)
  @Allow('viewer')
  async close(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    await this.service.close(callerOf(request), recordOf(request.raw).session);
    void reply.header('Set-Cookie', this.sessions.cookie.cleared());
  }
}
