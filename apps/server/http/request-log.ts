/**
 * One wide log line for each request of the API, written when it is over: enough to say who did what and how it went,
 * never a query, a body or a key; and one more in the figures.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { recordOf, type RequestRecord } from './requests.ts';

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
    const isAborted = !response.writableFinished && record.statusOnSocket === undefined;
    const status = record.statusOnSocket ?? (isAborted ? ABORTED_STATUS : response.statusCode);
    const labels = { resource: resourceOf(record.route), status: `${Math.floor(status / 100)}xx` };
    metrics.count('millwright_http_requests_total', 'Requests of API and pages that are over.', labels);
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

/** What a pattern of routes is about: there are as many as the API has resources. */
function resourceOf(route: string | undefined): string {
  if (route === undefined) return 'none';
  return /^\/api\/v1\/(?:agent\/)?([a-z-]+)/.exec(route)?.[1] ?? /^\/(docs|metrics)\b/.exec(route)?.[1] ?? 'page';
}
