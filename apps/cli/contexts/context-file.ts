/**
 * Contexts of the command line: services by name, with the key for each, in a file that only its owner reads. contract
 * §11.8.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommandError, UsageError, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

/** One service. */
export interface Context {
  server: string;
  /** Factory that is meant where none is named. */
  factory?: string;
  key?: string;
}

export interface Contexts {
  /** The one in use. */
  current?: string;
  byName: ReadonlyMap<string, Context>;
}

type Io = Pick<CliIo, 'environment' | 'cwd'>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Where the file is; undefined: nowhere, as there is no home. */
export function contextFile({ environment, cwd }: Io): string | undefined {
  const set = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const named = set('MILLWRIGHT_CONFIG');
  if (named !== undefined) return resolve(cwd, named);
  const home = set('HOME');
  const folder = set('XDG_CONFIG_HOME') ?? (home === undefined ? undefined : join(home, '.config'));
  return folder === undefined ? undefined : resolve(cwd, folder, 'millwright/config.json');
}

/** The contexts that there are. Throws CommandError where the file is not one, or others may read the keys in it. */
export function readContexts(io: Io): Contexts {
  const file = contextFile(io);
  const text = file === undefined ? undefined : readIfThere(file);
  if (file === undefined || text === undefined) return { byName: new Map() };
  const { current, contexts } = parsed(text, file);
  const byName = new Map(Object.entries(contexts));
  if ([...byName.values()].some(({ key }) => key !== undefined) && (statSync(file).mode & 0o077) !== 0)
    throw new CommandError(`others may read the keys in ${file}`, EXIT.problems, [`run: chmod 600 ${file}`]);
  return { current, byName };
}

/** The context in use: what MILLWRIGHT_CONTEXT names, else the file. Throws CommandError where there is none of it. */
export function currentContext(io: Io): (Context & { name: string; file: string }) | undefined {
  const named = io.environment['MILLWRIGHT_CONTEXT'] === '' ? undefined : io.environment['MILLWRIGHT_CONTEXT'];
  const { current, byName } = readContexts(io);
  const name = named ?? current;
  if (name === undefined) return undefined;
  return { ...contextOf(byName, name), name, file: contextFile(io) ?? '' };
}

/** The context of that name. Throws CommandError. */
export function contextOf(byName: ReadonlyMap<string, Context>, name: string): Context {
  const found = byName.get(checkedName(name));
  if (found !== undefined) return found;
  const known = byName.size === 0 ? 'there are none' : `there are ${[...byName.keys()].join(', ')}`;
  throw new CommandError(`there is no context ${name}; ${known}`, EXIT.notFound, ['make one with: millwright login']);
}

export function checkedName(name: string): string {
  if (NAME.test(name)) return name;
  throw new UsageError('the name of a context must be 1 to 64 letters, digits, dots, _ and -');
}

/** Puts the whole file in place at once; nobody else may read it, not even meanwhile. Answers where it is. */
export function writeContexts({ current, byName }: Contexts, io: Io): string {
  const file = contextFile(io);
  if (file === undefined)
    throw new CommandError(
      'there is no place for contexts: set HOME, XDG_CONFIG_HOME or MILLWRIGHT_CONFIG',
      EXIT.usage,
    );
  const text = `${JSON.stringify({ current, contexts: Object.fromEntries(byName) }, null, 2)}\n`;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  } catch (cause) {
    rmSync(draft, { force: true });
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new CommandError(`the file ${file} cannot be written (${code})`, EXIT.internal, [], { cause });
  }
  return file;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CommandError(`the file ${file} cannot be read (${code})`, EXIT.internal, [], { cause });
  }
}

interface Stored {
  current?: string;
  contexts: Record<string, Context>;
}

/** Its text is never repeated: it holds keys. */
function parsed(text: string, file: string): Stored {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isStored(value)) return value;
  throw new CommandError(`the file ${file} holds no contexts; move it away, and make them with: millwright login`, 1);
}

function isStored(value: unknown): value is Stored {
  if (!isRecord(value) || !isRecord(value['contexts']) || !isText(value['current'])) return false;
  return Object.entries(value['contexts']).every(
    ([name, context]) =>
      NAME.test(name) &&
      isRecord(context) &&
      typeof context['server'] === 'string' &&
      isText(context['factory']) &&
      isText(context['key']),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
