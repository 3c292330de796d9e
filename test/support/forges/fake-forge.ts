/** A forge of our own on a real socket: pull requests, statuses and comments, in good and in bad times. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ForgeKind } from '#reconcile';
import { answerApp, isInstallationToken, type FakeApp } from './fake-app.ts';
import { departuresOf } from './published-shapes.ts';
import { FORGE_SHAPES, type FakeComment, type FakePull, type FakeStatus, type ForgeShape } from './forge-shapes.ts';

/** What it answers instead; `cut`: the body ends in the middle. */
export interface ForgeFaultAnswer {
  status: number;
  body?: string;
  headers?: Record<string, string>;
  cut?: boolean;
}

export interface SeenRequest {
  method: string;
  path: string;
  authorization: string | undefined;
}

export interface FakeForge {
  kind: ForgeKind;
  /** Base URL of its interface. */
  api: string;
  token: string;
  /** In place of the token. */
  app: FakeApp | undefined;
  /** Its clock. */
  nowMs: () => number;
  pulls: Map<number, FakePull>;
  comments: FakeComment[];
  /** Every status that was ever set, oldest first. */
  statuses: FakeStatus[];
  requests: SeenRequest[];
  /** Requests that it may be asked until its quota is counted anew; undefined: it counts none. As GitHub says it. */
  quota: { left: number; resetAtMs: number } | undefined;
  /** Answers in its place; undefined: as usual. `away`: connections are cut. */
  fault: ((request: SeenRequest) => ForgeFaultAnswer | 'away' | undefined) | undefined;
  /** The newest status of a commit with this name. */
  statusOf(commit: string, context: string): FakeStatus | undefined;
  open(pull: Partial<FakePull> & Pick<FakePull, 'number' | 'head'>): FakePull;
  /** Throws where a request, or an answer of ours, was none of what the forge's project publishes. */
  close(): Promise<void>;
}

const PAGE = 50;
/** What was none, by forge. */
const departures = new WeakMap<FakeForge, string[]>();
/** The newest statuses, by commit and name: tests ask for a thousand of them over and over. */
const newest = new WeakMap<FakeForge, Map<string, FakeStatus>>();

export async function startFakeForge(kind: ForgeKind): Promise<FakeForge> {
  const shape = FORGE_SHAPES[kind];
  const server = createServer((request, response) => void serve(forge, shape, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const forge: FakeForge = {
    kind,
    api: `http://127.0.0.1:${port}${shape.api}`,
    token: 'forge-token-4711',
    app: undefined,
    nowMs: Date.now,
    pulls: new Map(),
    comments: [],
    statuses: [],
    requests: [],
    quota: undefined,
    fault: undefined,
    statusOf: (commit, context) => newest.get(forge)?.get(`${commit} ${context}`),
    open(pull) {
      const usual = {
        title: 'A change',
        author: 'ann',
        base: 'main',
        isFork: false,
        state: 'open' as const,
        merging: 'merge' as const,
      };
      const opened = { ...usual, mergeBase: '', ...pull };
      forge.pulls.set(opened.number, opened);
      return opened;
    },
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      const found = [...new Set(departures.get(forge))];
      if (found.length > 0) throw new Error(`none of what is published:\n${found.join('\n')}`);
    },
  };
  departures.set(forge, []);
  newest.set(forge, new Map());
  return forge;
}

async function serve(
  forge: FakeForge,
  shape: ForgeShape,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url = '' } = request;
  const seen = { method, path: url.slice(shape.api.length), authorization: request.headers.authorization };
  forge.requests.push(seen);
  const fault = forge.fault?.(seen);
  if (fault === 'away') return void request.socket.destroy();
  if (fault !== undefined) return answerFault(response, fault);
  const text = Buffer.concat(chunks).toString('utf8');
  const body = text === '' ? undefined : (JSON.parse(text) as Record<string, string>);
  const { status, body: answer, headers } = await answered(forge, shape, seen, body ?? {});
  departures.get(forge)?.push(...departuresOf(forge.kind, { ...seen, body, status, answer }));
  json(response, status, answer, { ...quotaHeaders(forge), ...headers });
}

async function answered(
  forge: FakeForge,
  shape: ForgeShape,
  seen: SeenRequest,
  body: Record<string, string>,
): Promise<Routed> {
  const nowMs = forge.nowMs();
  const ofApp = forge.app && (await answerApp(forge.app, seen, { repository: 'acme/shop', body, nowMs }));
  if (ofApp !== undefined) return ofApp;
  const isKnown = forge.app
    ? isInstallationToken(forge.app, seen.authorization, nowMs)
    : seen.authorization === shape.authorization(forge.token);
  if (!isKnown) return { status: 401, body: { message: 'Bad credentials' } };
  if (!isWithinQuota(forge, nowMs)) return { status: 403, body: { message: 'API rate limit exceeded' } };
  const isOurs = seen.path.startsWith(shape.repository);
  const { method, path } = seen;
  const found = isOurs && route(forge, shape, { method, path: path.slice(shape.repository.length) }, body);
  return found || { status: 404, body: { message: 'Not Found' } };
}

const QUOTA = 5_000;
const QUOTA_MS = 3_600_000;

function isWithinQuota(forge: FakeForge, nowMs: number): boolean {
  if (forge.quota === undefined) return true;
  if (nowMs >= forge.quota.resetAtMs) forge.quota = { left: QUOTA, resetAtMs: nowMs + QUOTA_MS };
  if (forge.quota.left === 0) return false;
  forge.quota.left -= 1;
  return true;
}

function quotaHeaders({ quota }: FakeForge): Record<string, string> {
  if (quota === undefined) return {};
  const { left, resetAtMs } = quota;
  return {
    'x-ratelimit-limit': String(QUOTA),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-used': String(QUOTA - left),
    'x-ratelimit-reset': String(Math.ceil(resetAtMs / 1_000)),
    'x-ratelimit-resource': 'core',
  };
}

function answerFault(response: ServerResponse, { status, body = '', headers = {}, cut }: ForgeFaultAnswer): void {
  if (cut !== true) return void response.writeHead(status, headers).end(body);
  response.writeHead(status, { ...headers, 'content-length': String(body.length + 100) });
  response.write(body, () => response.destroy());
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

interface Routed {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

function route(
  forge: FakeForge,
  shape: ForgeShape,
  { method, path }: { method: string; path: string },
  body: Record<string, string>,
): Routed | undefined {
  const [where = '', query = ''] = path.split('?');
  const page = Number(new URLSearchParams(query).get('page') ?? '1');
  const ok = (answer: unknown, status = 200): Routed => ({ status, body: answer });
  if (/^\/(pulls|merge_requests)$/.test(where))
    return paged(
      [...forge.pulls.values()].filter(({ state }) => state === 'open').map(shape.listed ?? shape.pull),
      page,
      forge.api,
    );
  const pull = /^\/(?:pulls|merge_requests)\/(\d+)$/.exec(where)?.[1];
  if (pull !== undefined) {
    const found = forge.pulls.get(Number(pull));
    return found && ok(shape.pull(found));
  }
  const commitsOf = /^\/(?:pulls|merge_requests)\/(\d+)\/commits$/.exec(where)?.[1];
  if (commitsOf !== undefined)
    return paged(shape.commits(forge.pulls.get(Number(commitsOf))?.commits ?? []), page, forge.api);
  const commit = /^\/statuses\/([0-9a-f]+)$/.exec(where)?.[1];
  if (commit !== undefined && isOffBranch(forge, shape, commit, body)) return { status: 404, body: shape.offBranch };
  if (commit !== undefined) return ok(shape.status(setStatus(forge, commit, body)), 201);
  const compared = /^\/compare\/.+\.\.\.([0-9a-f]+)$/.exec(where)?.[1];
  if (compared !== undefined || where === '/repository/merge_base') {
    const head = compared ?? new URLSearchParams(query).getAll('refs[]')[1];
    const base = [...forge.pulls.values()].find((one) => one.head === head)?.mergeBase ?? '';
    return base === '' ? undefined : ok(shape.mergeBase(base));
  }
  return routeComments(forge, shape, { method, where, page }, body);
}

function routeComments(
  forge: FakeForge,
  shape: ForgeShape,
  { method, where, page }: { method: string; where: string; page: number },
  body: Record<string, string>,
): Routed | undefined {
  const list = /^\/(?:issues\/(\d+)\/comments|merge_requests\/(\d+)\/notes)$/.exec(where);
  const number = Number(list?.[1] ?? list?.[2] ?? Number.NaN);
  const listed = forge.comments.filter((one) => one.number === number).map(shape.comment);
  if (!Number.isNaN(number) && method === 'GET')
    return forge.kind === 'gitea' ? { status: 200, body: listed } : paged(listed, page, forge.api);
  if (!Number.isNaN(number)) {
    const made = { id: 100 + forge.requests.length, number, body: body['body'] ?? '' };
    forge.comments.push(made);
    return { status: 201, body: shape.comment(made) };
  }
  const one = /^\/(?:issues\/comments|merge_requests\/\d+\/notes)\/(\d+)$/.exec(where)?.[1];
  const found = forge.comments.find(({ id }) => String(id) === one);
  if (found === undefined) return undefined;
  found.body = body['body'] ?? '';
  return { status: 200, body: shape.comment(found) };
}

/** A commit of a fork, at a forge that has to be told where it stands; after its first status it knows. */
function isOffBranch(forge: FakeForge, shape: ForgeShape, commit: string, body: Record<string, string>): boolean {
  if (shape.offBranch === undefined || body['ref'] !== undefined) return false;
  if (forge.statuses.some((status) => status.commit === commit)) return false;
  return [...forge.pulls.values()].some(({ isFork, head, commits = [head] }) => isFork && commits.includes(commit));
}

function setStatus(forge: FakeForge, commit: string, body: Record<string, string>): FakeStatus {
  const set: FakeStatus = {
    commit,
    state: body['state'] ?? '',
    context: body['context'] ?? body['name'] ?? '',
    description: body['description'] ?? '',
    ...(body['target_url'] === undefined ? {} : { targetUrl: body['target_url'] }),
  };
  forge.statuses.push(set);
  newest.get(forge)?.set(`${set.commit} ${set.context}`, set);
  return set;
}

/** As these forges page: the next page stands in a header. */
function paged(all: readonly unknown[], page: number, api: string): Routed {
  const hasNext = all.length > page * PAGE;
  const link = `<${api}/x?page=${page + 1}>; rel="next", <${api}/x?page=99>; rel="last"`;
  return { status: 200, body: all.slice((page - 1) * PAGE, page * PAGE), headers: hasNext ? { link } : {} };
}
