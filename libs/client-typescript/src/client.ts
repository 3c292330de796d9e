/** The client of a Millwright service. */
import { isInTheOpen, readApiKey, readBaseUrl, readEnvironmentHeaders } from './addresses.ts';
import { APIPromise, type Sending } from './answers.ts';
import { SYSTEM_CLOCK, type Clock } from './clock.ts';
import { EventStream } from './event-stream.ts';
import { exchange, type Outgoing, type Wire } from './exchange.ts';
import { logOf, warnOnce } from './logging.ts';
import type { OpenApiDocument } from './models.ts';
import type { ClientOptions, HeaderValues, RequestOptions, StreamOptions, UndocumentedOptions } from './options.ts';
import { OUTAGE_MS_MAX } from './outages.ts';
import { Page, PagePromise, type NamedPage, type NextPage, type PagePlace } from './pages.ts';
import { checkList, received, type Read } from './reading.ts';
import {
  addHeaders,
  checkOptions,
  DEFAULT_LIMITS,
  fillTemplate,
  jsonText,
  queryText,
  readIdempotencyKey,
  readLimits,
  readMs,
  readPath,
  uuid,
  type Limits,
  type PlainHeaders,
} from './requests.ts';
import { labelOf, withCursor, type Caller, type CallRequest, type Method } from './resource.ts';
import { Agent } from './resources/agent/agent.ts';
import { ApiKeys } from './resources/api-keys.ts';
import { FederatedCredentials } from './resources/federated-credentials.ts';
import { Audit } from './resources/audit.ts';
import { Explanations } from './resources/explanations.ts';
import { Factories } from './resources/factories/factories.ts';
import { FactoryFiles } from './resources/factory-files.ts';
import { Secrets } from './resources/secrets.ts';
import { SignatureSchemes } from './resources/signature-schemes.ts';
import { Networking } from './resources/networking.ts';
import { Statistics } from './resources/statistics.ts';
import { checkRuntime } from './runtime.ts';
import { VERSION } from './version.ts';

const EVENTS = '/agent/runs/{run_id}/events';
/** What a download answers, and what its refusal does. */
const DOWNLOADED = 'application/octet-stream, application/problem+json';

/**
 * Calls a Millwright service. Every method answers an APIPromise, lists a PagePromise, the events of a run an
 * EventStream.
 * Throws MillwrightError for options that cannot be meant: no key, an address that is none, a limit below 0.
 */
export class Millwright implements Caller {
  /** Skills; runs, conversations, artifacts, models and environments are below it. */
  readonly agent: Agent = new Agent(this);
  /** Factories, with their webhooks, deliveries, automations, secrets and syncs. */
  readonly factories: Factories = new Factories(this);
  /** Secrets of the team. */
  readonly secrets: Secrets = new Secrets(this);
  readonly apiKeys: ApiKeys = new ApiKeys(this);
  /** Whose tokens are exchanged for keys: build servers without a stored one. */
  readonly federatedCredentials: FederatedCredentials = new FederatedCredentials(this);
  readonly audit: Audit = new Audit(this);
  /** Checks the files of a factory. */
  readonly factoryFiles: FactoryFiles = new FactoryFiles(this);
  /** How this installation reaches others. */
  readonly networking: Networking = new Networking(this);
  /** Why something is as it is. */
  readonly explanations: Explanations = new Explanations(this);
  readonly signatureSchemes: SignatureSchemes = new SignatureSchemes(this);
  readonly statistics: Statistics = new Statistics(this);

  /** Address of the interface, with /api/v1 and without a final slash. */
  readonly baseURL: string;
  readonly clock: Clock;
  readonly #options: ClientOptions;
  readonly #host: string;
  readonly #key: string;
  readonly #bearer: string;
  readonly #limits: Limits;
  readonly #wire: Wire;
  readonly #environmentHeaders: HeaderValues;

  /**
   * `clock`: for tests that want to decide what time it is. `environmentHeaders`: in place of those that the
   * environment has now.
   */
  constructor(options: ClientOptions = {}, clock: Clock = SYSTEM_CLOCK, environmentHeaders?: HeaderValues) {
    checkRuntime();
    this.#environmentHeaders = environmentHeaders ?? readEnvironmentHeaders();
    addHeaders({}, this.#environmentHeaders, 'MILLWRIGHT_CUSTOM_HEADERS');
    checkOptions(options, ['baseURL', 'apiKey']);
    const url = readBaseUrl(options.baseURL);
    this.baseURL = url.href;
    this.clock = clock;
    this.#host = url.host;
    this.#key = readApiKey(options.apiKey);
    this.#bearer = `Bearer ${this.#key}`;
    this.#limits = readLimits(options, DEFAULT_LIMITS);
    const log = logOf(options);
    this.#options = { ...options, logLevel: log.level };
    // The global fetch is looked up at each call, so that one that is replaced later counts.
    this.#wire = { fetch: options.fetch ?? ((address, init) => globalThis.fetch(address, init)), clock, log };
    addHeaders({}, options.defaultHeaders, 'defaultHeaders');
    if (isInTheOpen(url)) warnOnce(log, `the API key is sent to ${url.host} without encryption; use https`);
  }

  /** A client that differs in these options; what is undefined stays as it is, whatever the environment says by now. */
  withOptions({ baseURL, apiKey, ...changes }: ClientOptions): Millwright {
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    const resolved: ClientOptions = { baseURL: baseURL ?? this.baseURL, apiKey: apiKey ?? this.#key };
    return new Millwright(
      { ...this.#options, ...(Object.fromEntries(given) as ClientOptions), ...resolved },
      this.clock,
      this.#environmentHeaders,
    );
  }

  /** The same as `withOptions`. */
  copy(changes: ClientOptions = {}): Millwright {
    return this.withOptions(changes);
  }

  /** The document of the interface (OpenAPI 3.1). */
  openapi(options?: RequestOptions): APIPromise<OpenApiDocument> {
    return this.call({ method: 'GET', template: '/openapi.json', answer: 'OpenApiDocument', options });
  }

  /**
   * Calls what has no method here: a path below /api/v1 that begins with "/". Answers JSON as it comes, text where it
   * is no JSON, undefined where there is nothing.
   */
  get<T = unknown>(path: string, options?: RequestOptions): APIPromise<T> {
    return this.#undocumented('GET', path, options);
  }

  /** As `get`, with a body. */
  post<T = unknown>(path: string, options?: UndocumentedOptions): APIPromise<T> {
    return this.#undocumented('POST', path, options);
  }

  /** As `get`, with a body. */
  put<T = unknown>(path: string, options?: UndocumentedOptions): APIPromise<T> {
    return this.#undocumented('PUT', path, options);
  }

  /** As `get`, with a body. */
  patch<T = unknown>(path: string, options?: UndocumentedOptions): APIPromise<T> {
    return this.#undocumented('PATCH', path, options);
  }

  /** As `get`, with a body where one is given. */
  delete<T = unknown>(path: string, options?: UndocumentedOptions): APIPromise<T> {
    return this.#undocumented('DELETE', path, options);
  }

  /** For resources: sends a request whose answer has a known shape. */
  call<T>(request: CallRequest): APIPromise<T> {
    return new APIPromise<T>(
      this.#sending(
        request,
        () => fillTemplate(request.template, request.path),
        ({ data }) => data as T,
      ),
    );
  }

  /** For resources: sends a request whose answer is a page; `place` is for the pages that follow the first. */
  page<Item, Body = unknown, Member extends string = never>(
    request: CallRequest,
    member: Member,
    place: PagePlace = { index: 0, seen: new Map() },
  ): PagePromise<Item, Body, Member> {
    const { index, seen } = place;
    const label = labelOf(request);
    const toPage = (read: Read, response: Response): NamedPage<Item, Body, Member> => {
      const { data, text } = read;
      const items = checkList<Item>(data, member, { label, response, text });
      const next = (cursor: string, nextIndex: number): PagePromise<Item, Body, Member> =>
        this.page(withCursor(request, cursor), member, { index: nextIndex, seen });
      const { page_info: pageInfo } = data as { page_info: NextPage };
      const source = { label, response, text, index, seen, next, member };
      return new Page(items, pageInfo, data as Body, source) as NamedPage<Item, Body, Member>;
    };
    return new PagePromise(this.#sending(request, () => fillTemplate(request.template, request.path), toPage));
  }

  /** For resources: follows the events of a run. */
  stream(runId: string, { after = 0 }: { after?: number | undefined } = {}, options: StreamOptions = {}): EventStream {
    const label = `GET ${EVENTS}`;
    const { timeout, totalTimeout } = readLimits(
      { timeout: options.timeout, totalTimeout: options.totalTimeout },
      { ...this.#limits, totalTimeout: Infinity },
    );
    const open = (lastSeq: number, signal: AbortSignal): Promise<Response> => {
      const headers = { accept: 'text/event-stream', ...(lastSeq > 0 ? { 'last-event-id': String(lastSeq) } : {}) };
      const request: CallRequest = {
        method: 'GET',
        template: EVENTS,
        path: { run_id: runId },
        query: { after },
        headers,
        answer: 'unchecked',
        options,
      };
      const outgoing = this.#outgoing(request, fillTemplate(EVENTS, request.path));
      const limits = { timeout, totalTimeout: Infinity, maxRetries: 0 };
      return exchange(this.#wire, { ...outgoing, limits, signal, isUnread: true }, (response) => response);
    };
    const outageMsMax = readMs('reconnectTimeout', options.reconnectTimeout, OUTAGE_MS_MAX);
    const { clock, log } = this.#wire;
    return new EventStream({
      label,
      host: this.#host,
      clock,
      log,
      after,
      open,
      silenceMsMax: timeout,
      outageMsMax,
      totalTimeout,
      signal: options.signal,
    });
  }

  #undocumented<T>(method: Method, path: string, { body, ...options }: UndocumentedOptions = {}): APIPromise<T> {
    const request: CallRequest = { method, template: path, body, answer: 'unchecked', options };
    return new APIPromise<T>(
      this.#sending(
        request,
        () => readPath(path),
        ({ data }) => data as T,
      ),
    );
  }

  /** Prepares a call; what is unfit in it is told to whoever awaits it. */
  #sending<T>(request: CallRequest, path: () => string, toData: (read: Read, response: Response) => T): Sending<T> {
    const outgoing = this.#prepared(request, path);
    if (outgoing instanceof Error)
      return { read: () => Promise.reject(outgoing), unread: () => Promise.reject(outgoing) };
    const { answer } = request;
    return {
      read: () => exchange(this.#wire, outgoing, (response) => received(answer, outgoing.label, response, toData)),
      unread: () => exchange(this.#wire, { ...outgoing, isUnread: true }, (response) => response),
    };
  }

  #prepared(request: CallRequest, path: () => string): Outgoing | Error {
    try {
      return this.#outgoing(request, path());
    } catch (error) {
      return error as Error;
    }
  }

  #outgoing(request: CallRequest, path: string): Outgoing {
    const { method, query, body: given, timeout, options = {} } = request;
    const body = jsonText(given, options.extraBody);
    const headers = this.#headers(request, body !== undefined);
    const otherwise =
      timeout === undefined || this.#options.timeout !== undefined ? this.#limits : { ...this.#limits, timeout };
    return {
      method,
      url: this.baseURL + path + queryText(query, options.query),
      host: this.#host,
      label: labelOf(request),
      headers,
      body,
      limits: readLimits(options, otherwise),
      signal: options.signal,
      hasPassingConflicts: true,
      // A service or a proxy may repeat what it was sent.
      hide: (text) => text.replaceAll(this.#key, '***'),
      isKeyed: headers['authorization'] === this.#bearer,
    };
  }

  #headers({ method, headers: own, answer, options }: CallRequest, hasBody: boolean): PlainHeaders {
    const headers: PlainHeaders = {
      authorization: this.#bearer,
      accept: answer === 'bytes' ? DOWNLOADED : 'application/json',
      'x-millwright-client': `typescript/${VERSION}`,
    };
    if (hasBody) headers['content-type'] = 'application/json';
    if (method === 'POST') headers['idempotency-key'] = `mwc-${uuid()}`;
    addHeaders(headers, this.#environmentHeaders, 'MILLWRIGHT_CUSTOM_HEADERS');
    addHeaders(headers, this.#options.defaultHeaders, 'defaultHeaders');
    addHeaders(headers, own, 'headers');
    if (options?.idempotencyKey !== undefined) headers['idempotency-key'] = readIdempotencyKey(options.idempotencyKey);
    return addHeaders(headers, options?.headers, 'headers');
  }
}
