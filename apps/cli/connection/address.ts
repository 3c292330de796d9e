/** Where a request may go: addresses people type are checked before anything secret is sent there. contract §1, §11. */
import { isLoopback } from '#client';
import { UsageError, type CliIo } from '../command.ts';
import { currentContext } from '../contexts/context-file.ts';
import { localService } from './local-service.ts';

const DEFAULT_SERVER = 'http://127.0.0.1:8080';

/**
 * A whole http(s) address without user, query or fragment. `subject` is what the message calls it; the text itself is
 * never repeated.
 */
export function readAddress(
  text: string,
  subject: string,
  environment: Readonly<Record<string, string | undefined>>,
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`${subject} must be an address that starts with http:// or https://`);
  if (url.username !== '' || url.password !== '') throw new UsageError(`${subject} must hold no user or password`);
  if (url.search !== '' || url.hash !== '') throw new UsageError(`${subject} must hold no query and no fragment`);
  if (url.protocol === 'http:' && !isLoopback(url) && environment['MILLWRIGHT_ALLOW_HTTP'] !== 'true') {
    throw new UsageError(
      `${subject} must be https: keys and tokens would travel readable (MILLWRIGHT_ALLOW_HTTP=true allows it)`,
    );
  }
  return url;
}

/**
 * Where the service is: what the option says, else the command's own variable, else that of the client libraries, which
 * may name the API itself; else the context in use, else the service of the data folder.
 */
export function serverOf(option: string | undefined, io: CliIo): URL {
  return namedServer(option, io)?.base ?? localService(io) ?? new URL(DEFAULT_SERVER);
}

/** The service that somebody has named, and by what; undefined: nobody has. */
export function namedServer(option: string | undefined, io: CliIo): { base: URL; by: string } | undefined {
  const [subject, text] =
    [
      ['--server', option],
      ['MILLWRIGHT_SERVER', valueOf(io, 'MILLWRIGHT_SERVER')],
      ['MILLWRIGHT_BASE_URL', valueOf(io, 'MILLWRIGHT_BASE_URL')],
    ].find(([, given]) => given !== undefined) ?? [];
  if (text !== undefined) {
    const by = subject ?? 'the address';
    return { base: readAddress(text, by, io.environment), by };
  }
  const context = currentContext(io);
  if (context === undefined) return undefined;
  const by = `the context ${context.name}`;
  return { base: readAddress(context.server, by, io.environment), by };
}

/** The variable of that name; an empty one is an unset one. */
export function valueOf(io: CliIo, name: string): string | undefined {
  return io.environment[name] === '' ? undefined : io.environment[name];
}
