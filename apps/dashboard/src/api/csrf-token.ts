/** The CSRF token of the session, which another tab's sign-in replaces. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** Title of the refusal of a request without the session's token. */
const FORGED_TITLE = 'The request is not known to come from this site';

let token = '';
/** Asks for the session of this browser as it is now; answers whether it is still of the same key. */
let renew: () => Promise<boolean> = () => Promise.resolve(false);

/** What every changing request carries from now on. */
export function carryCsrfToken(now: string): void {
  token = now;
}

export function renewBy(way: () => Promise<boolean>): void {
  renew = way;
}

/**
 * Sends a request with the proof. One that is refused for an outdated proof was not done, and is sent once more with
 * the present one.
 */
export async function fetchProven(request: Request): Promise<Response> {
  if (READING.has(request.method)) return fetch(request);
  const again = request.clone();
  const response = await fetch(withProof(request));
  if (response.status !== 403 || !(await isOutdated(response)) || !(await renew())) return response;
  return fetch(withProof(again));
}

function withProof(request: Request): Request {
  request.headers.set('X-CSRF-Token', token);
  return request;
}

async function isOutdated(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === 'object' && body !== null && 'title' in body && body.title === FORGED_TITLE;
}
