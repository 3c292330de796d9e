/** Routes of the factory interface. contract 4. */
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access.ts';
import { queryInteger, single } from '../http/body.ts';
import { DISPATCH_REQUEST, FACTORY_CREATE, FACTORY_PATCH, PLAN_APPROVAL, type FactoryCreate, type FactoryDispatchRequest, type FactoryPatch, type PlanApproval } from '../http/body-schemas.ts';
import { refuseUnsupportedMembers } from '../runs/unsupported.ts';
import { sourceOf } from '../runs/source.ts';
import { RunService } from '../runs/service.ts';
import { FactoryService } from './service.ts';

type PageQuery = Record<string, string | string[] | undefined>;

@Controller('api/v1/factory')
export class FactoryController {
  private readonly factories: FactoryService;
  private readonly runs: RunService;
  constructor(factories: FactoryService, runs: RunService) {
    this.factories = factories;
    this.runs = runs;
  }

  @Get()
  @Allow('viewer')
  list(@Query() query: PageQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.list(pageSize(query), single(query['cursor']), single(query['search']), accessOf(request));
  }

  @Post()
  @HttpCode(200)
  @Allow('admin')
  create(@Body({ schema: FACTORY_CREATE }) body: FactoryCreate, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.create(body, callerOf(request));
  }

  @Get(':uid')
  @Allow('viewer')
  get(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.get(uid, accessOf(request));
  }

  @Patch(':uid')
  @Allow('admin')
  patch(@Param('uid') uid: string, @Body({ schema: FACTORY_PATCH }) body: FactoryPatch, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.patch(uid, body, callerOf(request));
  }

  @Delete(':uid')
  @HttpCode(204)
  @Allow('admin')
  remove(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<void> {
    return this.factories.remove(uid, callerOf(request));
  }

  /** spec: factory dispatch. */
  @Post(':uid/runs')
  @HttpCode(200)
  @Allow('operator')
  async dispatch(@Param('uid') uid: string, @Body({ schema: DISPATCH_REQUEST }) body: FactoryDispatchRequest, @Req() request: FastifyRequest): Promise<unknown> {
    refuseUnsupportedMembers(body);
    const { prompt, title, config, metadata, ticket_ref, ticket_url } = body;
    const created = await this.runs.create({ prompt, title, config, metadata, factory_uid: uid }, callerOf(request), sourceOf(request), { ticket_ref, ticket_url });
    return { factory_uid: uid, run_id: created.run_id, state: created.state, ticket_ref: ticket_ref ?? null, run_url: this.runs.linkOf(created.run_id), foreman_agent: null };
  }

  @Get(':uid/status')
  @Allow('viewer')
  status(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.status(uid, accessOf(request));
  }

  @Post(':uid/sync')
  @HttpCode(200)
  @Allow('manager')
  sync(@Param('uid') uid: string, @Query('wait') wait: string | string[] | undefined, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.sync(uid, single(wait) === 'true', accessOf(request));
  }

  @Post(':uid/suspend')
  @HttpCode(200)
  @Allow('manager')
  suspend(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.setSuspended(uid, true, callerOf(request));
  }

  @Post(':uid/resume')
  @HttpCode(200)
  @Allow('manager')
  resume(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.setSuspended(uid, false, callerOf(request));
  }

  @Post(':uid/approve')
  @HttpCode(200)
  @Allow('manager')
  approve(@Param('uid') uid: string, @Body({ schema: PLAN_APPROVAL }) body: PlanApproval, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.approve(uid, body.plan, callerOf(request));
  }

  @Get(':uid/syncs')
  @Allow('viewer')
  passes(@Param('uid') uid: string, @Query() query: PageQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.passes(uid, pageSize(query), single(query['cursor']), accessOf(request));
  }

  @Get(':uid/syncs/:id')
  @Allow('viewer')
  pass(@Param('uid') uid: string, @Param('id') id: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.pass(uid, id, accessOf(request));
  }

  @Get(':uid/webhooks')
  @Allow('viewer')
  webhooks(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.webhookList(uid, accessOf(request));
  }

  @Get(':uid/webhooks/:webhookUid')
  @Allow('viewer')
  webhook(@Param('uid') uid: string, @Param('webhookUid') webhookUid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.webhook(uid, webhookUid, accessOf(request));
  }

  @Get(':uid/automations')
  @Allow('viewer')
  automations(@Param('uid') uid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.automationList(uid, accessOf(request));
  }

  @Get(':uid/webhooks/:webhookUid/deliveries')
  @Allow('viewer')
  deliveries(@Param('uid') uid: string, @Param('webhookUid') webhookUid: string, @Query() query: PageQuery, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.deliveryList(uid, webhookUid, pageSize(query), single(query['cursor']), accessOf(request));
  }

  @Get(':uid/webhooks/:webhookUid/deliveries/:entryId')
  @Allow('viewer')
  delivery(@Param('uid') uid: string, @Param('webhookUid') webhookUid: string, @Param('entryId') entryId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.factories.delivery(uid, webhookUid, entryId, accessOf(request));
  }

  /** Stored bytes of a sender: an attachment that no browser will render. contract 10. */
  @Get(':uid/webhooks/:webhookUid/deliveries/:entryId/payload')
  @Allow('viewer')
  async payload(@Param('uid') uid: string, @Param('webhookUid') webhookUid: string, @Param('entryId') entryId: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const bytes = await this.factories.payload(uid, webhookUid, entryId, accessOf(request));
    await reply
      .header('Content-Type', 'application/octet-stream')
      .header('Content-Disposition', 'attachment; filename="event-payload.json"')
      .header('Content-Security-Policy', "sandbox; default-src 'none'")
      .send(Buffer.from(bytes));
  }
}

function pageSize({ limit }: PageQuery): number {
  return queryInteger(single(limit), 'limit', 20, 1, 500);
}
