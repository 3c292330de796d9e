/** What a client says about its calls: never a body, never the value of a query parameter, never a credential. */
import { environmentVariable } from './addresses.ts';
import { MillwrightError } from './errors.ts';

export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/** Where messages go; the console is one. */
export interface Logger {
  error(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  info(message: string, details?: unknown): void;
  debug(message: string, details?: unknown): void;
}

const LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

/** Says what is at or below the level. */
export class Log {
  readonly level: LogLevel;
  readonly logger: Logger;
  readonly #depth: number;

  constructor(level: LogLevel, logger: Logger) {
    this.level = level;
    this.logger = logger;
    this.#depth = LEVELS.indexOf(level);
  }

  /** Asked before a message is made, so that what nobody reads costs nothing. */
  tells(level: Exclude<LogLevel, 'off'>): boolean {
    return LEVELS.indexOf(level) <= this.#depth;
  }

  warn(message: string): void {
    if (this.tells('warn')) this.logger.warn(`millwright: ${message}`);
  }

  info(message: string): void {
    if (this.tells('info')) this.logger.info(`millwright: ${message}`);
  }

  debug(message: string, details?: unknown): void {
    if (this.tells('debug')) this.logger.debug(`millwright: ${message}`, details);
  }
}

/** What is logged, and where. */
export interface LogOptions {
  /** Default: MILLWRIGHT_LOG (in any case), else `warn`. */
  logLevel?: LogLevel | undefined;
  /** Default: the console. */
  logger?: Logger | undefined;
}

/**
 * The log that option or environment asks for. Throws MillwrightError for an option that is no level; such a variable
 * is warned of.
 */
export function logOf({ logLevel, logger = console }: LogOptions): Log {
  if (logLevel === undefined)
    return namedLog(environmentVariable('MILLWRIGHT_LOG')?.trim().toLowerCase() ?? DEFAULT_LEVEL, logger);
  if (isLevel(logLevel)) return new Log(logLevel, logger);
  throw new MillwrightError(`logLevel must be one of ${LEVELS.join(', ')}`);
}

const DEFAULT_LEVEL: LogLevel = 'warn';

function namedLog(name: string, logger: Logger): Log {
  if (isLevel(name)) return new Log(name, logger);
  const log = new Log(DEFAULT_LEVEL, logger);
  warnOnce(log, `MILLWRIGHT_LOG is none of ${LEVELS.join(', ')}; it counts as ${DEFAULT_LEVEL}`);
  return log;
}

function isLevel(value: string): value is LogLevel {
  return (LEVELS as readonly string[]).includes(value);
}

/** What each logger was warned of, so that a client that is made often, or copied, says it once. */
const WARNED = new WeakMap<Logger, Set<string>>();

/** Warns, unless the logger was told the same before. */
export function warnOnce(log: Log, words: string): void {
  const told = WARNED.get(log.logger) ?? new Set();
  if (!told.has(words)) log.warn(words);
  WARNED.set(log.logger, told.add(words));
}

const SECRET_NAME = /authorization|cookie|token|secret|key|signature/i;
/** Says which request is meant, and opens nothing. */
const HARMLESS_NAMES: readonly string[] = ['idempotency-key'];
const REDACTED = '***';

/** The last segment of an ingress URL that holds a token. */
const INGRESS_TOKEN = /(\/webhooks\/w\/[^/]+\/).+$/i;

/** A copy for the log, in which credentials are `***`; addresses have lost their user and query, and show {token}. */
export function redactHeaders(headers: Headers | Readonly<Record<string, string>>): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, redactHeader(name.toLowerCase(), value)]));
}

function redactHeader(name: string, value: string): string {
  if (HARMLESS_NAMES.includes(name)) return value;
  if (SECRET_NAME.test(name)) return REDACTED;
  return name === 'location' ? redactAddress(value) : value;
}

function redactAddress(address: string): string {
  const withoutQuery = address.replace(/[?#].*$/s, '');
  return withoutQuery.replace(/^([a-z][a-z0-9+.-]*:)?(\/\/)[^/]*@/i, '$1$2').replace(INGRESS_TOKEN, '$1{token}');
}
