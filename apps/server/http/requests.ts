/** What is known of one request of the API while it is answered: its ID, who asks, what its log line will say. contract 3 (Errors). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Access } from '../store/access/access.ts';
import type { IdempotentRequest } from './idempotency.ts';

/** A session that a request belongs to. The token itself is not kept. */
export interface SeenSession {
  hash: Uint8Array;
  csrfToken: string;
  /** When one has to sign in again. */
  expiresAtMs: number;
}

/** One request; members appear as they become known. */
export interface RequestRecord {
  /** `X-Request-Id`, and the `trace_id` of a problem. */
  readonly id: string;
  readonly clientAddress: string;
  access?: Access;
  /** Present when a signed-in browser asks. */
  session?: SeenSession;
  /** Pattern of the route that was found. */
  route?: string;
  /** Members of the path that have the form of an identifier of ours, by the names that they have on the wire. */
  ids?: Readonly<Record<string, string>>;
  /** Code of the problem that was answered. */
  error?: string;
  /** Bytes of the body that were read. */
  bodyBytes: number;
  /** SHA-256 of the body as it came; undefined: there was none. */
  bodyHash?: Uint8Array;
  idempotency?: IdempotentRequest;
  /** Whether the answer is the one that an earlier request got. */
  replayed?: boolean;
  /** Status of an answer that went past the response object. */
  statusOnSocket?: number;
}

/** IDs of callers are repeated, never believed: characters that no log and no page can take for anything else. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

const records = new WeakMap<object, RequestRecord>();

/** Begins the record of a request. */
export function beginRecord(request: IncomingMessage, clientAddress: string): RequestRecord {
  const asked = request.headers['x-request-id'];
  const record: RequestRecord = {
    id: typeof asked === 'string' && REQUEST_ID.test(asked) ? asked : randomUUID(),
    clientAddress,
    bodyBytes: 0,
  };
  records.set(request, record);
  return record;
}

/** The record of a request of the API; throws for one that was never begun. */
export function recordOf(request: IncomingMessage): RequestRecord {
  const record = findRecord(request);
  if (record === undefined) throw new Error('the request has no record');
  return record;
}

/** The same for a request that may belong to the ingress, which has none. */
export function findRecord(request: IncomingMessage): RequestRecord | undefined {
  return records.get(request);
}
