/** The API of one server as the verbs call it: address, key, time limits, and refusals in words. contract 2, 3 (Errors), 11. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isLoopback, readAddress } from './address.ts';
import { Failure, verb, type Asked, type CliIo, type DescribedVerb, type OptionSpecs, type VerbSpec } from './command.ts';
import { EXIT, exitOfStatus } from './exit-codes.ts';
import { exchange, type Exchange } from './network.ts';
import { Output, readFormat } from './output.ts';
import { version } from './version.ts';

const DEFAULT_SERVER = 'http://127.0.0.1:8080';
const DEFAULT_DATA_DIR = '.millwright';
/** Every call of the API answers at once. */
const ANSWER_MS_MAX = 30_000;
/** A file may be large and the way to it slow. */
const DOWNLOAD_MS_MAX = 600_000;

/** The form of an API key. contract 1. */
const KEY = /^mw_[A-Za-z0-9_-]{16,256}$/;

export interface Api {
  /** Calls `{server}/api/v1{path}`; undefined for an answer without a body. Throws Failure for every refusal. */
  call<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, content?: { query?: Query; body?: unknown }): Promise<T>;
  /** The bytes behind `{server}/api/v1{path}`. Throws Failure for every refusal. */
  download(path: string): Promise<Uint8Array>;
}
/** Query parameters; undefined ones are left out, lists are repeated. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of every verb that talks to a server. */
export const SERVER_OPTIONS = {
  format: { type: 'string', value: 'text|json', help: 'text for people (default), or the JSON of the API' },
  server: { type: 'string', value: 'URL', help: `address of the service (default: MILLWRIGHT_SERVER, else ${DEFAULT_SERVER})` },
  'key-file': { type: 'string', value: 'FILE', help: 'file with the API key (default: MILLWRIGHT_API_KEY; on this machine also <data dir>/admin-key)' },
} as const satisfies OptionSpecs;

/** What a verb of a server works with. */
export interface Calling {
  api: Api;
  output: Output;
  io: CliIo;
}

/** Declares a verb that talks to a server. */
export function apiVerb<const Specs extends OptionSpecs>(
  spec: Omit<VerbSpec<Specs>, 'run'> & { run(asked: Asked<Specs>, calling: Calling): Promise<number> },
): DescribedVerb {
  return verb<Specs & typeof SERVER_OPTIONS>({
    ...spec,
    options: { ...spec.options, ...SERVER_OPTIONS },
    run: (asked, io) => {
      const { format, server, 'key-file': keyFile } = asked.values as { format?: string; server?: string; 'key-file'?: string };
      const output = new Output(io, readFormat(format));
      return spec.run(asked as Asked<Specs>, { api: connect({ server, keyFile }, io), output, io });
    },
  });
}

/** A key, and where it was found. */
export interface ApiKey {
  value: string;
  /** Where it came from, for messages. */
  origin: string;
}

/** The API of the server that options and environment name. Nothing is sent yet. */
export function connect({ server, keyFile }: { server?: string; keyFile?: string }, io: CliIo): Api {
  const base = readAddress(server ?? set(io, 'MILLWRIGHT_SERVER') ?? DEFAULT_SERVER, server === undefined ? 'MILLWRIGHT_SERVER' : '--server', io.environment);
  const key = findKey(keyFile, base, io);
  const headersOf = (accept: string): Record<string, string> => ({ accept, authorization: `Bearer ${key.value}`, 'x-millwright-client': `cli/${version()}` });
  return {
    call: async <T>(method: string, path: string, { query = {}, body }: { query?: Query; body?: unknown } = {}): Promise<T> => {
      const headers = { ...headersOf('application/json'), ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
      const answer = await exchange(addressOf(base, path, query), { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }, ANSWER_MS_MAX);
      return read<T>(answer, base, key);
    },
    download: async (path) => {
      const answer = await exchange(addressOf(base, path, {}), { method: 'GET', headers: headersOf('application/octet-stream, application/problem+json') }, DOWNLOAD_MS_MAX);
      return answer.status === 200 ? answer.bytes : read<never>(answer, base, key);
    },
  };
}

function addressOf(base: URL, path: string, query: Query): URL {
  const url = new URL(`${base.href.replace(/\/+$/, '')}/api/v1${path}`);
  for (const [name, value] of Object.entries(query)) {
    for (const one of value === undefined ? [] : [value].flat()) url.searchParams.append(name, one);
  }
  return url;
}

/** The key that options, environment or the data folder name for a server. Throws Failure. */
export function findKey(keyFile: string | undefined, base: URL, io: CliIo): ApiKey {
  const fromEnvironment = set(io, 'MILLWRIGHT_API_KEY');
  if (keyFile !== undefined) return checkedKey(readKeyFile(resolve(io.cwd, keyFile)), keyFile);
  if (fromEnvironment !== undefined) return checkedKey(fromEnvironment, 'MILLWRIGHT_API_KEY');
  const file = resolve(io.cwd, set(io, 'MILLWRIGHT_DATA_DIR') ?? DEFAULT_DATA_DIR, 'admin-key');
  const found = isLoopback(base) ? readIfThere(file) : undefined;
  if (found !== undefined) return checkedKey(found, file);
  const tried = isLoopback(base) ? `; there is no ${file} either (MILLWRIGHT_DATA_DIR names the data folder)` : '';
  throw new Failure(`an API key is needed: set MILLWRIGHT_API_KEY or give --key-file FILE${tried}`, EXIT.usage);
}

/** An empty variable is an unset one. */
function set(io: CliIo, name: string): string | undefined {
  return io.environment[name] === '' ? undefined : io.environment[name];
}

function checkedKey(text: string, origin: string): ApiKey {
  const value = text.trim();
  if (!KEY.test(value)) throw new Failure(`${origin} holds no API key; one looks like mw_ and 43 further characters`, EXIT.usage);
  return { value, origin };
}

function readKeyFile(file: string): string {
  const text = readIfThere(file);
  if (text === undefined) throw new Failure(`there is no file ${file}`, EXIT.usage);
  return text;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Failure(`the file ${file} cannot be read (${code})`, EXIT.usage, [], { cause });
  }
}

function read<T>({ status, headers, text }: Exchange, base: URL, key: ApiKey): T {
  if (status === 204) return undefined as T;
  const body = parsed(text);
  const isProblem = (headers.get('content-type') ?? '').startsWith('application/problem+json');
  if (status >= 400 && isProblem) throw refusal(status, (body ?? {}), headers, key);
  if (status >= 400 || body === undefined) throw new Failure(`${base.origin} answers ${status}, but not as a Millwright service does; check --server`, EXIT.internal);
  return body as T;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Body of an error. contract 3. */
interface Problem {
  title?: string;
  detail?: string;
  trace_id?: string;
  errors?: { pointer?: string; message?: string }[];
  /** Text that a file would need, where files decide what was to be changed. */
  edited_text?: string | null;
  file?: string;
  new_file?: string;
}

function refusal(status: number, problem: Problem, headers: Headers, key: ApiKey): Failure {
  const { title, detail, errors = [], trace_id: traceId } = problem;
  if (status === 401) return new Failure(`the server does not know the API key in ${key.origin}`, EXIT.usage, ['set MILLWRIGHT_API_KEY to a key of that server, or give --key-file FILE']);
  const words = detail ?? title ?? `the server answers ${status}`;
  const members = errors.filter(({ message }) => message !== words).map(({ pointer = '', message = '' }) => (pointer === '' ? message : `${pointer}: ${message}`));
  const seconds = headers.get('retry-after');
  const retry = seconds === null ? [] : [`try again in ${seconds} s`];
  const trace = status >= 500 && traceId !== undefined ? [`trace id ${traceId}`] : [];
  return new Failure(words, exitOfStatus(status), [...members, ...proposal(problem), ...retry, ...trace]);
}

/** The edit that a refusal proposes, to be copied. */
function proposal({ edited_text: text, file, new_file: newFile }: Problem): string[] {
  if (typeof text !== 'string' || file === undefined) return [];
  return [`${newFile ?? file}:`, ...text.replace(/\n$/, '').split('\n').map((line) => `| ${line}`)];
}
