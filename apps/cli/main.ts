/** The `millwright` command: finds the verb and loads only what that verb needs. contract §11. */
import type { CliIo, Verb } from './command.ts';
import { EXIT } from './exit-codes.ts';

interface Entry {
  summary: string;
  load(): Promise<Verb>;
  /** Help of a verb that brings none itself. */
  usage?: string;
}

/** Verbs by name, each loaded when it is called: `validate` must not wait for a server's code. */
const VERBS: Readonly<Record<string, Entry>> = {
  start: {
    summary: 'run the service',
    load: async () => {
      const { serve } = await import('../server/main.ts');
      return (argv) => serve(argv);
    },
    usage:
      `usage: millwright start [--factory DIR|URL[#branch[:path]]] [--example] [--roles ROLE,…]

Runs the service until it is stopped. The environment configures it (MILLWRIGHT_PORT, MILLWRIGHT_DATA_DIR …).

  --factory DIR|URL[#branch[:path]]  where the factory "main" has its definitions: a folder, or a git repository
  --example                          make the secret of the example factory on the first start
  --roles ROLE,…                     what this process does, of api, ingress, sync, worker and dashboard: ` +
      `several share one PostgreSQL
`,
  },
  init: { summary: 'write a starter factory repository', load: async () => (await import('./verbs/init.ts')).init },
  validate: {
    summary: 'check a factory repository on disk, without a server',
    load: async () => (await import('./verbs/validate.ts')).validate,
  },
  plan: {
    summary: 'what a folder would change in a factory',
    load: async () => (await import('./verbs/plan.ts')).plan,
  },
  status: { summary: 'where a factory stands', load: async () => (await import('./verbs/syncs.ts')).status },
  sync: {
    summary: 'read the factory repository now and wait for the end',
    load: async () => (await import('./verbs/syncs.ts')).sync,
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
  keys: { summary: 'make, list, revoke API keys', load: async () => (await import('./verbs/keys.ts')).keys },
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
    load: async () => (await import('./verbs/webhooks.ts')).deliveries,
  },
  explain: {
    summary: 'what decided a delivery or a run, and why others did not fire',
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
  doctor: {
    summary: 'what this machine has and lacks for a service',
    load: async () => (await import('./verbs/doctor.ts')).doctor,
  },
  backup: {
    summary: 'the database and its keys to a file, while the service runs',
    load: async () => (await import('./verbs/backup.ts')).backup,
  },
  restore: {
    summary: 'a backup into an empty place, compared row by row',
    load: async () => (await import('./verbs/backup.ts')).restore,
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

${verbs}
Help of one verb: millwright help VERB
Server and key of the verbs that need them: MILLWRIGHT_SERVER (or MILLWRIGHT_BASE_URL, which the client
libraries read) or --server, MILLWRIGHT_API_KEY or --key-file.
Exit codes: 0 fine, 1 problems, 2 changes (plan), 3 internal or network, 4 held by the guard, 64 usage.
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
