/** Routes of definition files that belong to no factory yet. contract §4. */
import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { RequestBody } from '#contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Allow } from '../http/access-guard.ts';
import { isKnownToClient } from '../http/conditional-requests.ts';
import { postedTreeProblems } from '#definitions';
import { bodySchema } from '../http/body-schemas.ts';
import { acceptedType } from '../http/negotiation.ts';
import { FactoryFileService } from './factory-files.service.ts';

/**
 * Schemas change with the version of the service only: editors may keep one for this long, in seconds, and then ask
 * whether it is still the one.
 */
const SCHEMA_KEPT_SECONDS = 3_600;

/** The same text under either name; the first one where a client does not care. */
const TYPES = ['application/schema+json', 'application/json'];

@Controller('api/v1/factory-files')
export class FactoryFileController {
  constructor(private readonly files: FactoryFileService) {}

  @Post('validate')
  @HttpCode(200)
  @Allow('viewer')
  validate(
    @Body({ schema: bodySchema('factory-files-validate-request', { rules: postedTreeProblems }) })
    body: RequestBody<'factory-files-validate-request'>,
  ): Promise<unknown> {
    return this.files.validate(body);
  }

  @Get('schemas')
  @Allow('viewer')
  list(): unknown {
    return this.files.list();
  }

  @Get('schemas/:document')
  @Allow('viewer')
  async document(
    @Param('document') name: string,
    @Req() { headers }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { text, etag } = this.files.document(name);
    void reply.header('ETag', etag).header('Cache-Control', `private, max-age=${SCHEMA_KEPT_SECONDS}`);
    if (isKnownToClient(headers['if-none-match'], etag)) await reply.status(304).send();
    else await reply.header('Content-Type', acceptedType(headers.accept, TYPES)).send(text);
  }
}
