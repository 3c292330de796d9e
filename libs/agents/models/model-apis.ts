/**
 * The interfaces of model providers as a run may use them: which requests each has, and how each says an error.
 * contract §10.3 (Model calls).
 */

export type ModelApi = 'openai' | 'anthropic' | 'gemini';

/** One request that a run may send. */
export interface ModelOperation {
  api: ModelApi;
  /** `generate`: takes tokens; `count`: asks how many something has; `list`: which models there are. */
  kind: 'generate' | 'count' | 'list';
  /** The model that its path names; undefined: its body does. */
  model?: string;
  /** A stream of it tells what it used only where that is asked for. */
  asksForUsage: boolean;
}

interface Endpoint {
  method: 'GET' | 'POST';
  path: RegExp;
  kind: ModelOperation['kind'];
  asksForUsage?: boolean;
}

const VERSION = '(?:/v1(?:alpha|beta)?)?';
const NAME = '[A-Za-z0-9][A-Za-z0-9._:@-]*';
const endpoint = (method: 'GET' | 'POST', path: string, kind: ModelOperation['kind'], more = {}): Endpoint => ({
  method,
  path: new RegExp(`^${VERSION}${path}$`),
  kind,
  ...more,
});

const LISTS = [endpoint('GET', '/models', 'list'), endpoint('GET', `/models/${NAME}`, 'list')];
const MODEL = '/models/(?<model>[A-Za-z0-9][A-Za-z0-9._-]*)';

/** Everything else is refused: files, batches, caches and administration are none of a run's business. */
const ENDPOINTS: Readonly<Record<ModelApi, readonly Endpoint[]>> = {
  openai: [
    endpoint('POST', '/chat/completions', 'generate', { asksForUsage: true }),
    endpoint('POST', '/completions', 'generate', { asksForUsage: true }),
    endpoint('POST', '/responses', 'generate'),
    endpoint('POST', '/responses/compact', 'generate'),
    endpoint('POST', '/embeddings', 'generate'),
    ...LISTS,
  ],
  anthropic: [endpoint('POST', '/messages', 'generate'), endpoint('POST', '/messages/count_tokens', 'count'), ...LISTS],
  gemini: [
    endpoint('POST', `${MODEL}:(?:generateContent|streamGenerateContent|embedContent)`, 'generate'),
    endpoint('POST', `${MODEL}:countTokens`, 'count'),
    ...LISTS,
  ],
};

/** What a request is to one of these interfaces; undefined: nothing that a run may send. `path`: without a query. */
export function modelOperation(apis: readonly ModelApi[], method: string, path: string): ModelOperation | undefined {
  for (const api of apis) {
    for (const known of ENDPOINTS[api]) {
      const found = method === known.method ? known.path.exec(path) : null;
      if (found === null) continue;
      const model = found.groups?.['model'];
      return { api, kind: known.kind, asksForUsage: known.asksForUsage === true, ...(model && { model }) };
    }
  }
  return undefined;
}

/** What a call of a model may say in its query: each parameter with its values. */
const PARAMETERS: Readonly<Record<string, RegExp>> = {
  alt: /^(?:sse|json)$/,
  beta: /^true$/,
  'api-version': /^[\w.-]{1,40}$/,
  key: /^/,
};

/**
 * Whether a request may have this query. Of what takes tokens a parameter could choose an answer that does not tell how
 * many: a part of its members (`fields`), or another format (`alt`).
 */
export function isModelQuery({ kind }: ModelOperation, parameters: Iterable<[string, string]>): boolean {
  return (
    kind === 'list' ||
    [...parameters].every(([name, value]) => Object.hasOwn(PARAMETERS, name) && PARAMETERS[name]?.test(value))
  );
}

/** Words of an error in the form that clients of the interface print. */
export function modelErrorBody(api: ModelApi, status: number, message: string): string {
  switch (api) {
    case 'anthropic':
      return JSON.stringify({ type: 'error', error: { type: ANTHROPIC_TYPES[status] ?? 'api_error', message } });
    case 'gemini':
      return JSON.stringify({ error: { code: status, message, status: GEMINI_STATUS[status] ?? 'INTERNAL' } });
    case 'openai':
      return JSON.stringify({
        error: { message, type: OPENAI_TYPES[status] ?? 'server_error', param: null, code: null },
      });
  }
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
};
const GEMINI_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
};
