/**
 * The one exception filter: every refusal and fault of the API as problem+json, a fault with a trace id and one log
 * line. contract §3.10 (Errors).
 */
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EditRefusal } from '#management';
import { StoreError } from '../store/database/store-errors.ts';
import { ClaimLostError } from '../store/access/idempotency.ts';
import type { Log } from '../process/log.ts';
import { isBelowBase } from './access-guard.ts';
import { staleVersion } from './conditional-requests.ts';
import { invalidMembers, lastingConflict, notFound, problemAnswer, RefusalError } from './error-codes.ts';
import { answerAndClose, ClientGoneError, isUnread } from './connections.ts';
import { recordOf } from './requests.ts';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly publicUrl: string;
  private readonly log: Log;
  constructor(publicUrl: string, log: Log) {
    this.publicUrl = publicUrl;
    this.log = log;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** The same without Nest. `instance`: what of the target is repeated. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply, instance = instanceOf(request.url)): void {
    const refusal = toRefusal(error);
    const record = recordOf(request.raw);
    record.error = refusal.code;
    const isFault = refusal.status >= 500 && refusal.status !== NOT_SERVED;
    if (isFault && !(error instanceof ClientGoneError))
      this.log.fault('request failed', error, {
        trace_id: record.id,
        method: request.method,
        route: request.routeOptions?.url,
      });
    const answer = problemAnswer(refusal, { publicUrl: this.publicUrl, instance, traceId: record.id });
    if (isUnread(request.raw)) {
      reply.hijack();
      answerAndClose(request.raw, reply.raw, answer);
      return;
    }
    void reply.status(answer.status).headers(answer.headers).send(answer.body);
  }
}

/** What only the hosted service has: a client asks for it, and nothing is wrong here. contract §3.11 (501). */
const NOT_SERVED = 501;

/** Only paths of the API are repeated: a mistyped ingress URL ends here too, and its token with it. contract §5. */
function instanceOf(target: string): string {
  return isBelowBase(target) ? (target.split('?')[0] ?? '') : '';
}

/** What an error means to a caller. Faults tell nothing of themselves. */
export function toRefusal(error: unknown): RefusalError {
  if (error instanceof RefusalError) return error;
  if (
    error instanceof StoreError &&
    (error.kind === 'unavailable' || error.kind === 'full' || error.kind === 'retry')
  ) {
    return new RefusalError('resource_unavailable', 'the database is not available now');
  }
  if (error instanceof ClaimLostError)
    return new RefusalError(
      'conflict',
      'another request with this Idempotency-Key has taken over; this one did nothing',
      {
        retryAfterSeconds: 1,
      },
    );
  const status = error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown })?.statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) return ofStatus(status);
  return new RefusalError(
    'internal_error',
    'something failed inside the service; its log has the details under this trace id',
  );
}

/** The words for what the framework refuses. */
function ofStatus(status: number): RefusalError {
  switch (status) {
    case 404:
      return unknownResource();
    case 413:
      return new RefusalError('invalid_request', 'the body is too large', { status });
    case 415:
      return new RefusalError('invalid_request', 'send the body as application/json', { status });
    default:
      return new RefusalError('invalid_request', 'the request is invalid');
  }
}

/** What no route answers. */
export function unknownResource(): RefusalError {
  return new RefusalError('resource_not_found', 'there is no such resource');
}

/** The answer to an edit of webhooks or automations that was refused. contract §3.10 (Errors). */
export function editRefusalError(reason: EditRefusal): RefusalError {
  switch (reason.kind) {
    case 'not-found':
      return notFound(reason.what);
    case 'stale-version':
      return staleVersion(reason.what, reason.version);
    case 'invalid-members':
      return invalidMembers(reason.errors);
    case 'invalid-request':
      return new RefusalError('invalid_request', reason.detail, { errors: reason.errors });
    case 'not-supported':
      return new RefusalError('operation_not_supported', reason.detail, { errors: reason.errors });
    case 'not-authorized':
      return new RefusalError('not_authorized', reason.detail);
    case 'conflict':
      return lastingConflict(reason.detail, reason.members, reason.errors);
  }
}
