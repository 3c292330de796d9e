/** Routes of definition files that belong to no factory yet. contract §4. */
import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { RequestBody } from '#contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowOpen } from '../http/access-guard.ts';
import { recordOf } from '../http/requests.ts';
import { isKnownToClient } from '../http/conditional-requests.ts';
import { openTreeProblems, postedTreeProblems } from '#definitions';
import { invalidMembers } from '../http/error-codes.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { acceptedType } from '../http/negotiation.ts';
import { FactoryFileService, type SchemaDocument } from './factory-files.service.ts';

/**
 * Schemas change with the version of the service only: editors may keep one for this long, in seconds, and then ask
 * whether it is still the one.
 */
const SCHEMA_KEPT_SECONDS = 3_600;

/** Two MiB of texts, with what JSON adds to them. */
const VALIDATE_BODY_BYTES_MAX = 3 * 1_048_576;

/** The same text under either name; the first one where a client does not care. */
const TYPES = ['application/schema+json', 'application/json'];

@Controller('api/v1/factory-files')
export class FactoryFileController {
  constructor(private readonly files: FactoryFileService) {}

  @Post('validate')
  @HttpCode(200)
  @AllowOpen(VALIDATE_BODY_BYTES_MAX, true)
  async validate(
    @Body({ schema: bodySchema('factory-files-validate-request', { rules: postedTreeProblems }) })
    body: RequestBody<'factory-files-validate-request'>,
    @Req() { raw }: FastifyRequest,
  ): Promise<unknown> {
    if (recordOf(raw).access !== undefined) return this.files.validate(body);
    refuseTooMuch(body.files);
    return this.files.validateOpenly(body);
  }

  @Get('schemas')
  @AllowOpen()
  list(): unknown {
    return this.files.list();
  }

  /** A version with all of its documents, or one document of the version that there is. */
  @Get('schemas/:document')
  @AllowOpen()
  async document(
    @Param('document') name: string,
    @Req() { headers }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(this.files.versionOrDocument(name), headers, reply);
  }

  @Get('schemas/:version/:document')
  @AllowOpen()
  async versionedDocument(
    @Param('version') version: string,
    @Param('document') name: string,
    @Req() { headers }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(this.files.versionedDocument(version, name), headers, reply);
  }

  private async send(
    { text, etag }: SchemaDocument,
    headers: FastifyRequest['headers'],
    reply: FastifyReply,
  ): Promise<void> {
    void reply.header('ETag', etag).header('Cache-Control', `private, max-age=${SCHEMA_KEPT_SECONDS}`);
    if (isKnownToClient(headers['if-none-match'], etag)) await reply.status(304).send();
    else await reply.header('Content-Type', acceptedType(headers.accept, TYPES)).send(text);
  }
}

/** What nobody has to have a key for is bounded as the hosted service bounds it. contract §3.12 (Open). */
function refuseTooMuch(files: RequestBody<'factory-files-validate-request'>['files']): void {
  const problems = openTreeProblems(files);
  if (problems.length > 0) throw invalidMembers(problems);
}
