/**
 * What is known of one request while it is answered: its ID, where it comes from, who asks, and its log line.
 * contract §2, §3.10 (Errors), §5.4 (Client address).
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { clientAddress, type Cidr } from '#deliveries';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import type { Access } from '../store/access/access.ts';
import type { IdempotentRequest } from './idempotency.ts';
import { RefusalError } from './error-codes.ts';

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
  /** Gives back what was taken for it, once it is answered. */
  release?: () => void;
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

const NUL = '\0';

/** The one team of an installation, as published clients ask for one. contract §3.11 (Published clients). */
export const TEAM_UID = 'team';

/** Throws 422 for a request on behalf of a team that there is not: what it asks for would be another's. */
export function refuseOtherTeam({ headers }: { headers: IncomingHttpHeaders }): void {
  const named = headers['x-warp-team-uid'];
  if (named === undefined || named === '' || named === TEAM_UID) return;
  const message = `must be ${TEAM_UID}, or left out: an installation has one team`;
  throw new RefusalError('operation_not_supported', `X-Warp-Team-Uid ${message}`, {
    errors: [{ pointer: 'X-Warp-Team-Uid', message }],
  });
}

/** Throws 404 for a path that holds U+0000 in a parameter, 400 for a query that holds it in a value. */
export function refuseNul({ params, query }: { params?: unknown; query?: unknown }): void {
  if (valuesOf(params).some(([, value]) => value.includes(NUL)))
    throw new RefusalError('resource_not_found', 'there is no such resource');
  const names = valuesOf(query).flatMap(([name, value]) => (value.includes(NUL) ? [name] : []));
  if (names.length === 0) return;
  throw new RefusalError('invalid_request', 'a parameter of the query is invalid', {
    errors: [...new Set(names)].map((name) => ({ pointer: name, message: 'must not contain NUL' })),
  });
}

function valuesOf(given: unknown): [string, string][] {
  return Object.entries(given ?? {}).flatMap(([name, value]) =>
    [value].flat().flatMap((each): [string, string][] => (typeof each === 'string' ? [[name, each]] : [])),
  );
}

/** Bounds what many clients cost. */
const PEERS_MAX = 10_000;

export class ClientAddresses {
  private readonly trustedProxies: readonly Cidr[];
  /** Peers as they are written: a connection brings the same one with every request. */
  private readonly peers = new Map<string, string>();
  constructor(trustedProxies: readonly Cidr[]) {
    this.trustedProxies = trustedProxies;
  }

  /** Canonical text of the address; `unknown` when the socket has none. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined || this.trustedProxies.length === 0) return this.peer(socket.remoteAddress ?? '');
    return clientAddress(
      socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      this.trustedProxies,
    );
  }
  private peer(remoteAddress: string): string {
    let peer = this.peers.get(remoteAddress);
    if (peer === undefined) {
      if (this.peers.size >= PEERS_MAX) this.peers.clear();
      peer = clientAddress(remoteAddress, undefined, []);
      this.peers.set(remoteAddress, peer);
    }
    return peer;
  }
}

export abstract class RawRoutes {
  /** Whether a request target, as it was sent, belongs to it. */
  abstract owns(target: string): boolean;
  abstract answer(request: IncomingMessage, response: ServerResponse): void;
}

const USER_AGENT_CHARACTERS_MAX = 120;
/** What a request is said to have been answered when its client went away before. */
const ABORTED_STATUS = 499;

/** Where our identifiers are unmistakable by their form; UUIDs are told apart by the name of their parameter. */
const IDENTIFIERS: readonly { name: string; form: RegExp; parameters?: readonly string[] }[] = [
  { name: 'factory_uid', form: /^fac_[0-9a-hjkmnp-tv-z]{26}$/ },
  { name: 'webhook_uid', form: /^wh_[0-9a-hjkmnp-tv-z]{26}$/ },
  { name: 'automation_id', form: /^auto_[0-9a-hjkmnp-tv-z]{26}$/ },
  { name: 'run_id', form: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, parameters: ['runId', 'run_id'] },
];

/** Notes which route a request has found. */
export function noteRoute({ raw, routeOptions, params, is404 }: FastifyRequest): void {
  const record = recordOf(raw);
  if (is404) return;
  record.route = routeOptions.url;
  record.ids = idsOf(params);
}

function idsOf(params: unknown): Record<string, string> {
  const found = Object.entries((params ?? {}) as Record<string, unknown>).flatMap(([parameter, value]) =>
    IDENTIFIERS.filter(
      ({ form, parameters = [parameter] }) =>
        typeof value === 'string' && parameters.includes(parameter) && form.test(value),
    ).map(({ name }) => [name, String(value)] as const),
  );
  return Object.fromEntries(found);
}

export interface RequestLogDeps {
  log: Log;
  metrics: Metrics;
}

/** Writes the line, and counts, when the answer has gone out, or its client. */
export function recordWhenOver(
  { log, metrics }: RequestLogDeps,
  request: IncomingMessage,
  response: ServerResponse,
  record: RequestRecord,
): void {
  const startedMs = performance.now();
  const bytesBefore = request.socket.bytesWritten;
  response.once('close', () => {
    record.release?.();
    const isAborted = !response.writableFinished && record.statusOnSocket === undefined;
    const status = record.statusOnSocket ?? (isAborted ? ABORTED_STATUS : response.statusCode);
    const labels = { resource: resourceOf(record.route), status: `${Math.floor(status / 100)}xx` };
    metrics.count('millwright_http_requests_total', labels);
    if (!isLogged(record.route, status)) return;
    log.info('request', {
      request_id: record.id,
      method: request.method,
      route: record.route,
      ...record.ids,
      status,
      aborted: isAborted || undefined,
      error: record.error,
      idempotent_replayed: record.replayed,
      duration_ms: Math.round((performance.now() - startedMs) * 10) / 10,
      principal_uid: record.access?.principal.uid,
      key_id: record.access?.keyId,
      role: record.access?.role,
      client_address: record.clientAddress,
      request_bytes: record.bodyBytes,
      response_bytes: Math.max(0, request.socket.bytesWritten - bytesBefore),
      user_agent: request.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX),
    });
  });
}

/** Files of the page and the guide, and what is asked every few seconds by machines, only where it goes wrong. */
function isLogged(route: string | undefined, status: number): boolean {
  return status >= 500 || !/^\/(assets\/\*|docs\/\*|docs\/guide\/\*|healthz|readyz|metrics)$/.test(route ?? '');
}

/** What a pattern of routes is about: there are as many as the API has resources. */
function resourceOf(route: string | undefined): string {
  if (route === undefined) return 'none';
  return /^\/api\/v1\/(?:agent\/)?([a-z-]+)/.exec(route)?.[1] ?? /^\/(docs|metrics)\b/.exec(route)?.[1] ?? 'page';
}
