/** Routes of federated credentials, and the exchange of tokens, which needs no key. contract §2.4. */
import { Body, Controller, Delete, Get, Header, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { RequestBody } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { Allow, AllowEverybody, callerOf } from '../http/access-guard.ts';
import { bodySchema } from '../http/body-schemas.ts';
import { recordOf } from '../http/requests.ts';
import { credentialChangeErrors, credentialErrors, FederationService } from './federation.service.ts';
import { TokenExchangeService } from './token-exchange.service.ts';

@Controller('api/v1/federated-credentials')
export class FederationController {
  constructor(private readonly federation: FederationService) {}

  @Get()
  @Allow('admin')
  list(): Promise<unknown> {
    return this.federation.list();
  }

  @Post()
  @HttpCode(200)
  @Allow('admin')
  create(
    @Body({ schema: bodySchema('federated-credential-create', { refusedLater: credentialErrors }) })
    body: RequestBody<'federated-credential-create'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.federation.create(body, callerOf(request));
  }

  @Get(':id')
  @Allow('admin')
  get(@Param('id') id: string): Promise<unknown> {
    return this.federation.get(id);
  }

  @Patch(':id')
  @Allow('admin')
  change(
    @Param('id') id: string,
    @Body({ schema: bodySchema('federated-credential-patch', { rules: credentialChangeErrors }) })
    body: RequestBody<'federated-credential-patch'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.federation.change(id, body, callerOf(request));
  }

  @Delete(':id')
  @HttpCode(204)
  @Allow('admin')
  remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.federation.remove(id, callerOf(request));
  }
}

@Controller('api/v1/token-exchange')
export class TokenExchangeController {
  constructor(private readonly exchanges: TokenExchangeService) {}

  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @AllowEverybody()
  exchange(
    @Body({ schema: bodySchema('token-exchange') }) body: RequestBody<'token-exchange'>,
    @Req() request: FastifyRequest,
  ): Promise<unknown> {
    return this.exchanges.exchange(body, recordOf(request.raw).clientAddress);
  }
}
