/** Tokens of build servers in the place of stored keys: who is trusted, and the exchange. */
import { Module } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { Clock, CONFIG } from '../process/injection-tokens.ts';
import { FederationController, TokenExchangeController } from './federation.controller.ts';
import { FederationService } from './federation.service.ts';
import { issuerDocumentReader } from './issuer-documents.ts';
import { IssuerKeyCache } from './issuer-keys.ts';
import { TokenExchangeService } from './token-exchange.service.ts';

@Module({
  controllers: [FederationController, TokenExchangeController],
  providers: [
    FederationService,
    TokenExchangeService,
    {
      provide: IssuerKeyCache,
      useFactory: ({ oidcPrivateHosts }: Config, clock: Clock) =>
        new IssuerKeyCache(issuerDocumentReader(oidcPrivateHosts), () => clock.monotonicMs()),
      inject: [CONFIG, Clock],
    },
  ],
})
export class FederationModule {}
