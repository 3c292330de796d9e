/**
 * The operator's file of launch profiles: read and checked once, at start; every fault at once, by its place in the
 * file and never by a value. contract §1.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  BUILT_IN_HARNESS,
  COMMAND_HARNESS,
  LAUNCH_PROFILES,
  profilesWith,
  type LaunchProfile,
  type ModelBinding,
  type ModelVia,
  type OwnProfile,
} from '#agents';
import { AGENT_PROFILES_SCHEMA, compileSchema, type AgentProfilesFile, type SchemaError } from '#contracts';
import { INJECTABLE_VALUE_BYTES_MAX, isInjectableValue, readHostPattern } from '#isolation';
import { parseDocument } from 'yaml';
import { ConfigError } from '../../config/config.ts';

type Entry = AgentProfilesFile['profiles'][number];

const VARIABLE = 'MILLWRIGHT_AGENT_PROFILES_FILE';
/** Bytes of the file; a hundred profiles have a tenth of it. */
const FILE_BYTES_MAX = 1_048_576;
/** What the service itself sets for each run, or what decides which program runs. */
const OWN_VARIABLES = new Set([
  'PATH',
  'HOME',
  'SHELL',
  'TMPDIR',
  'LANG',
  'ENV',
  'BASH_ENV',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
]);
const OWN_PREFIXES = ['LD_', 'DYLD_', 'MILLWRIGHT_'];

/** The built-in profiles, with those of the file where there is one. Throws ConfigError. */
export async function readProfiles(file: string | undefined): Promise<readonly LaunchProfile[]> {
  if (file === undefined) return LAUNCH_PROFILES;
  const faults: string[] = [];
  const own = await ownProfiles(file, (rule) => void faults.push(rule));
  if (faults.length > 0) throw new ConfigError(faults.map((rule) => ({ variable: VARIABLE, rule })));
  return profilesWith(own);
}

type Fault = (rule: string) => void;

async function ownProfiles(file: string, fault: Fault): Promise<OwnProfile[]> {
  const entries = await entriesOf(file, fault);
  const ids = entries.map(({ id }) => id);
  return Promise.all(
    entries.map(async (entry, index) => {
      const at: Fault = (rule) => fault(`profiles[${index}] (${entry.id}): ${rule}`);
      if (ids.indexOf(entry.id) !== index) at('there is another profile with this id; give each one of its own');
      checkEntry(entry, at);
      return toProfile(entry, await secretsOf(entry, dirname(resolve(file)), at));
    }),
  );
}

/** JSON is YAML too. */
async function entriesOf(file: string, fault: Fault): Promise<readonly Entry[]> {
  const text = await textOf(file).catch((error: unknown) => fault(`the file cannot be read (${codeOf(error)})`));
  if (typeof text !== 'string') return [];
  const document = parseDocument(text, { prettyErrors: true });
  for (const { code, linePos } of document.errors)
    fault(`line ${linePos?.[0].line ?? 1}: this is no YAML or JSON (${code})`);
  if (document.errors.length > 0) return [];
  const checked = compileSchema<AgentProfilesFile>(AGENT_PROFILES_SCHEMA)(valueOf(document, fault));
  if (checked.ok) return checked.value.profiles;
  for (const error of checked.errors) fault(wordsOf(error));
  return [];
}

function valueOf(document: ReturnType<typeof parseDocument>, fault: Fault): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    fault('it refers to itself too often; write out what its aliases stand for');
    return { profiles: [] };
  }
}

async function textOf(file: string): Promise<string> {
  const found = await stat(file);
  if (!found.isFile() || found.size > FILE_BYTES_MAX)
    throw Object.assign(new Error('no file of a size that can be read'), {
      code: found.isFile() ? 'larger than 1 MiB' : 'not a file',
    });
  return readFile(file, 'utf8');
}

/** The finding without what was found: a key may stand in the wrong place. */
function wordsOf({ pointer, kind, message, candidates }: SchemaError): string {
  const place = pointer === '' ? 'the file' : pointer;
  if (kind === 'wrong-value' && candidates !== undefined) return `${place}: must be one of ${candidates.join(', ')}`;
  return pointer === '' ? message : `${place}: ${message}`;
}

function checkEntry(entry: Entry, fault: Fault): void {
  const isBuiltIn = LAUNCH_PROFILES.some(({ id }) => id === entry.id);
  if (entry.id === BUILT_IN_HARNESS || entry.id === COMMAND_HARNESS)
    fault('id: the harness of this name is the service’s own; choose another');
  if (!isBuiltIn && entry.command === undefined)
    fault('command: an agent that is not built in needs its program and arguments');
  if (!isBuiltIn && entry.modelVia === undefined)
    fault('modelVia: an agent that is not built in needs one: option, {flag: …} or {env: …}');
  for (const name of [...Object.keys(entry.env ?? {}), ...Object.keys(entry.envFiles ?? {})].filter(isReserved))
    fault(`${name}: this variable is set by the service for each run`);
  for (const name of Object.keys(entry.env ?? {}).filter((candidate) => candidate in (entry.envFiles ?? {})))
    fault(`${name}: stands in env and in envFiles; keep one`);
  if (new Set(entry.prices?.map(({ currency = 'USD' }) => currency)).size > 1)
    fault('prices: entries in several currencies cannot be added up; keep one');
  const bad = (entry.endpoints ?? []).flatMap((host, index) => (readHostPattern(host) === undefined ? [index] : []));
  for (const index of bad)
    fault(`endpoints[${index}]: must be a host name, *. and a name, or an address, with :port if needed`);
}

function isReserved(name: string): boolean {
  return OWN_VARIABLES.has(name.toUpperCase()) || OWN_PREFIXES.some((prefix) => name.toUpperCase().startsWith(prefix));
}

/** What no log may show: contents of files, and variables that are named as credentials. */
async function secretsOf(entry: Entry, folder: string, fault: Fault): Promise<Record<string, string>> {
  const files = Object.entries(entry.envFiles ?? {}).map(async ([name, path]): Promise<[string, string]> => {
    const text = await textOf(resolve(folder, path)).catch((error: unknown) =>
      fault(`envFiles.${name}: the file cannot be read (${codeOf(error)})`),
    );
    return [name, (text ?? HARMLESS).replace(/\r?\n$/, '')];
  });
  const credentials = entry.credentials ?? LAUNCH_PROFILES.find(({ id }) => id === entry.id)?.credentials ?? [];
  const named = Object.entries(entry.env ?? {}).filter(([name]) => credentials.includes(name));
  const secrets = [...named, ...(await Promise.all(files))];
  for (const [name] of secrets.filter(([, value]) => !isInjectableValue(value))) {
    fault(
      `${name}: a credential must have 8 characters to ${INJECTABLE_VALUE_BYTES_MAX / 1_024} KiB, or it could ` +
        'not be kept out of logs; for an endpoint that needs none set credentials: []',
    );
  }
  return Object.fromEntries(secrets);
}

/** Stands for a value that could not be read, which is a fault already. */
const HARMLESS = '-'.repeat(8);

function toProfile(
  { envFiles = {}, modelVia, env = {}, models, modelEndpoints, prices, ...entry }: Entry,
  secretEnv: Record<string, string>,
): OwnProfile {
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => !(name in secretEnv) && !(name in envFiles)));
  return {
    ...entry,
    env: plain,
    secretEnv,
    modelVia: modelVia === undefined ? undefined : toModelVia(modelVia),
    modelPatterns: models,
    models: modelEndpoints?.map(toBinding),
    prices: prices?.map(({ input, cachedInput = input, currency = 'USD', ...price }) => ({
      ...price,
      input,
      cachedInput,
      currency,
    })),
  };
}

/** Which models it has is the operator's to say, in `models`. */
function toBinding({
  id,
  apis,
  keys,
  addressVariable,
  address,
}: NonNullable<Entry['modelEndpoints']>[number]): ModelBinding {
  return { id, apis, keys, address: { variable: addressVariable }, at: address, usual: ['*'], small: [] };
}

function toModelVia(said: NonNullable<Entry['modelVia']>): ModelVia {
  if (typeof said === 'string') return { kind: 'option' };
  const { flag, env } = said as { flag?: string; env?: string };
  return flag === undefined ? { kind: 'env', name: env ?? '' } : { kind: 'flag', flag };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
