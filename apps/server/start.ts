/** `millwright start`: from environment and arguments to a service that runs, and its banner. contract §11. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { secretFromRandom, secretUse } from '#authentication';
import { deriveUid } from '#reconcile';
import { bannerLines, exampleSecretFile, type BannerIo } from './banner.ts';
import { ConfigError, readConfig, ROLES, type Config } from './config/config.ts';
import { type BuiltInAgent } from './execution/agent/agents.ts';
import { serviceAccountOf } from './factories/factories.service.ts';
import { EXAMPLE_FACTORY } from './process/program.ts';
import { writePrivateFile } from './process/key-files.ts';
import { sourceOfArgument } from './sync/sources/parse-source.ts';
import { passedSocket } from './upgrade/listening-socket.ts';
import { createService, createStandby, type Service, type ServiceOptions, type StandbyService } from './bootstrap.ts';
import { explainFailure, UsageError } from './start-failures.ts';

export interface StartIo extends BannerIo {
  stderr: NodeJS.WritableStream;
  /** How the agent that comes with the service is started; as it was built, if not said. */
  builtInAgent?: BuiltInAgent;
  /** The socket that a supervisor has passed. */
  listenFd?: number;
  /** What was put together ahead; it takes over. */
  standby?: StandbyService;
  /** Waited for before it listens: connections of the process of before. */
  connectionsCame?(): Promise<void>;
  /** Told when connections are taken. */
  listening?(service: Service): void;
  /** Told when the service is put together, before it does anything: from now on it has to be stopped in order. */
  composed?(): void;
}

/** Slug of the factory that `--factory` names. */
const MAIN_SLUG = 'main';
const FIRST_PASS_MS = 30_000;

/** Starts and answers the running service, or prints one clear line and answers an exit code. */
export async function start(argv: readonly string[], io: StartIo): Promise<Service | number> {
  try {
    const { wanted, config, options } = readOrders(argv, io);
    const service = await (io.standby?.takeOver(io.listenFd, io.connectionsCame) ?? createService(config, options));
    io.composed?.();
    service.app.getHttpServer().once('listening', () => io.listening?.(service));
    try {
      await begin(service, wanted, io);
      return service;
    } catch (error) {
      await service.stop().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    const { lines, code } = explainFailure(error);
    for (const line of lines) io.stderr.write(`millwright: ${line}\n`);
    return code;
  }
}

/** Does ahead what a start can do beside the process that it is to replace; undefined where that is nothing. */
export async function prepareStart(argv: readonly string[], io: StartIo): Promise<StandbyService | undefined> {
  const { config, options } = readOrders(argv, io);
  return createStandby(config, options);
}

/** What the command line and the environment ask for. Throws UsageError, ConfigError and ListenFdsError. */
function readOrders(
  argv: readonly string[],
  io: StartIo,
): { wanted: Arguments; config: Config; options: ServiceOptions } {
  const wanted = readArguments(argv, io.cwd);
  const config = configOf(io.environment, wanted);
  refuseWithoutSync(config, wanted);
  const options = {
    builtInAgent: io.builtInAgent,
    isTrusted: (slug: string) => slug === MAIN_SLUG && wanted.factory !== undefined,
    listenFd: io.listenFd ?? passedSocket(io.environment, process.pid),
  };
  return { wanted, config, options };
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
    `${example ? '--example' : '--factory'} needs the role sync, and this process has only ` +
      `${[...roles].join(', ')}: give it to a process that reconciles, or make the factory over the API`,
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
  if (main !== undefined) await service.loops.waitForGeneration(main.uid, generation, FIRST_PASS_MS);
  for (const line of await bannerLines(service, { admin, factoryUid: main?.uid }, io))
    io.stdout.write(`${line}
`);
}

/** Points the main factory at what the command line says; creates it on the first start. */
async function ensureMainFactory(service: Service, argument: string, cwd: string): Promise<{ uid: string }> {
  const source = sourceOfArgument(argument, cwd);
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

interface Arguments {
  /** The example that comes with the installation, if only `--example` is given. */
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
  return { factory: factory ?? (example ? EXAMPLE_FACTORY : undefined), example: example ?? false, roles };
}

function parsed(argv: readonly string[]): {
  factory?: string;
  example?: boolean;
  roles?: string;
} {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        factory: { type: 'string' },
        example: { type: 'boolean' },
        roles: { type: 'string' },
        'below-supervisor': { type: 'boolean' },
      },
      strict: true,
      allowPositionals: false,
    }).values;
  } catch {
    throw new UsageError(
      'usage: millwright start [--factory DIR|URL[#branch[:path]]] [--example] [--roles ROLE,…] [--supervised]',
    );
  }
}
