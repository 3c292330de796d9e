/** API keys: when they were used, in every process; their routes, where the API is. */
import { Global, Module } from '@nestjs/common';
import { KeyUseRecorder } from '../http/access-guard.ts';
import { KeyUses, KeyService } from './keys.service.ts';
import { KeyController } from './keys.controller.ts';

@Global()
@Module({
  providers: [KeyUses, { provide: KeyUseRecorder, useExisting: KeyUses }],
  exports: [KeyUses, KeyUseRecorder],
})
export class KeyUsesModule {}

@Module({ controllers: [KeyController], providers: [KeyService] })
export class KeysModule {}
