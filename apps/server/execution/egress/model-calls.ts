/**
 * A call of a model by a run: its placeholder, its request and its model are checked, the key is added outside, and
 * what it used is counted from the answer. contract §10.3 (Model calls).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  isModelAllowed,
  isModelQuery,
  UsageEventFilter,
  modelErrorBody,
  modelOperation,
  ModelRequestReader,
  ModelUsageReader,
  type ModelApi,
  type ModelOperation,
  type ModelRequest,
  type ModelRoute,
  type ModelUsage,
} from '#agents';
import { answerWith, passOn, REST_MS_MAX, type CallBodies } from './broker-answers.ts';
import { UpstreamError, type Upstreams } from './broker-upstreams.ts';
import { leadingElsewhere, withoutOwn } from './egress-requests.ts';

export interface ModelCallsOptions {
  routes: readonly ModelRoute[];
  /** What a call has used beyond what was said of it before. */
  onUsage(used: ModelUsage, route: ModelRoute, model: string): void;
  /** Why no further call is made: the run has used what it may. */
  refusal(): string | undefined;
}

export interface ModelCallsDeps extends ModelCallsOptions {
  upstreams: Upstreams;
  bodies: CallBodies;
  pace(bytes: number): Promise<void>;
  /** Tells what was refused, without a value. */
  onRefused(what: string, why: string): void;
}

/** Calls of a run at once, those included whose answer nobody reads any more. */
const CALLS_MAX = 32;
/** Characters of a query; providers have a word or two in it. */
const QUERY = /^(?:\?[A-Za-z0-9_.=&~%,-]{0,500})?$/;
/** Headers in which clients of the interfaces have their key. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];
/** Of the run alone, or set anew. */
const NOT_PASSED_ON = [
  'host',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'cookie',
  'forwarded',
  // An answer without its use could not be counted.
  'x-goog-fieldmask',
  ...KEY_HEADERS,
];

/** Agents that ask for a socket first expect it; nothing that a log has to say. */
const NO_SOCKETS = 426;

interface Refusal {
  status: number;
  reason: string;
}

interface Call {
  route: ModelRoute;
  operation: ModelOperation;
  path: string;
  query: string;
  /** Headers of the provider's, the key among them. */
  headers: readonly string[];
}

export class ModelCalls {
  private readonly deps: ModelCallsDeps;
  private open = 0;

  constructor(deps: ModelCallsDeps) {
    this.deps = deps;
  }

  /** `target`: path and query behind `/models/`. */
  async answer(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    const [, id = '', path = '', query = ''] = /^([^/?]*)([^?]*)(.*)$/s.exec(target) ?? [];
    const route = this.deps.routes.find((known) => known.id === id);
    const call = this.accepted(request, route, path, query);
    if ('status' in call) return this.refuse(request, response, { ...call, api: route?.apis[0] });
    this.open += 1;
    try {
      await this.carryOut(request, response, call);
    } catch (error) {
      const { status, message } =
        error instanceof UpstreamError ? error : { status: 502, message: 'the call of the model failed' };
      const { api } = call.operation;
      await this.refuse(request, response, { api, status: status === 403 ? 400 : status, reason: message });
    } finally {
      this.open -= 1;
    }
  }

  /** Everything that is decided before the body. */
  private accepted(
    request: IncomingMessage,
    route: ModelRoute | undefined,
    path: string,
    query: string,
  ): Call | Refusal {
    const { method = '' } = request;
    if (route === undefined) return { status: 404, reason: 'this run has no models at this address' };
    const keys = keysIn(request, query, route);
    if (keys === undefined) return { status: 401, reason: 'this is not the placeholder key of this run' };
    // Those who ask for a socket first take this for a word to ask over https.
    if (request.headers.upgrade !== undefined)
      return { status: NO_SOCKETS, reason: 'calls of models are plain requests here' };
    const operation = QUERY.test(query) ? modelOperation(route.apis, method, path) : undefined;
    if (operation === undefined) return { status: 400, reason: `runs may not ask for ${method} ${shown(path)}` };
    if (!isModelQuery(operation, new URLSearchParams(query)))
      return { status: 400, reason: `runs may not ask for ${method} ${shown(path)} with this query` };
    const spent = operation.kind === 'generate' ? this.deps.refusal() : undefined;
    if (spent !== undefined) return { status: 400, reason: spent };
    if (this.open >= CALLS_MAX) return { status: 429, reason: `this run has ${CALLS_MAX} calls of models open` };
    if (operation.model !== undefined && !isModelAllowed(route.models, operation.model))
      return notGiven(operation.model);
    const wrong = method === 'POST' ? bodyProblem(request) : undefined;
    if (wrong !== undefined) return { status: 400, reason: wrong };
    return { route, operation, path, ...keys };
  }

  private async carryOut(request: IncomingMessage, response: ServerResponse, call: Call): Promise<void> {
    const { upstreams, bodies } = this.deps;
    const { route, operation, path, query } = call;
    const reader = new ModelRequestReader(operation);
    const body = await bodies.read(request, (bytes) => reader.push(bytes));
    if (!body.ok) return this.refuse(request, response, { ...body, api: operation.api });
    try {
      const asked = operation.kind === 'list' ? NOTHING_ASKED : this.checked(reader, call);
      if ('status' in asked) return this.refuse(request, response, { ...asked, api: operation.api });
      const left = leaving(response, operation.kind === 'generate' ? REST_MS_MAX : 0);
      const answer = await upstreams
        .request({
          method: request.method ?? 'GET',
          url: new URL(`${route.baseUrl}${path}${query}`),
          headers: call.headers,
          body: operation.kind === 'list' ? [] : edited(body.parts, asked.edit),
          gone: left.gone,
        })
        .finally(() => left.stop());
      body.release();
      await this.passAnswer(answer, response, call, asked);
    } finally {
      body.release();
    }
  }

  private checked(reader: ModelRequestReader, { route, operation }: Call): ModelRequest | Refusal {
    const read = reader.end();
    if (!read.ok) return { status: 400, reason: `the request was refused: ${read.reason}` };
    const { model } = read.request;
    if (model !== undefined && !isModelAllowed(route.models, model)) return notGiven(model);
    return operation.model === undefined && model === undefined ? notGiven('') : read.request;
  }

  private async passAnswer(
    answer: IncomingMessage,
    response: ServerResponse,
    { route, operation }: Call,
    { hidesUsage, model }: ModelRequest,
  ): Promise<void> {
    const isStream = /^text\/event-stream/i.test(answer.headers['content-type'] ?? '');
    const isCounted = operation.kind === 'generate' && answer.statusCode === 200;
    const usage = isCounted ? new ModelUsageReader(operation.api, isStream) : undefined;
    let before: ModelUsage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
    const report = (): void => {
      const now = usage?.usage();
      if (now === undefined) return;
      const more = difference(now, before);
      before = now;
      if (more.inputTokens + more.outputTokens > 0) this.deps.onUsage(more, route, operation.model ?? model ?? '');
    };
    await passOn(answer, response, {
      secrets: route.keys.flatMap(({ value }) => value ?? []),
      pace: (bytes) => this.deps.pace(bytes),
      onBytes: (bytes) => {
        usage?.push(bytes);
        report();
      },
      filter: hidesUsage && isStream ? new UsageEventFilter() : undefined,
      readsOn: isCounted,
    });
    report();
  }

  private async refuse(
    request: IncomingMessage,
    response: ServerResponse,
    { status, reason, api = 'openai' }: Refusal & { api?: ModelApi },
  ): Promise<void> {
    if (status < 500 && status !== NO_SOCKETS) this.deps.onRefused('model call refused:', reason);
    await answerWith(request, response, status, {
      type: 'application/json',
      text: modelErrorBody(api, status, reason),
    });
  }
}

/** Aborts some time after nobody waits for the answer any more: what it has cost is told at its end. */
function leaving(response: ServerResponse, afterMs: number): { gone: AbortSignal; stop: () => void } {
  const gone = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const left = (): void => void (timer = setTimeout(() => gone.abort(), afterMs));
  if (response.destroyed) left();
  else response.on('close', left);
  const stop = (): void => {
    clearTimeout(timer);
    response.off('close', left);
  };
  return { gone: gone.signal, stop };
}

const NOTHING_ASKED: ModelRequest = { hidesUsage: false };

function notGiven(model: string): Refusal {
  return {
    status: 400,
    reason:
      `this run was not given the model ${shown(model)}: name it as model_id of the run, or let the operator of this ` +
      'service allow it (models, in a profile of the agent)',
  };
}

/** What a run chose, short and on one line. */
function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function bodyProblem({ headers }: IncomingMessage): string | undefined {
  const type = headers['content-type'] ?? '';
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type)) return 'the request is not application/json';
  return (headers['content-encoding'] ?? 'identity') === 'identity' ? undefined : 'the request must not be compressed';
}

/** Headers and query with the keys in place of their placeholders, which stand where the agent has put them. */
function keysIn(
  request: IncomingMessage,
  query: string,
  { keys }: ModelRoute,
): { headers: readonly string[]; query: string } | undefined {
  const found = KEY_HEADERS.flatMap((name) => {
    const text = request.headers[name];
    const [, scheme = '', said = ''] = /^(Bearer +)?(.*)$/is.exec(typeof text === 'string' ? text : '') ?? [];
    const key = keyFor(said.trim(), keys);
    return key === undefined ? [] : [{ name, scheme, ...key }];
  });
  const parameters = new URLSearchParams(query);
  const inQuery = keyFor(parameters.get('key') ?? '', keys);
  if (found.length === 0 && inQuery === undefined) return undefined;
  parameters.delete('key');
  if (inQuery?.value !== undefined) parameters.set('key', inQuery.value);
  return {
    headers: [
      ...withoutOwn(request.rawHeaders, [...NOT_PASSED_ON, ...leadingElsewhere(request)]),
      ...found.flatMap(({ name, scheme, value }) => (value === undefined ? [] : [name, scheme + value])),
      'accept-encoding',
      'identity',
    ],
    query: parameters.size === 0 ? '' : `?${parameters.toString()}`,
  };
}

/** Compared by digests: how much of a wrong one is right shows in no time. */
function keyFor(said: string, keys: ModelRoute['keys']): ModelRoute['keys'][number] | undefined {
  const digest = digestOf(said);
  return keys.filter(({ placeholder }) => timingSafeEqual(digestOf(placeholder), digest))[0];
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function edited(parts: readonly Uint8Array[], edit: ModelRequest['edit']): readonly Uint8Array[] {
  if (edit === undefined) return parts;
  const body = Buffer.concat(parts);
  return [body.subarray(0, edit.start), Buffer.from(edit.text), body.subarray(edit.end)];
}

function difference(now: ModelUsage, before: ModelUsage): ModelUsage {
  return {
    inputTokens: Math.max(0, now.inputTokens - before.inputTokens),
    cachedTokens: Math.max(0, now.cachedTokens - before.cachedTokens),
    outputTokens: Math.max(0, now.outputTokens - before.outputTokens),
  };
}
