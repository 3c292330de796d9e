/** Routes of the delivery log. contract §4. */
import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { RawQuery } from '#contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { queryOf } from '../http/queries.ts';
import { ResendService } from './resends.service.ts';
import { DeliveryService, type DeliveryListQuery } from './deliveries.service.ts';

@Controller('api/v1/factory/:uid/webhooks/:webhookUid/deliveries')
export class DeliveryController {
  constructor(
    private readonly deliveries: DeliveryService,
    private readonly resends: ResendService,
  ) {}

  @Get()
  @Allow('viewer')
  list(
    @Param('uid') factoryUid: string,
    @Param('webhookUid') webhookUid: string,
    @Query() query: RawQuery,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.deliveries.list(
      { factoryUid, webhookUid },
      queryOf<DeliveryListQuery>('listDeliveries', query),
      accessOf(request),
    );
  }

  @Get(':entryId')
  @Allow('viewer')
  get(
    @Param('uid') factoryUid: string,
    @Param('webhookUid') webhookUid: string,
    @Param('entryId') entryId: string,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.deliveries.get({ factoryUid, webhookUid }, entryId, accessOf(request));
  }

  @Post(':entryId/resend')
  @HttpCode(202)
  @Allow('operator')
  resend(
    @Param('uid') factoryUid: string,
    @Param('webhookUid') webhookUid: string,
    @Param('entryId') entryId: string,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.resends.resend({ factoryUid, webhookUid }, entryId, callerOf(request));
  }

  /** Stored bytes of a sender: an attachment that no browser will render. contract §10. */
  @Get(':entryId/payload')
  @Allow('viewer')
  async payload(
    @Param('uid') factoryUid: string,
    @Param('webhookUid') webhookUid: string,
    @Param('entryId') entryId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const bytes = await this.deliveries.payload({ factoryUid, webhookUid }, entryId, accessOf(request));
    await reply
      .header('Content-Type', 'application/octet-stream')
      .header('Content-Disposition', 'attachment; filename="event-payload.json"')
      .header('Content-Security-Policy', "sandbox; default-src 'none'")
      .header('X-Content-Type-Options', 'nosniff')
      .send(Buffer.from(bytes));
  }
}
