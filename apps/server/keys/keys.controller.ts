/** Routes of API keys. contract §2, §4. */
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import type { RawQuery, RequestBody } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { queryOf } from '../http/queries.ts';
import { KeyService, type KeyListQuery } from './keys.service.ts';
import { keyChangeErrors, keyRequestErrors } from './keys.requests.ts';

@Controller('api/v1/api-keys')
export class KeyController {
  constructor(private readonly keys: KeyService) {}

  @Get()
  @Allow('admin')
  list(@Query() query: RawQuery): Promise<unknown> {
    return this.keys.list(queryOf<KeyListQuery>('listApiKeys', query));
  }

  @Post()
  @HttpCode(200)
  @Allow('admin')
  create(
    @Body({ schema: bodySchema('api-key-create', { refusedLater: keyRequestErrors }) })
    body: RequestBody<'api-key-create'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.keys.create(body, callerOf(request));
  }

  @Get('current')
  @Allow('viewer')
  current(@Req() request: FastifyRequest): Promise<unknown> {
    return this.keys.current(accessOf(request));
  }

  @Get(':id')
  @Allow('admin')
  get(@Param('id') id: string): Promise<unknown> {
    return this.keys.get(id);
  }

  @Patch(':id')
  @Allow('admin')
  change(
    @Param('id') id: string,
    @Body({ schema: bodySchema('api-key-patch', { rules: keyChangeErrors }) }) body: RequestBody<'api-key-patch'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.keys.change(id, body, callerOf(request));
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @Allow('admin')
  rotate(
    @Param('id') id: string,
    @Body({ schema: bodySchema('api-key-rotate') }) body: RequestBody<'api-key-rotate'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.keys.rotate(id, body, callerOf(request));
  }

  @Delete(':id')
  @HttpCode(204)
  @Allow('admin')
  revoke(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.keys.revoke(id, callerOf(request));
  }
}
