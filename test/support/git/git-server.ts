/**
 * A real git server for tests: `git http-backend` behind https with a throw-away authority; counts what it is asked,
 * fails on demand.
 */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { createRepository, environment, type RepositoryOptions, type TestRepository } from './git-repository.ts';

export { createRepository, hideRepository } from './git-repository.ts';
export type { CommitOptions, CommittedEntry, RepositoryOptions, TestRepository } from './git-repository.ts';

/** One exchange of git's smart protocol (version 2: every reading starts with an advertisement). */
export type RequestKind = 'advertisement' | 'ls-refs' | 'fetch' | 'other';

export interface RecordedRequest {
  kind: RequestKind;
  method: string;
  path: string;
  authorization?: string;
}

/** How the server misbehaves. `only` limits it to one kind of request; a refused connection knows no kind. */
export type Fault =
  | { kind: 'refuse' }
  | { kind: 'status'; status: 401 | 403 | 404 | 429 | 500 | 503; body?: string; only?: RequestKind }
  | { kind: 'slow'; delayMs: number; only?: RequestKind }
  /** Answers when the promise is settled. */
  | { kind: 'hold'; until: Promise<unknown>; only?: RequestKind }
  | { kind: 'cut'; afterBytes: number; only?: RequestKind }
  /** Answers at this speed. */
  | { kind: 'trickle'; bytesPerSecond: number; only?: RequestKind }
  | { kind: 'redirect'; to: string; only?: RequestKind }
  | { kind: 'hang'; only?: RequestKind }
  | { kind: 'html'; only?: RequestKind }
  /** Sends commits with all that belongs to them, but no file that is asked for by its own name. */
  | { kind: 'withhold'; only?: RequestKind };

export interface GitServer {
  /** `https://127.0.0.1:<port>` */
  url: string;
  /** PEM file with the authority that signed the server's certificate. */
  caFile: string;
  /** Folder that the repositories stand in. */
  root: string;
  /** Set to make it misbehave from the next request on. */
  fault: Fault | undefined;
  /** When set, requests without this token (as the password of Basic credentials) are answered 401. */
  token: string | undefined;
  /** Repositories that are not public, by name, each with the token that it wants. */
  readonly tokens: Map<string, string>;
  readonly requests: readonly RecordedRequest[];
  count(kind: RequestKind): number;
  /** Forgets the requests so far. */
  forget(): void;
  createRepository(name: string, options?: RepositoryOptions): TestRepository;
  urlOf(name: string): string;
  close(): Promise<void>;
}

/** Starts a server on 127.0.0.1 with a port of its own. */
export async function startGitServer(): Promise<GitServer> {
  const folder = await mkdtemp(join(tmpdir(), 'git-server-'));
  const certificate = await makeCertificate(folder);
  const root = join(folder, 'repositories');
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  const children = new Set<ChildProcess>();
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket: Socket) => {
    if (state.fault?.kind === 'refuse') return void socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const state: GitServer = {
    url,
    caFile: certificate.caFile,
    root,
    fault: undefined,
    token: undefined,
    tokens: new Map(),
    requests,
    count: (kind) => requests.filter((request) => request.kind === kind).length,
    forget: () => void requests.splice(0),
    createRepository: (name, options) => createRepository(root, name, options),
    urlOf: (name) => `${url}/${name}`,
    async close() {
      for (const child of children) child.kill('SIGKILL');
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(folder, { recursive: true, force: true });
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const kind = kindOf(request, body);
    const { authorization } = request.headers;
    requests.push({
      kind,
      method: request.method ?? '',
      path: request.url ?? '',
      ...(authorization === undefined ? {} : { authorization }),
    });
    if (!isAllowed(authorization, state.tokens.get(repositoryOf(request)) ?? state.token))
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    const fault = isMeant(state.fault, kind) ? state.fault : undefined;
    if (fault !== undefined && (await misbehave(fault, { request, body, root }, response))) return;
    await runBackend(request, body, response, fault);
  }

  function runBackend(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    fault: Fault | undefined,
  ): Promise<void> {
    const child = spawn('git', ['http-backend'], { env: backendEnvironment(root, request, body) });
    children.add(child);
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
    return relay(child, response, fault).finally(() => children.delete(child));
  }

  return state;
}

function isMeant(fault: Fault | undefined, kind: RequestKind): boolean {
  return fault !== undefined && (fault.kind === 'refuse' || fault.only === undefined || fault.only === kind);
}

interface Asked {
  request: IncomingMessage;
  body: Buffer;
  root: string;
}

/** Carries out a fault; false when the request is to be answered all the same. */
async function misbehave(fault: Fault, { request, body, root }: Asked, response: ServerResponse): Promise<boolean> {
  switch (fault.kind) {
    case 'refuse':
      request.socket.destroy();
      return true;
    case 'status':
      if (fault.status === 401) response.setHeader('www-authenticate', 'Basic realm="git"');
      response.writeHead(fault.status, { 'content-type': 'text/plain' }).end(fault.body ?? '');
      return true;
    case 'redirect':
      response.writeHead(302, { location: `${fault.to}${request.url ?? ''}` }).end();
      return true;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>');
      return true;
    case 'hang':
      return true; // the socket is ended with the client or the server
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
      return false;
    case 'hold':
      await fault.until;
      return false;
    case 'cut':
    case 'trickle':
      return false; // while it is sent
    case 'withhold':
      if (!wantsSingleFile({ request, body, root })) return false;
      response
        .writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
        .end(packetLine('ERR upload-pack: not our ref'));
      return true;
  }
}

/** Splits the backend's CGI answer into head and body. */
async function relay(
  child: ReturnType<typeof spawn>,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  const output = Buffer.concat(chunks);
  const end = output.indexOf('\r\n\r\n');
  if (end < 0) return void response.writeHead(500).end();
  for (const line of output.subarray(0, end).toString('latin1').split('\r\n')) {
    const colon = line.indexOf(':');
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  const body = output.subarray(end + 4);
  if (fault?.kind === 'trickle') return trickle(body, response, fault.bytesPerSecond);
  if (fault?.kind !== 'cut' || fault.afterBytes >= body.length) return void response.end(body);
  response.setHeader('content-length', body.length);
  response.write(body.subarray(0, fault.afterBytes), () => response.destroy());
}

/** Sends a little ten times a second, until all is sent or nobody listens any more. */
async function trickle(body: Buffer, response: ServerResponse, bytesPerSecond: number): Promise<void> {
  const step = Math.ceil(bytesPerSecond / 10);
  for (let at = 0; at < body.length && !response.destroyed; at += step) {
    response.write(body.subarray(at, at + step));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  response.end();
}

function backendEnvironment(root: string, request: IncomingMessage, body: Buffer): NodeJS.ProcessEnv {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  return {
    ...environment(),
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: decodeURIComponent(path),
    QUERY_STRING: query,
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    CONTENT_LENGTH: String(body.length),
    REMOTE_ADDR: '127.0.0.1',
    HTTP_CONTENT_ENCODING: headerOf(request, 'content-encoding'),
    GIT_PROTOCOL: headerOf(request, 'git-protocol'),
  };
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return Array.isArray(value) ? (value[0] ?? '') : (value ?? '');
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function kindOf(request: IncomingMessage, body: Buffer): RequestKind {
  if (request.url?.includes('/info/refs') === true) return 'advertisement';
  const text = textOf(request, body);
  if (text.includes('command=ls-refs')) return 'ls-refs';
  return text.includes('command=fetch') ? 'fetch' : 'other';
}

function textOf(request: IncomingMessage, body: Buffer): string {
  return (headerOf(request, 'content-encoding') === 'gzip' ? gunzipSync(body) : body).toString('latin1');
}

/** Whether a fetch names an object that is no commit. */
function wantsSingleFile({ request, body, root }: Asked): boolean {
  const wanted = /want ([0-9a-f]{40,64})/.exec(textOf(request, body))?.[1];
  if (wanted === undefined) return false;
  const folder = join(root, (request.url ?? '').replace(/\/git-upload-pack.*/, ''));
  return (
    execFileSync('git', ['cat-file', '-t', wanted], { cwd: folder, env: environment(), encoding: 'utf8' }).trim() !==
    'commit'
  );
}

function packetLine(text: string): string {
  return `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`;
}

/** Name of the repository that is asked for. */
function repositoryOf({ url = '' }: IncomingMessage): string {
  return url.slice(1).replace(/\/(?:info\/refs|git-upload-pack).*$/, '');
}

function isAllowed(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined) return true;
  const credentials = Buffer.from((authorization ?? '').replace(/^Basic /, ''), 'base64').toString('utf8');
  return credentials.slice(credentials.indexOf(':') + 1) === token;
}

/** An authority and a server certificate for 127.0.0.1, good for a day. */
export async function makeCertificate(folder: string): Promise<{ key: Buffer; cert: Buffer; caFile: string }> {
  const at = (name: string): string => join(folder, name);
  const openssl = async (...args: string[]): Promise<void> =>
    void (await promisify(execFile)('openssl', args, { cwd: folder }));
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '1',
    '-subj',
    '/CN=throw-away authority',
  );
  await openssl('req', '-new', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=127.0.0.1');
  await writeFile(at('extensions'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n');
  const sign = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1', '-extfile', 'extensions'];
  await openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.pem', ...sign);
  return { key: await readFile(at('server.key')), cert: await readFile(at('server.pem')), caFile: at('ca.pem') };
}
