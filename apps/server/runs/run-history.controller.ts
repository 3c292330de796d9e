/** Routes of what is told of runs afterwards: timelines, conversations, artifacts. contract §3. */
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RawQuery } from '#contracts';
import { accessOf, Allow, AllowOpen } from '../http/access-guard.ts';
import { queryOf } from '../http/queries.ts';
import { ArtifactService, HistoryService, type ConversationQuery, type TimelineDetail } from './run-history.service.ts';

@Controller('api/v1/agent')
export class RunHistoryController {
  constructor(
    private readonly histories: HistoryService,
    private readonly artifacts: ArtifactService,
  ) {}

  @Get('runs/:runId/timeline')
  @Allow('viewer')
  timeline(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    const { detail } = queryOf<{ detail: TimelineDetail }>('getRunTimeline', request.query as RawQuery);
    return this.histories.timeline(runId, detail, accessOf(request));
  }

  @Get('runs/:runId/conversation')
  @Allow('viewer')
  ofRun(@Param('runId') runId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.histories.ofRun(
      runId,
      queryOf<ConversationQuery>('getRunConversation', request.query as RawQuery),
      accessOf(request),
    );
  }

  @Get('conversations/:conversationId')
  @Allow('viewer')
  conversation(@Param('conversationId') conversationId: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.histories.conversation(
      conversationId,
      queryOf<ConversationQuery>('getConversation', request.query as RawQuery),
      accessOf(request),
    );
  }

  /** Pages of conversations and sessions stay where they are; nobody learns which there are. contract §3.12 (Open). */
  @Get(['conversations/:conversationId/redirect', 'sessions/:sessionUuid/redirect'])
  @AllowOpen()
  redirect(): unknown {
    return {};
  }

  @Get('artifacts/:artifactUid')
  @Allow('viewer')
  artifact(@Param('artifactUid') artifactUid: string, @Req() request: FastifyRequest): Promise<unknown> {
    return this.artifacts.get(artifactUid, accessOf(request));
  }

  @Get('artifacts/:artifactUid/download')
  @Allow('viewer')
  async download(
    @Param('artifactUid') artifactUid: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendFile(reply, await this.artifacts.file(artifactUid, accessOf(request)));
  }
}

/** Bytes that an agent made: an attachment that no browser will render. contract §10. */
export async function sendFile(
  reply: FastifyReply,
  { fileName, content }: { fileName: string; content: Uint8Array },
): Promise<void> {
  await reply
    .header('Content-Type', 'application/octet-stream')
    .header('Content-Disposition', `attachment; filename="${fileName}"`)
    .header('X-Content-Type-Options', 'nosniff')
    .header('Content-Security-Policy', "sandbox; default-src 'none'")
    .send(Buffer.from(content));
}
