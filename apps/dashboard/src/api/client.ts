/**
 * The one way to the server: typed by the interface's document, with the session's proof, and problems as exceptions.
 */
import createClient, { type Middleware } from 'openapi-fetch';
import { ended } from './session-end.ts';
import type { components, paths } from '#client/generated';
import { ProblemError, type ProblemBody } from './problems.ts';
import { fetchProven } from './csrf-token.ts';
import { randomHex } from './random.ts';
import { reachability } from './reachability.ts';

/** A component of the interface's document, by its name. */
export type Api<Name extends keyof components['schemas']> = components['schemas'][Name];

const asOne: Middleware = {
  onRequest({ request }) {
    // Each refusal would count against this address.
    if (ended.get() && new URL(request.url).pathname !== new URL(apiUrl('session')).pathname)
      throw ProblemError.sessionEnded();
    request.headers.set('Accept', 'application/json, application/problem+json, */*;q=0.5');
    return request;
  },
};

/** Address of something below the base of the interface: `agent/artifacts/…/download`. */
export function apiUrl(path: string): string {
  return new URL(`api/v1/${path}`, document.baseURI).href;
}

/** `api.GET('/agent/runs', { params })`: pass its promise to `ask`. */
export const api = createClient<paths>({
  baseUrl: apiUrl('').replace(/\/$/, ''),
  credentials: 'same-origin',
  fetch: fetchProven,
  querySerializer: { array: { style: 'form', explode: true }, object: { style: 'deepObject', explode: true } },
});
api.use(asOne);

/** The body of an answer. Throws `Problem` for every refusal, and when nobody answers. */
export async function ask<Body>(asked: Promise<{ data?: Body; error?: unknown; response: Response }>): Promise<Body> {
  return (await askWhole(asked)).body;
}

/** The same with the answer's headers: `ETag` for `If-Match`. */
export async function askWhole<Body>(
  asked: Promise<{ data?: Body; error?: unknown; response: Response }>,
): Promise<{ body: Body; etag: string | undefined }> {
  const { data, error, response } = await asked.catch((fault: unknown) => {
    if (fault instanceof ProblemError || (fault instanceof DOMException && fault.name === 'AbortError')) throw fault;
    reachability.lost();
    throw ProblemError.unreachable();
  });
  reachability.found();
  if (!response.ok) throw ProblemError.of(response, isProblemBody(error) ? error : undefined);
  return { body: data as Body, etag: response.headers.get('ETag') ?? undefined };
}

/** What was read, and the tag of that state of it: a change names the state that somebody saw. */
export interface Seen<Body> {
  body: Body;
  etag: string;
}

export async function askSeen<Body>(asked: Parameters<typeof askWhole<Body>>[0]): Promise<Seen<Body>> {
  const { body, etag = '' } = await askWhole(asked);
  return { body, etag };
}

/** A key that makes repeating a request harmless: one for each thing that a person means to do. */
export function idempotencyKey(): string {
  return randomHex(16);
}

function isProblemBody(error: unknown): error is ProblemBody {
  return typeof error === 'object' && error !== null && 'error' in error && 'detail' in error;
}
