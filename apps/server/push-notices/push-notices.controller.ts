/**
 * The route of push notices: no API key, and a body that nobody reads before its proof is looked for. contract §4.1
 * (push).
 */
import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { PushNoticeAnswer } from '#contracts';
import { BODY_MS_MAX } from '#deliveries';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { wholeBody } from '../http/body.ts';
import { readRawBody, waitsForContinue } from '../http/raw-bodies.ts';
import { recordOf } from '../http/requests.ts';
import { UnfinishedBodies } from '../http/unfinished-bodies.ts';
import { PushNoticeService } from './push-notices.service.ts';

/** Notices of pushes with thousands of commits fit; forges cut what is longer. */
const PUSH_BODY_BYTES_MAX = 5 * 1_048_576;

@Controller('api/v1/factory')
export class PushController {
  constructor(
    private readonly notices: PushNoticeService,
    private readonly unfinished: UnfinishedBodies,
  ) {}

  @Post(':uid/push')
  @HttpCode(202)
  @AllowEverybody({ readsBodyItself: true })
  push(
    @Param('uid') uid: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PushNoticeAnswer> {
    const { clientAddress } = recordOf(request.raw);
    return this.notices.receive(uid, {
      rawHeaders: request.raw.rawHeaders,
      clientAddress,
      readBody: () => this.read(request, reply, clientAddress),
    });
  }

  private async read(request: FastifyRequest, reply: FastifyReply, clientAddress: string): Promise<Uint8Array> {
    const bounds = {
      bytesMax: PUSH_BODY_BYTES_MAX,
      timeoutMs: BODY_MS_MAX,
      unfinished: this.unfinished,
      clientAddress,
    };
    const body = await readRawBody(request.raw, bounds, () => {
      if (waitsForContinue(request.raw)) reply.raw.writeContinue();
    });
    const whole = wholeBody(body, PUSH_BODY_BYTES_MAX);
    recordOf(request.raw).bodyBytes = whole.length;
    return whole;
  }
}
