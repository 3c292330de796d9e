/** Requests that never reach the framework: a feature that answers them itself, byte by byte, stands before it. contract 5. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export abstract class RawRoutes {
  /** Whether a request target, as it was sent, belongs to it. */
  abstract owns(target: string): boolean;
  abstract answer(request: IncomingMessage, response: ServerResponse): void;
}
