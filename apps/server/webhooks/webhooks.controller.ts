/** Routes of webhooks. spec: Webhook management; contract §4. */
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Req, Res } from '@nestjs/common';
import type { RequestBody } from '#contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { versionTag, wantedVersion } from '../http/conditional-requests.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { WebhookService } from './webhooks.service.ts';
import { signatureSchemes } from './webhooks.items.ts';
import { newWebhookErrors, changedWebhookErrors } from '#management';

@Controller('api/v1/factory/:factoryUid/webhooks')
export class WebhookController {
  constructor(private readonly webhooks: WebhookService) {}

  @Get()
  @Allow('viewer')
  list(@Param('factoryUid') factoryUid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.webhooks.list(factoryUid, accessOf(request));
  }

  @Post()
  @HttpCode(200)
  @Allow('manager')
  async create(
    @Param('factoryUid') factoryUid: string,
    @Body({ schema: bodySchema('webhook-create', { refusedLater: newWebhookErrors }) })
    body: RequestBody<'webhook-create'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return shownOnce(reply, await this.webhooks.create(factoryUid, body, callerOf(request)));
  }

  @Get(':webhookUid')
  @Allow('viewer')
  async get(
    @Param('factoryUid') factoryUid: string,
    @Param('webhookUid') uid: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return tagged(reply, await this.webhooks.get(factoryUid, uid, accessOf(request)));
  }

  @Patch(':webhookUid')
  @Allow('manager')
  async change(
    @Param('factoryUid') factoryUid: string,
    @Param('webhookUid') uid: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body({ schema: bodySchema('webhook-patch', { refusedLater: changedWebhookErrors }) })
    body: RequestBody<'webhook-patch'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return tagged(reply, await this.webhooks.change(factoryUid, uid, body, wantedVersion(ifMatch), callerOf(request)));
  }

  @Delete(':webhookUid')
  @HttpCode(204)
  @Allow('manager')
  remove(
    @Param('factoryUid') factoryUid: string,
    @Param('webhookUid') uid: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    return this.webhooks.remove(factoryUid, uid, wantedVersion(ifMatch), callerOf(request));
  }

  @Post(':webhookUid/rotate')
  @HttpCode(200)
  @Allow('manager')
  async rotate(
    @Param('factoryUid') factoryUid: string,
    @Param('webhookUid') uid: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body({ schema: bodySchema('webhook-rotate') }) body: RequestBody<'webhook-rotate'>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return shownOnce(
      reply,
      await this.webhooks.rotate(factoryUid, uid, body, wantedVersion(ifMatch), callerOf(request)),
    );
  }
}

@Controller('api/v1/signature-schemes')
export class SignatureSchemeController {
  @Get()
  @Allow('viewer')
  list(): unknown {
    return signatureSchemes();
  }
}

function tagged<Item extends { version: number }>(reply: FastifyReply, item: Item): Item {
  void reply.header('ETag', versionTag(item.version));
  return item;
}

/** An answer that may hold a secret is kept by nobody on its way. */
function shownOnce<Item extends { version: number }>(reply: FastifyReply, item: Item): Item {
  void reply.header('Cache-Control', 'no-store');
  return tagged(reply, item);
}
