/** Routes that clients of the hosted service know, over what runs and automations are here. contract §3.11. */
import { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { RawQuery, RequestBody } from '#contracts';
import { followupProblems } from '#runs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { queryOf } from '../http/queries.ts';
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

  @Get('schedules')
  @Allow('viewer')
  schedules(@Req() request: FastifyRequest): Promise<unknown> {
    return this.clients.schedules(accessOf(request));
  }

  @Get('schedules/:scheduleId')
  @Allow('viewer')
  schedule(@Param('scheduleId') scheduleId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.clients.schedule(scheduleId, accessOf(request));
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
