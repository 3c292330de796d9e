/** Browsers that are signed in, as far as HTTP sees them: a cookie and the token that their pages repeat. */
import type { ApiAnswer, TestService } from './service.ts';

export interface SignedIn {
  /** `name=value`, as it is sent. */
  cookie: string;
  csrf: string;
  /** Calls the API as a page of the session does; `more` are further headers, or others. */
  api(method: string, path: string, body?: unknown, more?: Record<string, string>): Promise<ApiAnswer>;
}

/** Asks to be signed in; answers whatever comes. */
export async function askToSignIn(
  service: TestService,
  body: unknown,
  more: Record<string, string> = {},
): Promise<ApiAnswer> {
  return called(service, 'POST', '/session', body, more);
}

/** Signs in; throws when that is refused. */
export async function signIn(service: TestService, key = service.adminKey): Promise<SignedIn> {
  const answer = await askToSignIn(service, { api_key: key });
  if (answer.status !== 200) throw new Error(`signing in was refused: ${answer.status}`);
  const cookie = cookieOf(answer);
  const csrf = String(answer.body['csrf_token']);
  return {
    cookie,
    csrf,
    api: (method, path, body, more = {}) =>
      called(service, method, path, body, { cookie, 'x-csrf-token': csrf, 'sec-fetch-site': 'same-origin', ...more }),
  };
}

/** The cookie that an answer sets, as it is sent back. */
export function cookieOf({ headers }: Pick<ApiAnswer, 'headers'>): string {
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

async function called(
  { url }: TestService,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<ApiAnswer> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  return {
    status: answer.status,
    headers: answer.headers,
    body: isJson ? (JSON.parse(text) as ApiAnswer['body']) : {},
  };
}
