/** `millwright start`: from environment and arguments to a running service, and the words a newcomer reads. contract 11. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Problem } from '#definitions';
import { deriveUid, type Change } from '#reconcile';
import { HOW_TO_CONFIGURE_A_MODEL, isConfining, modelChoice } from '#runs';
import { secretFromRandom, secretUse } from '#authentication';
import { knownApiUrl, knownIngressUrl, otherAdminKeyLine, roleLines, workerLines } from './banner.ts';
import { compose, type Service } from './composition/compose.ts';
import { ConfigError, readConfig, ROLES, type Config } from './config/config.ts';
import { DataFolderError } from './process/data-folder.ts';
import { serviceAccountOf } from './factories/factories.service.ts';
import { TlsError } from './http/server.ts';
import { WrongKeyError } from './process/installation.ts';
import { KeyFileError, writePrivateFile } from './secrets/key-files.ts';
import { ownCommand } from './process/own-command.ts';
import type { Factory } from './store/factories/factory-rows.ts';
import { StoreError } from './store/database/store-errors.ts';
import { SchemaTooNewError } from './store/database/migrations.ts';
import { PostgresUnusableError } from './store/database/postgres/postgres-refusals.ts';
import { VersionMismatchError } from './store/database/replicas.ts';
import type { WebhookRow } from './store/definitions/definition.entities.ts';
import type { BuiltInAgent } from './execution/agent/agents.ts';
import { FactoryArgumentError, parseFactoryArgument } from './sync/sources/parse-source.ts';

export interface StartIo {
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  stderr: NodeJS.WritableStream;
  /** Path that the process was called by; none in a process that is not the command. */
  calledAs?: string;
  /** How the agent that comes with the service is started; as it was built, if not said. */
  builtInAgent?: BuiltInAgent;
  /** Told when the service is put together, before it does anything: from now on it has to be stopped in order. */
  composed?(): void;
}

const EXIT = { internal: 3, usage: 64 } as const;
/** Slug of the factory that `--factory` names. */
const MAIN_SLUG = 'main';
const FIRST_PASS_MS = 30_000;

/** A usage error of the command line. */
class UsageError extends Error {}

/** Starts and answers the running service, or prints one clear line and answers an exit code. */
export async function start(argv: readonly string[], io: StartIo): Promise<Service | number> {
  try {
    const wanted = readArguments(argv, io.cwd);
    const config = configOf(io.environment, wanted);
    refuseWithoutSync(config, wanted);
    const service = await compose(config, {
      builtInAgent: io.builtInAgent,
      isTrusted: (slug) => slug === MAIN_SLUG && wanted.factory !== undefined,
    });
    io.composed?.();
    try {
      await begin(service, wanted, io);
      return service;
    } catch (error) {
      await service.stop().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    const { lines, code } = explain(error);
    for (const line of lines) io.stderr.write(`millwright: ${line}\n`);
    return code;
  }
}

/** `--roles` stands for its variable, and is named by itself where it is wrong. */
function configOf(environment: StartIo['environment'], { roles }: Arguments): Config {
  if (roles === undefined) return readConfig(environment);
  try {
    return readConfig({ ...environment, MILLWRIGHT_ROLES: roles });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      error.faults.map(({ variable, rule }) => ({
        variable: variable === 'MILLWRIGHT_ROLES' ? '--roles' : variable,
        rule,
      })),
    );
  }
}

function refuseWithoutSync({ roles }: Config, { factory, example }: Arguments): void {
  if (roles.has('sync') || (factory === undefined && !example)) return;
  throw new UsageError(
    `${factory === undefined ? '--example' : '--factory'} needs the role sync, and this process has only ${[...roles].join(', ')}: give it to a process that reconciles, or make the factory over the API`,
  );
}

async function begin(service: Service, { factory, example }: Arguments, io: StartIo): Promise<void> {
  const { config } = service;
  const admin = config.roles.has('api') ? await service.installation.firstAdminKey() : undefined;
  const main = factory === undefined ? undefined : await ensureMainFactory(service, factory, io.cwd);
  if (example) await ensureExampleSecrets(service);
  // Asked for before the loops begin: the words below then tell of a pass of this start, not of the last one.
  const generation = main === undefined ? 0 : await service.factories.requestSync(main.uid);
  await service.start();
  if (main !== undefined) await service.loops.settled(main.uid, generation, FIRST_PASS_MS);
  print(io, [
    '',
    ...roleLines(config),
    ...(admin === undefined ? [] : adminLines(config, admin, io)),
    ...(await runLines(service)),
    ...(main === undefined ? [] : await factoryLines(service, main.uid, io)),
    '',
    ...hintLines(config, io),
    '',
  ]);
}

/** What works on runs, and in what isolation, where this process works on any. */
async function runLines({ config, engine }: Service): Promise<string[]> {
  if (engine === undefined) return [];
  const { description, guarantees } = await engine.means();
  return [
    ...workerLines(config),
    `Sandbox for runs: ${description}`,
    ...(isConfining(guarantees) ? [] : isolationLines(config)),
    ...(config.runNetwork.kind === 'host'
      ? [
          '  Runs have the NETWORK OF THIS MACHINE (MILLWRIGHT_RUN_NETWORK=host): this service, private networks and cloud metadata included. Deliveries do not get it.',
        ]
      : []),
    ...(config.allowUnsandboxed ? ['  Agents start also WITHOUT A SANDBOX (MILLWRIGHT_ALLOW_UNSANDBOXED=true).'] : []),
    ...agentLines(config),
  ];
}

/** Where the command line looks when it is told nothing. */
const USUAL = { server: 'http://127.0.0.1:8080', port: 8080, dataDir: '.millwright' } as const;

function hintLines(config: Config, io: StartIo): string[] {
  const { port, dataDir } = config;
  const variables = [
    ...(port === USUAL.port ? [] : [`MILLWRIGHT_PORT=${port}`]),
    ...(isUsualFolder(dataDir, io) ? [] : [`MILLWRIGHT_DATA_DIR=${quoted(resolve(io.cwd, dataDir))}`]),
  ];
  return [
    ...(config.roles.has('api')
      ? [
          `Start a run with:                 ${commandOf(io)} run --prompt "Say hello" --follow${serverOptions(config, io)}`,
        ]
      : []),
    `See what this machine lacks with: ${[...variables, `${commandOf(io)} doctor`].join(' ')}${serverOptions(config, io)}`,
    ...(config.databaseUrl === undefined
      ? []
      : ['  in the environment of this process: MILLWRIGHT_DATABASE_URL, key files and all the rest']),
  ];
}

/** What runs a verb from the folder where the service was started. */
function commandOf(io: StartIo): string {
  return ownCommand(io).map(quoted).join(' ');
}

/** What the command line has to be told to find this service and its key. */
function serverOptions(config: Config, io: StartIo): string {
  const { dataDir } = config;
  const url = knownApiUrl(config);
  const file = resolve(io.cwd, dataDir, 'admin-key');
  const isFound = isUsualFolder(dataDir, io) && /^http:\/\/(127\.|localhost[:/]|\[::1\])/.test(`${url}/`);
  const server = url === USUAL.server ? '' : ` --server ${quoted(url)}`;
  return `${server}${isFound || !existsSync(file) ? '' : ` --key-file ${quoted(file)}`}`;
}

function isUsualFolder(dataDir: string, io: StartIo): boolean {
  return resolve(io.cwd, dataDir) === resolve(io.cwd, USUAL.dataDir);
}

function isolationLines({ allowUnsandboxed }: Config): string[] {
  const refused = allowUnsandboxed
    ? ''
    : ' Agents that take commands do not start like this; the demo model and a command of yours do.';
  return [
    `  Runs are NOT fully isolated on this machine: they can see more than their workspace.${refused} Install bubblewrap to change that.`,
  ];
}

/** What works on runs that name nothing themselves. */
function agentLines({ runCommand, agentEnvironment }: Config): string[] {
  if (runCommand !== undefined) return ['Runs get: the command of MILLWRIGHT_RUN_COMMAND'];
  const choice = modelChoice(agentEnvironment);
  switch (choice.kind) {
    case 'demo':
      return [
        'Runs get: the built-in agent with the demo model, because no model is configured',
        `  To have a real one, ${HOW_TO_CONFIGURE_A_MODEL}.`,
      ];
    case 'wrong':
      return ['Runs get: the built-in agent, which CANNOT WORK like this', `  ${choice.variable} ${choice.rule}.`];
    case 'endpoint':
      return [
        `Runs get: the built-in agent with the model ${choice.endpoint.modelId} of ${new URL(choice.endpoint.baseUrl).origin}`,
      ];
  }
}

function adminLines(config: Config, admin: { file?: string; key?: string }, io: StartIo): string[] {
  if (admin.file === undefined) return [otherAdminKeyLine(config)];
  const shown = admin.key !== undefined && io.stdout.isTTY ? [`  shown this once: ${admin.key}`] : [];
  return [`Admin key: in ${admin.file}`, ...shown];
}

async function factoryLines(service: Service, factoryUid: string, io: StartIo): Promise<string[]> {
  const factory = await service.factories.find(factoryUid);
  if (factory === undefined) return [];
  const webhooks = await service.webhooks.list(factoryUid);
  return [
    '',
    `Factory ${factory.slug} (${factory.uid}): ${factorySummary(factory)}`,
    ...(await findingLines(service, factory, io)),
    ...webhooks.flatMap((webhook) => webhookLines(service.config, webhook)),
  ];
}

function factorySummary({
  condition: { ending, message, errorCount = 0 },
  revisionApplied,
  revisionAttempted,
}: Factory): string {
  if (ending === 'applied') return `serving ${revisionApplied}`;
  const isFirst = ending === 'blocked' && errorCount > 0 && revisionApplied === undefined; // the pass's own words speak of what was applied before
  return `${ending}: ${isFirst ? `${errorCount} ${errorCount === 1 ? 'problem' : 'problems'} in the files of ${revisionAttempted}; nothing is served yet` : (message ?? 'no pass yet')}`;
}

/** Problems and deletions that are told at the start; the command line tells all. */
const FINDINGS_MAX = 10;

/** Why the files are not served as they are, and the way out. */
async function findingLines(
  { config, factories }: Service,
  { uid, slug, condition }: Factory,
  io: StartIo,
): Promise<string[]> {
  if (condition.ending === 'applied') return [];
  const [pass] = await factories.passes(uid, 1);
  const isCurrent = pass !== undefined && pass.ending === condition.ending && pass.reason === condition.reason;
  const [problems, held] = isCurrent ? [pass.problems as Problem[], pass.held as Change[]] : [[], []];
  const options = serverOptions(config, io);
  return [
    ...shortened(
      problems.map(
        ({ path, line, column, severity, message }) =>
          `${path}:${line}:${column}: ${severity === 'warning' ? 'warning: ' : ''}${message}`,
      ),
    ),
    ...shortened(held.map(({ kind, slug: name, path }) => `held: deletion of ${kind} ${name} (${path})`)),
    ...(held.length > 0 && pass?.digest !== undefined
      ? [`  let them go with: ${commandOf(io)} approve ${slug} ${pass.digest}${options}`]
      : []),
    `  see all of it with: ${commandOf(io)} status ${slug}${options}`,
  ];
}

function shortened(lines: readonly string[]): string[] {
  const more = lines.length - FINDINGS_MAX;
  return [...lines.slice(0, FINDINGS_MAX), ...(more > 0 ? [`… ${more} more`] : [])].map(
    (line) => `  ${printable(line)}`,
  );
}

/** Names and messages come from a repository: nothing of them steers the terminal. */
function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function webhookLines(config: Config, webhook: WebhookRow): string[] {
  const url = `${knownIngressUrl(config)}/webhooks/w/${webhook.uid}`;
  const file = exampleSecretFile(config, webhook.secret_name);
  const lines = [`  webhook ${webhook.slug}: ${url}${webhook.auth_mode === 'url_token' ? '/{token}' : ''}`];
  if (webhook.auth_mode !== 'token' || !existsSync(file)) return lines;
  return [
    ...lines,
    '  start a run with:',
    `    curl -sS -X POST ${quoted(url)} -H "Authorization: Bearer $(cat ${quoted(file)})" -H 'Content-Type: application/json' -d '{"status": "failed", "job": "build", "at": "'"$(date +%s)"'"}'`,
  ];
}

/** Points the main factory at what the command line says; creates it on the first start. */
async function ensureMainFactory(service: Service, argument: string, cwd: string): Promise<{ uid: string }> {
  const spec = parseFactoryArgument(argument);
  const source = spec.kind === 'directory' ? { kind: 'directory' as const, path: resolve(cwd, spec.path) } : spec;
  const uid = deriveUid(service.installation.uidKey, 'factory', MAIN_SLUG);
  const made = await service.factories.create(
    { uid, slug: MAIN_SLUG, name: 'main', description: '', source, serviceAccountUid: serviceAccountOf(uid) },
    service.installation.author(),
  );
  if (!made) await service.factories.edit(uid, { source }, service.installation.author());
  return { uid };
}

/** The example factory's secret: made on the first start into a file that only this user can read. */
async function ensureExampleSecrets(service: Service): Promise<void> {
  const name = 'ci-events-token';
  const file = exampleSecretFile(service.config, name);
  if (await service.secrets.exists(name)) return;
  // The file first: a value that the service knows can then always be read.
  if (!existsSync(file)) writePrivateFile(file, secretFromRandom(secretUse('token'), randomBytes(32)));
  await service.secrets.ensure(name, readFileSync(file));
}

function exampleSecretFile(config: Config, name: string): string {
  return join(config.dataDir, 'secrets', name);
}

interface Arguments {
  factory?: string;
  /** The factory is the example: its secret is made on the first start. */
  example: boolean;
  /** What this process does, as it was written. */
  roles?: string;
}

function readArguments(argv: readonly string[], cwd: string): Arguments {
  const { factory, example, roles } = parsed(argv);
  const isAddress = factory !== undefined && /^[A-Za-z][A-Za-z0-9+.-]*:\/\/|^[^/\s]+@[^/\s]+:/.test(factory);
  if (factory !== undefined && !isAddress && !existsSync(resolve(cwd, factory)))
    throw new UsageError(`--factory: there is no folder ${resolve(cwd, factory)}`);
  if (roles?.trim() === '') throw new UsageError(`--roles: must be of ${ROLES.join(', ')}, separated by commas`);
  return { factory, example: example ?? false, roles };
}

function parsed(argv: readonly string[]): { factory?: string; example?: boolean; roles?: string } {
  try {
    return parseArgs({
      args: [...argv],
      options: { factory: { type: 'string' }, example: { type: 'boolean' }, roles: { type: 'string' } },
      strict: true,
      allowPositionals: false,
    }).values;
  } catch {
    throw new UsageError('usage: millwright start [--factory DIR|URL[#branch[:path]]] [--example] [--roles ROLE,…]');
  }
}

/** One clear line for each kind of failure that an operator can mend; everything else is a bug and says so. */
function explain(error: unknown): { lines: string[]; code: number } {
  if (error instanceof ConfigError)
    return { lines: error.faults.map(({ variable, rule }) => `${variable}: ${rule}`), code: EXIT.usage };
  if (error instanceof KeyFileError) return { lines: error.message.split('\n'), code: EXIT.usage };
  if (error instanceof UsageError || error instanceof FactoryArgumentError)
    return { lines: [error.message], code: EXIT.usage };
  if (
    error instanceof DataFolderError ||
    error instanceof WrongKeyError ||
    error instanceof SchemaTooNewError ||
    error instanceof VersionMismatchError ||
    error instanceof TlsError
  ) {
    return { lines: [error.message], code: EXIT.usage };
  }
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return { lines: ['the port is taken; stop the other program or set MILLWRIGHT_PORT'], code: EXIT.internal };
  if (code === 'EACCES' && syscall === 'listen')
    return {
      lines: ['the port may not be opened by this user; set MILLWRIGHT_PORT to one above 1023'],
      code: EXIT.internal,
    };
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined)
    return { lines: [`${path} may not be read or written by this user (${code})`], code: EXIT.usage };
  if (error instanceof PostgresUnusableError) return { lines: [error.message], code: EXIT.internal };
  if (error instanceof StoreError) return { lines: [databaseLine(error)], code: EXIT.internal };
  return {
    lines: [`a fault inside the service: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`],
    code: EXIT.internal,
  };
}

function databaseLine({ code }: StoreError): string {
  if (code === 'SQLITE_FULL')
    return 'the disk of the data folder is full; free some space (workspaces of runs lie in its folder runs/)';
  if (!code.startsWith('SQLITE_'))
    return `the database cannot be used (${code}); check MILLWRIGHT_DATABASE_URL and that the server runs`;
  return `the database file in the data folder cannot be used (${code}); restore it from a backup, or move it away to begin anew`;
}

function print(io: StartIo, lines: readonly string[]): void {
  for (const line of lines) io.stdout.write(`${line}\n`);
}

function quoted(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
