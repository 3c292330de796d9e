/** Routes that clients of the hosted service know, over what runs and automations are here. contract §3.11. */
import { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { EgressRanges, RawQuery, RequestBody } from '#contracts';
import { followupProblems } from '#runs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { queryOf } from '../http/queries.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import { sendFile } from './run-history.controller.ts';
import { PublishedClientService } from './published-clients.service.ts';

@Controller('api/v1/agent')
export class PublishedClientController {
  constructor(private readonly clients: PublishedClientService) {}

  @Get('run-by-external-reference')
  @Allow('viewer')
  byReference(@Req() request: FastifyRequest): Promise<unknown> {
    const { url } = queryOf<{ url: string }>('getRunByExternalReference', request.query as RawQuery);
    return this.clients.byReference(url, accessOf(request));
  }

  @Get('runs/:runId/transcript')
  @Allow('viewer')
  async runTranscript(
    @Param('runId') runId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendLines(reply, await this.clients.runTranscript(runId, accessOf(request)));
  }

  @Get('conversations/:conversationId/transcript')
  @Allow('viewer')
  async transcript(
    @Param('conversationId') conversationId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendLines(reply, await this.clients.transcript(conversationId, accessOf(request)));
  }

  @Post('conversations/:conversationId/followups')
  @HttpCode(200)
  @Allow('operator', { withAttachments: true })
  followup(
    @Param('conversationId') conversationId: string,
    @Body({ schema: bodySchema('run-followup-request', { rules: followupProblems }) })
    body: RequestBody<'run-followup-request'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.clients.followup(conversationId, body, callerOf(request));
  }

  @Post('conversations/:conversationId/interrupt')
  @HttpCode(202)
  @Allow('operator')
  interrupt(@Param('conversationId') conversationId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.clients.interrupt(conversationId, callerOf(request));
  }

  @Get('conversations/:conversationId/screenshots/:screenshotUid/download')
  @Allow('viewer')
  async screenshot(
    @Param('conversationId') conversationId: string,
    @Param('screenshotUid') screenshotUid: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendFile(reply, await this.clients.screenshot(conversationId, screenshotUid, accessOf(request)));
  }

  @Get('runs/:runId/harness-usage')
  @Allow('viewer')
  harnessUsage(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.clients.harnessUsage(runId, accessOf(request));
  }

  @Get('runs/:runId/handoff/attachments')
  @Allow('viewer')
  handoffAttachments(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.clients.handoffAttachments(runId, accessOf(request));
  }
}

@Controller('api/v1/networking')
export class NetworkingController {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'egressRanges'>) {}

  @Get('egress-ranges')
  @Allow('viewer')
  egressRanges(): EgressRanges {
    return { cidrs: [...this.config.egressRanges] };
  }
}

/** Text that an agent wrote: an attachment that no browser will render. contract §10. */
async function sendLines(reply: FastifyReply, lines: AsyncIterable<string>): Promise<void> {
  await reply
    .header('Content-Type', 'application/x-ndjson')
    .header('Content-Disposition', 'attachment; filename="transcript.jsonl"')
    .header('X-Content-Type-Options', 'nosniff')
    .send(Readable.from(lines));
}
