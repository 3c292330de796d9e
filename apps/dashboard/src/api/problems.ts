/** Why a request was not served, as the server says it (RFC 9457) or as nobody said it. */
import { fieldErrorText } from '../components/forms/field-error-words.ts';
import type { components } from '#client/generated';

export type ProblemBody = components['schemas']['Error'] & {
  file?: string;
  key?: string | null;
  edited_text?: string | null;
};

export class ProblemError extends Error {
  /** Status of the answer; 0 when there was none. */
  readonly status: number;
  readonly body: ProblemBody | undefined;
  /** When asking again makes sense, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  private constructor(status: number, message: string, body?: ProblemBody, retryAfterSeconds?: number) {
    super(message);
    this.name = 'Problem';
    [this.status, this.body, this.retryAfterSeconds] = [status, body, retryAfterSeconds];
  }

  static of(response: Response, body: ProblemBody | undefined): ProblemError {
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
    return new ProblemError(
      response.status,
      body?.detail ?? `The server answered ${response.status} without saying why.`,
      body,
      Number.isFinite(seconds) ? seconds : undefined,
    );
  }

  static unreachable(): ProblemError {
    return new ProblemError(
      0,
      'The server does not answer. What you see may be old; what you were doing was not done.',
    );
  }

  static sessionEnded(): ProblemError {
    return new ProblemError(401, 'The session has ended: sign in again.');
  }

  /** What is wrong with one member of the body, by its JSON pointer; undefined when nothing is. */
  fault(pointer: string): string | undefined {
    const found = this.body?.errors?.find(
      (fault) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`),
    );
    return found && fieldErrorText(found.pointer, found.message);
  }

  /** Faults of members that are none of these. */
  faultsBeside(pointers: readonly string[]): { pointer: string; message: string }[] {
    return (this.body?.errors ?? []).filter(
      ({ pointer }) => !pointers.some((known) => pointer === known || pointer.startsWith(`${known}/`)),
    );
  }
}

export function problemOf(error: unknown): ProblemError | undefined {
  return error instanceof ProblemError ? error : undefined;
}

/** Whether what was asked for is not there, or not any more. */
export function isGone(error: unknown): boolean {
  return problemOf(error)?.status === 404;
}

/** Whether a change was refused because its `If-Match` names a state that is past. */
export function isStale(error: unknown): boolean {
  const problem = problemOf(error);
  return problem?.status === 409 && typeof problem.body?.['version'] === 'number';
}
