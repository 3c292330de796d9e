/** Sessions of browsers: whose they are, in every process; signing in and out, where people do. */
import { Global, Module } from '@nestjs/common';
import { SessionAuthentication } from '../http/access-guard.ts';
import { Sessions } from './session-authenticator.ts';
import { SessionController } from './sessions.controller.ts';
import { SessionService } from './sessions.service.ts';

@Global()
@Module({
  providers: [Sessions, { provide: SessionAuthentication, useExisting: Sessions }],
  exports: [Sessions, SessionAuthentication],
})
export class SessionAuthenticationModule {}

/** Sign-in is served by processes of the role `dashboard` too, so that the cookie has the origin of the page. */
@Module({ controllers: [SessionController], providers: [SessionService] })
export class SessionsModule {}
