/** The `millwright` command: finds the verb and loads only what that verb needs. contract §11. */
import { PassThrough } from 'node:stream';
import type { CliIo, Verb } from './command.ts';
import type { CompletionVerb } from './completion/words.ts';
import { EXIT } from './exit-codes.ts';
import { withOutputOption } from './terminal/output-option.ts';
import { ABSENT_NOTE, SERVER_VERBS, START_USAGE } from './verbs/installation/server-verbs.ts';

interface Entry {
  summary: string;
  load(): Promise<Verb>;
  /** Help of a verb that brings none itself. */
  usage?: string;
}

/** Verbs by name, each loaded when it is called: `validate` must not wait for a server's code. */
const VERBS: Readonly<Record<string, Entry>> = {
  start: { summary: 'run the service', load: SERVER_VERBS.start, usage: START_USAGE },
  init: { summary: 'write a starter factory repository', load: async () => (await import('./verbs/init.ts')).init },
  validate: {
    summary: 'check a factory repository on disk, without a server',
    load: async () => withOutputOption((await import('./verbs/validate.ts')).validate),
  },
  fmt: {
    summary: 'lay out definition files; comments and order stay',
    load: async () => (await import('./verbs/fmt.ts')).fmt,
  },
  lsp: {
    summary: 'what validate, fmt and explain say, in an editor',
    load: async () => (await import('./verbs/lsp.ts')).lsp,
  },
  plan: {
    summary: 'what a folder would change in a factory',
    load: async () => withOutputOption((await import('./verbs/plan.ts')).plan),
  },
  factories: {
    summary: 'list, create, update, delete factories',
    load: async () => (await import('./verbs/factories/factories.ts')).factories,
  },
  status: { summary: 'where a factory stands', load: async () => (await import('./verbs/syncs.ts')).status },
  sync: {
    summary: 'read the factory repository now and wait for the end',
    load: async () => (await import('./verbs/syncs.ts')).sync,
  },
  events: {
    summary: 'what happened to a factory',
    load: async () => (await import('./verbs/factories/events.ts')).events,
  },
  syncs: { summary: 'passes that brought something new', load: async () => (await import('./verbs/syncs.ts')).syncs },
  wait: {
    summary: 'wait until a revision serves everywhere, or fails',
    load: async () => (await import('./verbs/wait.ts')).wait,
  },
  approve: {
    summary: 'let deletions go that the guard holds',
    load: async () => (await import('./verbs/syncs.ts')).approve,
  },
  secrets: {
    summary: 'set, list, grant, delete managed secrets',
    load: async () => (await import('./verbs/secrets.ts')).secrets,
  },
  keys: {
    summary: 'make, list, rotate, revoke API keys; another master key',
    load: async () => (await import('./verbs/keys.ts')).keys,
  },
  federation: {
    summary: 'build servers without a stored key: list, create, update, delete whose tokens are exchanged',
    load: async () => (await import('./verbs/federation.ts')).federation,
  },
  audit: {
    summary: 'who changed what, when, and from where',
    load: async () => (await import('./verbs/audit.ts')).audit,
  },
  webhooks: {
    summary: 'list, create, enable, disable, rotate, delete webhooks',
    load: async () => (await import('./verbs/webhooks.ts')).webhooks,
  },
  deliveries: {
    summary: "a webhook's delivery log",
    load: async () => (await import('./verbs/deliveries/deliveries.ts')).deliveries,
  },
  automations: {
    summary: 'list, get, enable, disable, delete automations',
    load: async () => (await import('./verbs/factories/automations.ts')).automations,
  },
  schedules: {
    summary: 'what starts runs by the clock: list, get, create, update, pause, resume, delete',
    load: async () => (await import('./verbs/agents/schedules.ts')).schedules,
  },
  identities: {
    summary: 'named defaults of runs: list, get, create, update, delete',
    load: async () => (await import('./verbs/agents/identities.ts')).identities,
  },
  explain: {
    summary: 'what decided a delivery or a run, and why others did not fire; what a rule is for',
    load: async () => (await import('./verbs/explain.ts')).explain,
  },
  run: { summary: 'start a run', load: async () => (await import('./verbs/runs.ts')).run },
  runs: {
    summary: 'list runs; get, cancel, followup, events, permissions, answer of one',
    load: async () => (await import('./verbs/runs.ts')).runs,
  },
  filter: {
    summary: 'test a payload filter against a payload',
    load: async () => (await import('./verbs/filter.ts')).filter,
  },
  send: { summary: 'post a signed delivery to a webhook', load: async () => (await import('./verbs/send.ts')).send },
  'support-bundle': {
    summary: 'gather what whoever helps needs to know, and nothing secret',
    load: SERVER_VERBS['support-bundle'],
  },
  doctor: { summary: 'what this machine has and lacks for a service', load: SERVER_VERBS.doctor },
  backup: { summary: 'the database and its keys to a file, while the service runs', load: SERVER_VERBS.backup },
  restore: { summary: 'a backup into an empty place, compared row by row', load: SERVER_VERBS.restore },
  upgrade: {
    summary: 'this version in the place of a running one, without a refusal',
    load: SERVER_VERBS.upgrade,
  },
  login: {
    summary: 'remember a service and a key for it',
    load: async () => (await import('./contexts/login.ts')).login,
  },
  config: {
    summary: 'services by name: list, current, use, set, delete',
    load: async () => (await import('./contexts/config.ts')).config,
  },
  completion: {
    summary: 'completions for bash, zsh and fish',
    load: async () => (await import('./completion/completion.ts')).completionOf(completionVerbs),
  },
  schema: {
    summary: 'JSON Schemas of the definition files',
    load: async () => (await import('./verbs/schema.ts')).schema,
  },
};

/** Runs one verb and answers its exit code. */
export async function main(argv: string[], io: CliIo = processIo(argv[0])): Promise<number> {
  const [name = '', ...rest] = argv;
  if (name === '--version' || name === 'version') return printVersion(io);
  if (name === 'help' || name === '--help' || name === '-h') return help(rest, io);
  const entry = entryOf(name);
  if (entry === undefined) return refuse(name, io);
  if (entry.usage !== undefined && (rest.includes('--help') || rest.includes('-h'))) return print(entry.usage, io);
  return (await entry.load())(rest, io);
}

/** Every verb with its declaration; `start` is described by its text alone, as its code is the service's. */
async function completionVerbs(): Promise<CompletionVerb[]> {
  const verbs: CompletionVerb[] = [];
  for (const [name, { summary, usage, load }] of Object.entries(VERBS)) {
    const verb: Verb = usage === undefined ? await load() : () => Promise.resolve(EXIT.ok);
    const isDescribed = 'options' in verb || 'members' in verb;
    verbs.push({ name, summary, verb, usage: usage ?? (isDescribed ? '' : await helpOf(verb)) });
  }
  return verbs;
}

/** What a verb prints for `--help`. */
async function helpOf(verb: Verb): Promise<string> {
  const stdout = new PassThrough();
  await verb(['--help'], { stdin: stdout, stdout, stderr: stdout, cwd: '/', environment: {} });
  stdout.end();
  return (await stdout.toArray()).map(String).join('');
}

function entryOf(name: string): Entry | undefined {
  return Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
}

async function help([name, ...rest]: string[], io: CliIo): Promise<number> {
  if (name === undefined) return print(overview(), io);
  return entryOf(name) === undefined ? refuse(name, io) : main([name, ...rest, '--help'], io);
}

function overview(): string {
  const width = Math.max(...Object.keys(VERBS).map((name) => name.length));
  const verbs = Object.entries(VERBS)
    .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}\n`)
    .join('');
  return `usage: millwright VERB …

${verbs}${ABSENT_NOTE}
Help of one verb: millwright help VERB
Server and key of the verbs that need them: --server and --key-file, MILLWRIGHT_SERVER (or
MILLWRIGHT_BASE_URL, which the client libraries read) and MILLWRIGHT_API_KEY, the context in use
(millwright login), the service whose data folder lies here, or a token of the build server (contract §2.4).
Exit codes: 0 fine, 1 problems, 2 changes (plan), 3 internal or network, 4 held by the guard, 5 not found,
6 not allowed, 64 usage. With --format json (-o json) a failure is one line of JSON on standard error.
`;
}

/** The word is not repeated unless it could be a mistyped verb: it may be anything. */
async function refuse(name: string, io: CliIo): Promise<number> {
  const { didYouMean } = await import('#definitions');
  const words =
    name === ''
      ? 'say what to do'
      : /^[a-z-]{1,20}$/.test(name)
        ? `there is no verb ${name}${didYouMean(name, Object.keys(VERBS))}`
        : 'there is no such verb';
  io.stderr.write(
    `millwright: ${words}\nThe verbs are ${Object.keys(VERBS).join(', ')}; millwright help tells more.\n`,
  );
  return EXIT.usage;
}

function print(text: string, io: CliIo): number {
  io.stdout.write(text);
  return EXIT.ok;
}

async function printVersion(io: CliIo): Promise<number> {
  const { version } = await import('./version.ts');
  return print(`millwright ${version()}\n`, io);
}

/** The process's own streams, folder and environment. */
function processIo(name: string | undefined): CliIo {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    // A reader that has seen enough, such as `head`, ends what it read; a service goes on without it.
    if (name !== 'start') process.exit(EXIT.ok);
  });
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    cwd: process.cwd(),
    environment: process.env,
  };
}
