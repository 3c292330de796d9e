/** Routes of managed secrets: the team's and each factory's own. contract §4. */
import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query, Req } from '@nestjs/common';
import type { RawQuery, RequestBody } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { accessOf, Allow, callerOf, maySee } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { queryOf } from '../http/queries.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { TEAM } from '../store/secrets/secret-rows.ts';
import { SecretService, type SecretListQuery } from './secrets.service.ts';

interface Force {
  force: boolean;
}

@Controller('api/v1/secrets')
export class TeamSecretController {
  constructor(private readonly secrets: SecretService) {}

  @Get()
  @Allow('admin')
  list(@Query() query: RawQuery): Promise<unknown> {
    return this.secrets.list(TEAM, queryOf<SecretListQuery>('listTeamSecrets', query));
  }

  @Get(':name')
  @Allow('admin')
  get(@Param('name') name: string): Promise<unknown> {
    return this.secrets.get(TEAM, name);
  }

  @Put(':name')
  @Allow('admin')
  put(
    @Param('name') name: string,
    @Body({ schema: bodySchema('secret-put') }) body: RequestBody<'secret-put'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.secrets.put(TEAM, name, body, callerOf(request));
  }

  @Delete(':name')
  @HttpCode(204)
  @Allow('admin')
  remove(@Param('name') name: string, @Query() query: RawQuery, @Req() request: FastifyRequest): Promise<void> {
    return this.secrets.remove(TEAM, name, queryOf<Force>('deleteTeamSecret', query).force, callerOf(request));
  }
}

@Controller('api/v1/factory/:factoryUid/secrets')
export class FactorySecretController {
  constructor(
    private readonly secrets: SecretService,
    private readonly factories: FactoryStore,
  ) {}

  @Get()
  @Allow('manager')
  async list(
    @Param('factoryUid') uid: string,
    @Query() query: RawQuery,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    const owner = await this.owner(uid, request);
    return this.secrets.list(owner, queryOf<SecretListQuery>('listFactorySecrets', query));
  }

  @Get(':name')
  @Allow('manager')
  async get(
    @Param('factoryUid') uid: string,
    @Param('name') name: string,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.secrets.get(await this.owner(uid, request), name);
  }

  @Put(':name')
  @Allow('manager')
  async put(
    @Param('factoryUid') uid: string,
    @Param('name') name: string,
    @Body({ schema: bodySchema('secret-put') }) body: RequestBody<'secret-put'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.secrets.put(await this.owner(uid, request), name, body, callerOf(request));
  }

  @Delete(':name')
  @HttpCode(204)
  @Allow('manager')
  async remove(
    @Param('factoryUid') uid: string,
    @Param('name') name: string,
    @Query() query: RawQuery,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const owner = await this.owner(uid, request);
    return this.secrets.remove(owner, name, queryOf<Force>('deleteFactorySecret', query).force, callerOf(request));
  }

  private async owner(uid: string, request: FastifyRequest): Promise<string> {
    if (!maySee(accessOf(request), uid) || (await this.factories.find(uid)) === undefined)
      throw notFound('the factory');
    return uid;
  }
}
