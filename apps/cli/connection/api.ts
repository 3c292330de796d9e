/**
 * The API of one server as the verbs call it: address, key, time limits, and refusals in words. contract §2, §3.10
 * (Errors), §11.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  APIConnectionError,
  APIPromise,
  APIResponseValidationError,
  APIStatusError,
  isLoopback,
  Millwright,
  PagePromise,
  type CallRequest,
  type ClientOptions,
  type PagePlace,
  type Sending,
} from '#client';
import { currentContext } from '../contexts/context-file.ts';
import { serverOf, valueOf } from './address.ts';
import {
  CommandError,
  verb,
  type Asked,
  type CliIo,
  type DescribedVerb,
  type OptionSpecs,
  type VerbSpec,
} from '../command.ts';
import { EXIT, exitOfStatus } from '../exit-codes.ts';
import { exchangedKey } from './exchanged-key.ts';
import { dataFolder } from './local-service.ts';
import { redirected, unreachable } from './request.ts';
import { FORMAT_OPTION, outputFor, type Output } from '../terminal/output.ts';
import { version } from '../version.ts';

/** Every call of the API answers at once. */
export const ANSWER_MS_MAX = 30_000;

/** The form of an API key. contract §1. */
const KEY = /^mw_[A-Za-z0-9_-]{16,256}$/;

/** The client of the API, whose every error is a CommandError in the words of the command. */
export class Api extends Millwright {
  readonly #failureOf: (cause: unknown) => unknown;
  /** Factory that is meant where none is named. */
  defaultFactory?: string;

  constructor(options: ClientOptions, failureOf: (cause: unknown) => unknown) {
    super(options);
    this.#failureOf = failureOf;
  }

  override call<T>(request: CallRequest): APIPromise<T> {
    return new APIPromise(this.#inWords(() => super.call<T>(request)));
  }

  override page<Item, Body, Name extends string>(request: CallRequest, member: Name, place?: PagePlace) {
    return new PagePromise(this.#inWords(() => super.page<Item, Body, Name>(request, member, place)));
  }

  #inWords<T>(ask: () => APIPromise<T>): Sending<T> {
    const fail = (cause: unknown): never => {
      throw this.#failureOf(cause);
    };
    return { read: () => ask().withResponse().catch(fail), unread: () => ask().asResponse().catch(fail) };
  }
}

/** Options of every verb that talks to a server. */
export const SERVER_OPTIONS = {
  format: { ...FORMAT_OPTION, help: 'text for people (default), or the JSON of the API, also as YAML' },
  server: {
    type: 'string',
    value: 'URL',
    help: 'address of the service (default: MILLWRIGHT_SERVER, the context in use, the service of this folder)',
  },
  'key-file': {
    type: 'string',
    value: 'FILE',
    help: 'file with the API key (default: MILLWRIGHT_API_KEY; on this machine also <data dir>/admin-key)',
  },
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
    run: async (asked, io) => {
      const {
        format,
        server,
        'key-file': keyFile,
      } = asked.values as { format?: string; server?: string; 'key-file'?: string };
      const output = await outputFor(io, format);
      return spec.run(asked as Asked<Specs>, { api: await connect({ server, keyFile }, io), output, io });
    },
  });
}

/** A key, and where it was found. */
export interface ApiKey {
  value: string;
  /** Where it came from, for messages. */
  origin: string;
  /** Of one that a token was exchanged for, and another can be: when it ends, on the monotonic clock. */
  endsAtMs?: number;
}

/**
 * Where options and environment say that the service is, and the key for it; where there is none, one that a token of
 * the build server is exchanged for. Throws CommandError.
 */
export async function endpointOf(
  { server, keyFile }: { server?: string; keyFile?: string },
  io: CliIo,
): Promise<{ base: URL; key: ApiKey }> {
  const base = serverOf(server, io);
  const key = storedKey(keyFile, base, io) ?? (await exchangedKey(base, io));
  return { base, key: key ?? missingKey(base, io) };
}

/** The API of the server that options and environment name. Nothing but a token is sent yet. */
export async function connect(options: { server?: string; keyFile?: string }, io: CliIo): Promise<Api> {
  const endpoint = await endpointOf(options, io);
  const api = connectWith(endpoint);
  api.defaultFactory = contextFor(endpoint.base, io)?.factory;
  return api;
}

/** The API of a server for a key that is known already. */
export function connectWith({ base, key }: { base: URL; key: ApiKey }): Api {
  const clientOptions: ClientOptions = {
    baseURL: base.href,
    apiKey: key.value,
    defaultHeaders: { 'X-Millwright-Client': `cli/${version()}` },
    timeout: ANSWER_MS_MAX,
    // Errors are reported at once; verbs that wait retry on their own.
    maxRetries: 0,
    logLevel: 'off',
  };
  return new Api(clientOptions, (cause) => failureOf(cause, base, key));
}

/** The context in use, where it is one of this server: of any other it says nothing. */
function contextFor(base: URL, io: CliIo): ReturnType<typeof currentContext> {
  const context = currentContext(io);
  return context !== undefined && place(new URL(context.server)) === place(base) ? context : undefined;
}

/** One address, however it is written. */
function place({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

/** The key that options, environment, the context of the server or the data folder name for it. Throws CommandError. */
export function findKey(keyFile: string | undefined, base: URL, io: CliIo): ApiKey {
  return storedKey(keyFile, base, io) ?? missingKey(base, io);
}

function storedKey(keyFile: string | undefined, base: URL, io: CliIo): ApiKey | undefined {
  const fromEnvironment = valueOf(io, 'MILLWRIGHT_API_KEY');
  if (keyFile !== undefined) return checkedKey(readKeyFile(resolve(io.cwd, keyFile)), keyFile);
  if (fromEnvironment !== undefined) return checkedKey(fromEnvironment, 'MILLWRIGHT_API_KEY');
  const context = contextFor(base, io);
  if (context?.key !== undefined) return checkedKey(context.key, `the context ${context.name}`);
  const file = resolve(dataFolder(io), 'admin-key');
  const found = isLoopback(base) ? readIfThere(file) : undefined;
  return found === undefined ? undefined : checkedKey(found, file);
}

function missingKey(base: URL, io: CliIo): never {
  const file = resolve(dataFolder(io), 'admin-key');
  const tried = isLoopback(base) ? `; there is no ${file} either (MILLWRIGHT_DATA_DIR names the data folder)` : '';
  throw new CommandError(
    `an API key is needed: set MILLWRIGHT_API_KEY or give --key-file FILE${tried}`,
    EXIT.notAllowed,
  );
}

/** A key in its form. Throws CommandError, which does not repeat the text. */
export function checkedKey(text: string, origin: string): ApiKey {
  const value = text.trim();
  if (!KEY.test(value))
    throw new CommandError(`${origin} holds no API key; one looks like mw_ and 43 further characters`, EXIT.notAllowed);
  return { value, origin };
}

function readKeyFile(file: string): string {
  const text = readIfThere(file);
  if (text === undefined) throw new CommandError(`there is no file ${file}`, EXIT.usage);
  return text;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CommandError(`the file ${file} cannot be read (${code})`, EXIT.usage, [], { cause });
  }
}

/** What went wrong, in words; what is no error of the API stays as it is. */
function failureOf(cause: unknown, base: URL, key: ApiKey): unknown {
  if (cause instanceof APIConnectionError) return unreachable(base, cause.cause ?? cause, ANSWER_MS_MAX);
  if (cause instanceof APIResponseValidationError)
    return new CommandError(
      `${base.origin} answers ${cause.status}, but not as a Millwright service does; check --server`,
      EXIT.internal,
      [cause.message],
      { cause },
    );
  return cause instanceof APIStatusError ? refusal(cause, base, key) : cause;
}

/** Members of a problem that a client does not know by name. */
interface Proposal {
  /** Text that a file would need, where files decide what was to be changed. */
  edited_text?: string | null;
  file?: string;
  new_file?: string;
}

function refusal(error: APIStatusError, base: URL, key: ApiKey): CommandError {
  const { status, headers, problem, detail, title, errors, traceId } = error;
  if (status >= 300 && status < 400) return redirected(base);
  if (problem === undefined || !(headers.get('content-type') ?? '').startsWith('application/problem+json'))
    return new CommandError(
      `${base.origin} answers ${status}, but not as a Millwright service does; check --server`,
      EXIT.internal,
    );
  const answer = { status, code: error.code, traceId };
  if (status === 401)
    return new CommandError(
      `the server does not know the API key in ${key.origin}`,
      EXIT.notAllowed,
      ['set MILLWRIGHT_API_KEY to a key of that server, or give --key-file FILE'],
      { answer },
    );
  const words = detail ?? title ?? `the server answers ${status}`;
  const members = errors
    .filter(({ message }) => message !== words)
    .map(({ pointer, message }) => (pointer === '' ? message : `${pointer}: ${message}`));
  const seconds = headers.get('retry-after');
  const retry = seconds === null ? [] : [`try again in ${seconds} s`];
  const trace = status >= 500 && traceId !== undefined ? [`trace id ${traceId}`] : [];
  const details = [...members, ...proposal(problem), ...retry, ...trace];
  return new CommandError(words, exitOfStatus(status), details, { answer });
}

/** The edit that a refusal proposes, to be copied. */
function proposal({ edited_text: text, file, new_file: newFile }: Proposal): string[] {
  if (typeof text !== 'string' || file === undefined) return [];
  return [
    `${newFile ?? file}:`,
    ...text
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `| ${line}`),
  ];
}
