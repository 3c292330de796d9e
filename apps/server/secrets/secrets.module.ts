/** Managed secrets: their values, in every process that may need one; their routes, where the API is. */
import { Global, Module } from '@nestjs/common';
import { SecretFingerprints, SecretReader } from './secret-reader.ts';
import { FactorySecretController, TeamSecretController } from './secrets.controller.ts';
import { SecretService } from './secrets.service.ts';

@Global()
@Module({
  providers: [SecretReader, SecretFingerprints, SecretService],
  exports: [SecretReader, SecretFingerprints, SecretService],
})
export class SecretValuesModule {}

@Module({ controllers: [TeamSecretController, FactorySecretController] })
export class SecretsModule {}
