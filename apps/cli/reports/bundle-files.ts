/** The files of a support bundle: what this machine, the service and its log say. contract §11.7. */
import { existsSync, readFileSync } from 'node:fs';
import { arch, availableParallelism, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Factory, FactoryStatus, Sync } from '#client';
import { chosen, logLines, type BundleFile, type KnownSecret } from '#management';
import type { Config } from '../../server/config/config.ts';
import { CommandError } from '../command.ts';
import type { Api } from '../connection/api.ts';
import { PAGE_SIZE_MAX } from '../connection/pages.ts';
import { exchange } from '../connection/request.ts';
import { EXIT } from '../exit-codes.ts';
import { version } from '../version.ts';

const ANSWER_MS_MAX = 30_000;

/** Factories, and passes of each, that are told of. */
const FACTORIES_MAX = 50;
const PASSES_MAX = 20;
/** Of a log, what stands last. */
const LOG_LINES_MAX = 5_000;

const CONDITION = ['type', 'status', 'reason', 'message', 'since', 'observed_generation'];
const REVISIONS = [
  'revision_seen',
  'revision_attempted',
  'revision_applied',
  'generation_requested',
  'generation_handled',
];
const PASS = ['id', 'triggers', 'started_at', 'finished_at', 'ending', 'reason', 'message', 'revision', 'timings'];
const PROBLEM = ['path', 'line', 'column', 'severity', 'rule_id'];

/** Other variables that change what the service does. */
const FURTHER_VARIABLES = /^(?:NODE_|OTEL_|(?:HTTPS?|NO|ALL)_PROXY$|(?:https?|no|all)_proxy$|PATH$|TZ$|LANG$)/;

type Environment = Readonly<Record<string, string | undefined>>;

/** What runs where. */
export function versionsFile(nowMs: number): BundleFile {
  const machine = { platform: platform(), release: release(), arch: arch() };
  const size = { processors: availableParallelism(), memory_mb: Math.round(totalmem() / 1_048_576) };
  return jsonFile('versions.json', {
    millwright: version(),
    node: process.version,
    ...machine,
    ...size,
    written_at: new Date(nowMs).toISOString(),
  });
}

/** Names of what is set, never a value. */
export function variablesFile(environment: Environment, known: ReadonlySet<string>): BundleFile {
  const names = Object.keys(environment).filter((name) => environment[name] !== undefined && environment[name] !== '');
  const own = names.filter((name) => name.startsWith('MILLWRIGHT_'));
  return jsonFile('variables.json', {
    set: own.filter((name) => known.has(name)).sort(),
    unknown: own.filter((name) => !known.has(name)).sort(),
    others: names.filter((name) => FURTHER_VARIABLES.test(name)).sort(),
  });
}

/** The service that is asked. */
export interface AskedService {
  api: Api;
  base: URL;
  key: string;
}

/** What the service says of itself and its factories; what cannot be asked is a file that says so. */
export async function serviceFiles(connected: () => Promise<AskedService>): Promise<BundleFile[]> {
  let connecting: Promise<AskedService> | undefined;
  // Once for all: a token of a build server is exchanged for one key.
  const service = (): Promise<AskedService> => (connecting ??= connected());
  return Promise.all([
    askedFor('ready.json', async () => textOf(await service(), '/readyz')),
    askedFor('metrics.txt', async () => textOf(await service(), '/metrics')),
    askedFor('factories.json', async () => factories((await service()).api)),
  ]);
}

/** The last lines of a log. */
export function logFiles(text: string): BundleFile[] {
  const { lines, leftOut } = logLines(text);
  const last = lines.slice(-LOG_LINES_MAX);
  return [
    { name: 'log.jsonl', text: last.map((line) => `${line}\n`).join('') },
    jsonFile('log.json', { lines: last.length, earlier_lines: lines.length - last.length, other_lines: leftOut }),
  ];
}

/** Values of this machine that the scan looks for: of variables, of key files, and of passwords in addresses. */
export function knownSecrets(environment: Environment, config: Pick<Config, 'dataDir'> & KeyFiles): KnownSecret[] {
  const fromVariables = Object.entries(environment).flatMap(([name, value = '']) =>
    /(?:KEY|TOKEN|SECRET|PASSWORD)$/.test(name) ? [{ name, value }] : passwordsIn(name, value),
  );
  const files = [
    ['the master key', config.masterKeyFile ?? join(config.dataDir, 'master-key')],
    ['the UID key', config.uidKeyFile ?? join(config.dataDir, 'uid-key')],
    ['the admin key', join(config.dataDir, 'admin-key')],
  ] as const;
  const fromFiles = files.flatMap(([name, path]) =>
    existsSync(path) ? [{ name, value: readFileSync(path, 'latin1').trim() }] : [],
  );
  return [...fromVariables, ...fromFiles].filter(({ value }) => value.length >= SECRET_CHARACTERS_MIN);
}

interface KeyFiles {
  masterKeyFile?: string;
  uidKeyFile?: string;
}

/** Shorter ones are found everywhere. */
const SECRET_CHARACTERS_MIN = 8;

function passwordsIn(name: string, value: string): KnownSecret[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/@:]*:([^@]+)@/i.exec(value) ?? [];
  return password === undefined ? [] : [{ name: `the password in ${name}`, value: decodeURIComponent(password) }];
}

async function factories(api: Api): Promise<string> {
  const found: object[] = [];
  for await (const factory of api.factories.list({ limit: PAGE_SIZE_MAX })) {
    if (found.length === FACTORIES_MAX) break;
    const [state, { body: passes }] = await Promise.all([
      api.factories.status(factory.uid),
      api.factories.syncs.list(factory.uid, { limit: PASSES_MAX }),
    ]);
    found.push(factoryOf(factory, state, passes.syncs));
  }
  return `${JSON.stringify(found, null, 2)}\n`;
}

function factoryOf(factory: Factory, state: FactoryStatus, passes: readonly Sync[]): object {
  return {
    ...chosen(factory, ['uid', 'slug', 'suspended', 'definitions_managed']),
    source_kind: factory.source.kind,
    ...chosen(state, REVISIONS),
    conditions: state.conditions.map((condition) => chosen(condition, CONDITION)),
    passes: passes.map((pass) => ({
      ...chosen(pass, PASS),
      changes: pass.changes.length,
      held: pass.held.length,
      problems: pass.problems.map((problem) => chosen(problem, PROBLEM)),
    })),
  };
}

async function textOf({ base, key }: AskedService, path: string): Promise<string> {
  const address = new URL(`${base.href.replace(/\/+$/, '')}${path}`);
  const headers = { authorization: `Bearer ${key}` };
  const { status, text } = await exchange(address, { method: 'GET', headers }, ANSWER_MS_MAX);
  if (status === 200 || (path === '/readyz' && status === 503)) return text;
  throw new CommandError(`${path} answers ${status}`, EXIT.internal);
}

async function askedFor(name: string, ask: () => Promise<string>): Promise<BundleFile> {
  try {
    return { name, text: await ask() };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return jsonFile(`${name}.failed.json`, { message: error.message });
  }
}

export function jsonFile(name: string, value: unknown): BundleFile {
  return { name, text: `${JSON.stringify(value, null, 2)}\n` };
}
