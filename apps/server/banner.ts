/** What `start` prints: what the process does, where, for which runs, and what one can do next. contract §1, §11. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HOW_TO_CONFIGURE_A_MODEL, modelChoice } from '#agents';
import type { Problem } from '#definitions';
import { isConfining } from '#isolation';
import type { Change } from '#reconcile';
import type { Service } from './bootstrap.ts';
import { ROLES, type Config } from './config/config.ts';
import { ownCommand } from './process/program.ts';
import type { WebhookRow } from './store/definitions/definition.entities.ts';
import type { Factory } from './store/factories/factory-rows.ts';

/** Where it is printed, and how its reader called us. */
export interface BannerIo {
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  /** Path that the process was called by; none in a process that is not the command. */
  calledAs?: string;
}

/** What there is to tell of, beside the service itself. */
export interface Started {
  /** The admin key, where the API is: the file that it lies in, and its text when it was made now. */
  admin?: { file?: string; key?: string };
  /** The factory that `--factory` names. */
  factoryUid?: string;
}

/** Everything, in the order in which it is read. */
export async function bannerLines(service: Service, { admin, factoryUid }: Started, io: BannerIo): Promise<string[]> {
  const { config } = service;
  return [
    '',
    ...roleLines(config),
    ...(admin === undefined ? [] : adminLines(config, admin, io)),
    ...(await runLines(service)),
    ...(factoryUid === undefined ? [] : await factoryLines(service, factoryUid, io)),
    '',
    ...hintLines(config, io),
    '',
  ];
}

/** File of the secret of the example factory. */
export function exampleSecretFile(config: Config, name: string): string {
  return join(config.dataDir, 'secrets', name);
}

/** Where the service is, and what of it this process does, where others do the rest. */
export function roleLines(config: Config): string[] {
  const { roles, host, port, publicUrl, isPublicUrlGiven } = config;
  const others = ROLES.filter((role) => !roles.has(role));
  const about = roles.has('api') ? [`Its interface is described at ${publicUrl}/docs`] : [];
  if (others.length === 0) return [`Millwright is running at ${publicUrl}/`, ...about];
  return [
    `Millwright is running here as ${[...roles].join(', ')}; other processes do ${others.join(', ')}`,
    'This process answers at ' +
      `${host.includes(':') ? `[${host}]` : host}:${port}${isPublicUrlGiven ? `, the service at ${publicUrl}/` : ''}`,
    ...addressLines(config),
    ...about,
  ];
}

/** Links are made of two addresses; where none is named they are this process's own, wrong for what others do. */
function addressLines({ roles, isPublicUrlGiven, isIngressUrlGiven }: Config): string[] {
  const lacksPublic = !isPublicUrlGiven && !(roles.has('api') && roles.has('dashboard'));
  const lacksIngress = !isPublicUrlGiven && !isIngressUrlGiven && !roles.has('ingress');
  const ways = [
    ...(lacksPublic ? ['MILLWRIGHT_PUBLIC_URL to the address under which people reach api and dashboard'] : []),
    ...(lacksIngress
      ? [
          'MILLWRIGHT_INGRESS_URL to the one under which senders reach ' +
            `ingress${lacksPublic ? ', where that is another' : ''}`,
        ]
      : []),
  ];
  return ways.length === 0
    ? []
    : [
        'WARNING: links that this process makes lead to itself, also those to what it does not do; set ' +
          `${ways.join(', and ')}, the same in every process`,
      ];
}

/** Root of the API, for who is to call it; a word to be replaced where this process does not know it. */
export function knownApiUrl({ roles, publicUrl, isPublicUrlGiven }: Config): string {
  return roles.has('api') || isPublicUrlGiven ? publicUrl : 'URL_OF_THE_API';
}

/** Root of the ingress, likewise. */
export function knownIngressUrl({ roles, ingressUrl, isPublicUrlGiven, isIngressUrlGiven }: Config): string {
  return roles.has('ingress') || isPublicUrlGiven || isIngressUrlGiven ? ingressUrl : 'URL_OF_THE_INGRESS';
}

/** Which runs this worker takes, and who tells it of them. */
export function workerLines({ roles, engine, redisUrl, workerHost, workerEnvironments }: Config): string[] {
  const environments =
    workerEnvironments.length === 0
      ? 'of every environment'
      : `only of the environments ${workerEnvironments.join(', ')}`;
  return [
    ...(engine === 'embedded'
      ? []
      : [`Engine: ${engine}, with its queue in ${redisUrl === undefined ? 'PostgreSQL' : 'Redis'}`]),
    ...(roles.size === ROLES.length && workerEnvironments.length === 0
      ? []
      : [`Takes runs ${environments}, and those that ask for the machine ${workerHost} (MILLWRIGHT_WORKER_HOST)`]),
  ];
}

/** Where an admin key is that this process neither made nor was given. */
export function otherAdminKeyLine({ databaseUrl, adminKey }: Config): string {
  return databaseUrl === undefined || adminKey !== undefined
    ? 'Admin key: the one that was given or shown at the first start'
    : 'Admin key: in the data folder of the process that made it (file admin-key), or the one that was given to it';
}

/** What works on runs, and in what isolation, where this process works on any. */
async function runLines({ config, engine }: Service): Promise<string[]> {
  if (engine === undefined) return [];
  const { description, guarantees } = await engine.isolation();
  return [
    ...workerLines(config),
    `Sandbox for runs: ${description}`,
    ...(isConfining(guarantees) ? [] : isolationLines(config)),
    ...(config.runNetwork.kind === 'host'
      ? [
          '  Runs have the NETWORK OF THIS MACHINE (MILLWRIGHT_RUN_NETWORK=host): this service, private ' +
            'networks and cloud metadata included. Deliveries do not get it.',
        ]
      : []),
    ...(config.allowUnsandboxed ? ['  Agents start also WITHOUT A SANDBOX (MILLWRIGHT_ALLOW_UNSANDBOXED=true).'] : []),
    ...agentLines(config),
  ];
}

function isolationLines({ allowUnsandboxed }: Config): string[] {
  const refused = allowUnsandboxed
    ? ''
    : ' Agents that take commands do not start like this; the demo model and a command of yours do.';
  return [
    `  Runs are NOT fully isolated on this machine: they can see more than their workspace.${refused} Install ` +
      'bubblewrap to change that.',
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
        `Runs get: the built-in agent with the model ${choice.endpoint.modelId} ` +
          `of ${new URL(choice.endpoint.baseUrl).origin}`,
      ];
  }
}

function adminLines(config: Config, admin: { file?: string; key?: string }, io: BannerIo): string[] {
  if (admin.file === undefined) return [otherAdminKeyLine(config)];
  const shown = admin.key !== undefined && io.stdout.isTTY ? [`  shown this once: ${admin.key}`] : [];
  return [`Admin key: in ${admin.file}`, ...shown];
}

async function factoryLines(service: Service, factoryUid: string, io: BannerIo): Promise<string[]> {
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
  // The pass's own words speak of what was applied before.
  const isFirst = ending === 'blocked' && errorCount > 0 && revisionApplied === undefined;
  if (!isFirst) return `${ending}: ${message ?? 'no pass yet'}`;
  const count = `${errorCount} ${errorCount === 1 ? 'problem' : 'problems'}`;
  return `${ending}: ${count} in the files of ${revisionAttempted}; nothing is served yet`;
}

/** Problems and deletions that are told at the start; the command line tells all. */
const FINDINGS_MAX = 10;

/** Why the files are not served as they are, and the way out. */
async function findingLines(
  { config, factories }: Service,
  { uid, slug, condition }: Factory,
  io: BannerIo,
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
    `    curl -sS -X POST ${quoted(url)} -H "Authorization: Bearer $(cat ${quoted(file)})" -H 'Content-Type: ` +
      `application/json' -d '{"status": "failed", "job": "build", "at": "'"$(date +%s)"'"}'`,
  ];
}

/** Where the command line looks when it is told nothing. */
const USUAL = { server: 'http://127.0.0.1:8080', port: 8080, dataDir: '.millwright' } as const;

function hintLines(config: Config, io: BannerIo): string[] {
  const { port, dataDir } = config;
  const variables = [
    ...(port === USUAL.port ? [] : [`MILLWRIGHT_PORT=${port}`]),
    ...(isUsualFolder(dataDir, io) ? [] : [`MILLWRIGHT_DATA_DIR=${quoted(resolve(io.cwd, dataDir))}`]),
  ];
  const options = serverOptions(config, io);
  const doctor = [...variables, `${commandOf(io)} doctor`].join(' ');
  return [
    ...(config.roles.has('api')
      ? [`Start a run with:                 ${commandOf(io)} run --prompt "Say hello" --follow${options}`]
      : []),
    `See what this machine lacks with: ${doctor}${options}`,
    ...(config.databaseUrl === undefined
      ? []
      : ['  in the environment of this process: MILLWRIGHT_DATABASE_URL, key files and all the rest']),
  ];
}

/** What runs a verb from the folder where the service was started. */
function commandOf(io: BannerIo): string {
  return ownCommand(io).map(quoted).join(' ');
}

/** What the command line has to be told to find this service and its key. */
function serverOptions(config: Config, io: BannerIo): string {
  const { dataDir } = config;
  const url = knownApiUrl(config);
  const file = resolve(io.cwd, dataDir, 'admin-key');
  const isFound = isUsualFolder(dataDir, io) && /^http:\/\/(127\.|localhost[:/]|\[::1\])/.test(`${url}/`);
  const server = url === USUAL.server ? '' : ` --server ${quoted(url)}`;
  return `${server}${isFound || !existsSync(file) ? '' : ` --key-file ${quoted(file)}`}`;
}

function isUsualFolder(dataDir: string, io: BannerIo): boolean {
  return resolve(io.cwd, dataDir) === resolve(io.cwd, USUAL.dataDir);
}

function quoted(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
