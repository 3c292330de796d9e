/**
 * What requests about runs may name: a run that the key may see, members that we have; and who asks for one. contract
 * §2, §3.
 */
import type { FastifyRequest } from 'fastify';
import type { RunSource } from '#runs';
import { maySee } from '../http/access-guard.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import type { Access } from '../store/access/access.ts';
import type { RunStore, RunStatus } from '../store/runs/runs.ts';
import type { RunRow } from '../store/runs/run.entities.ts';
import { recordOf } from '../http/requests.ts';

/** The run, or 404. */
export async function visibleRun(runs: RunStore, runId: string, access: Access): Promise<RunRow> {
  return seen(await runs.find(runId), access);
}

/** Where the run stands, without its texts, or 404. */
export async function visibleRunStatus(
  runs: RunStore,
  runId: string,
  access: Access,
  what = 'the run',
): Promise<RunStatus> {
  return seen(await runs.status(runId), access, what);
}

function seen<R extends { factory_uid: string | null }>(run: R | undefined, access: Access, what = 'the run'): R {
  if (run === undefined || !maySee(access, run.factory_uid ?? undefined)) throw notFound(what);
  return run;
}

/** Members of a request to create a run: whose work it would be. contract §3.2 (Create). */
const MEMBERS = ['agent_identity_uid', 'on_behalf_of'];

/** Throws 422 naming every member of a create or dispatch that would be lost; null says nothing. */
export function refuseUnsupportedMembers(body: object): void {
  const names = Object.entries(body).flatMap(([name, value]) =>
    MEMBERS.includes(name) && value !== undefined && value !== null ? [name] : [],
  );
  if (names.length === 0) return;
  const errors = names.map((name) => ({ pointer: `/${name}`, message: `${name} is not supported here` }));
  throw new RefusalError('operation_not_supported', `this service does not have ${names.join(', ')}`, { errors });
}

/** Throws 422 for a list in an order that we do not have: by agent. contract §3.7 (List). */
export function refuseUnsupportedOrder(query: { sort_by?: unknown }): void {
  if (query.sort_by !== 'agent') return;
  const message = 'sort_by agent is not supported here: runs are not sorted by their agent';
  throw new RefusalError('operation_not_supported', message, { errors: [{ pointer: 'sort_by', message }] });
}

/** 422 for a list that found nothing in as long as one request may search. contract §3.7 (List). */
export function searchTooLong(): RefusalError {
  return new RefusalError(
    'operation_not_supported',
    'no run was found yet, and there are too many to look at in one request: narrow the list, as by created_after',
  );
}

/** Who is signed in uses the web page; our command line says so itself; anything else is the API. */
export function runSourceOf(request: FastifyRequest): RunSource {
  if (recordOf(request.raw).session !== undefined) return 'WEB_APP';
  return String(request.headers['x-millwright-client'] ?? '').startsWith('cli/') ? 'CLI' : 'API';
}
