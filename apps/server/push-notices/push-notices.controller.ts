/**
 * The route of push notices: no API key, and a body that nobody reads before its proof is looked for. contract §4.1
 * (push).
 */
import { Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { PushNoticeAnswer } from '#contracts';
import { addressKeyOf, BODY_MS_MAX } from '#deliveries';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowEverybody } from '../http/access-guard.ts';
import { BodyBudget, wholeBody } from '../http/body.ts';
import { declaredLength, readRawBody, waitsForContinue } from '../http/raw-bodies.ts';
import { recordOf } from '../http/requests.ts';
import { PushNoticeService } from './push-notices.service.ts';

/** Notices of pushes with thousands of commits fit; forges cut what is longer. */
const PUSH_BODY_BYTES_MAX = 5 * 1_048_576;

@Controller('api/v1/factory')
export class PushController {
  private readonly budget = new BodyBudget('this client');
  constructor(private readonly notices: PushNoticeService) {}

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
    const bytes = Math.min(declaredLength(request.raw) ?? PUSH_BODY_BYTES_MAX, PUSH_BODY_BYTES_MAX);
    const giveBack = this.budget.take(addressKeyOf(clientAddress), bytes);
    const body = await readRawBody(request.raw, PUSH_BODY_BYTES_MAX, BODY_MS_MAX, () => {
      if (waitsForContinue(request.raw)) reply.raw.writeContinue();
    }).finally(giveBack);
    const whole = wholeBody(body, PUSH_BODY_BYTES_MAX);
    recordOf(request.raw).bodyBytes = whole.length;
    return whole;
  }
}
