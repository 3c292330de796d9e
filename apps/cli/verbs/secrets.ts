/**
 * `millwright secrets`: set, list, grant and delete managed secrets. Values go in through stdin or a file and never
 * come out. contract §2.
 */
import type { Secret, SecretPut } from '#client';
import { RUN_GRANT_ENTRY } from '#definitions';
import { apiVerb, type Calling } from '../connection/api.ts';
import { CommandError, group, UsageError, type OptionSpecs } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readInput, toText, withoutFinalNewline } from '../terminal/input.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { count, toSeconds } from '../terminal/output.ts';
import { all, PAGE_SIZE_MAX } from '../connection/pages.ts';
import { noteUnattended } from '../reports/factory-status.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;
type Use = (typeof USES)[number];
const USES = ['webhook', 'run', 'git', 'forge'] as const;
/** Users of a secret that are checked for a managed factory. */
const USERS_CHECKED_MAX = 8;
/** Characters of a value that the API takes. */
const VALUE_LENGTH_MAX = 65_536;

const OWNER = {
  factory: { type: 'string', value: 'FACTORY', help: "the factory's own secret instead of the team's (slug or UID)" },
} as const satisfies OptionSpecs;

const set = apiVerb({
  name: 'secrets set',
  arguments: 'NAME',
  summary: 'Sets the value of a secret, or its next version; webhooks take it over at once.',
  details: [
    'The value is read from stdin or a file, never from the command line, where other users of the machine and ' +
      'the shell',
    'history would see it. It must be UTF-8 text. One final line end is not part of it, unless --raw is given.',
  ],
  positionals: [1, 1],
  surplus:
    'takes NAME only: the value comes from stdin or --file, never from the command line (this one should be ' +
    'changed if it was real)',
  options: {
    file: { type: 'string', value: 'FILE', help: 'file that holds the value (default: stdin)' },
    raw: { type: 'boolean', help: 'take every byte as it is, a final line end too' },
    ...OWNER,
  },
  async run({ values: { file = '-', raw = false, factory }, positionals }, calling) {
    const name = nameOf(positionals);
    const bytes = await readInput(file, calling.io, 'redirect a file or a pipe into the command, or give --file FILE');
    const value = checkedValue(toText(raw ? bytes : withoutFinalNewline(bytes), 'the value'), calling);
    const secret = await (await secretsOf(calling, factory)).put(name, { value });
    calling.output.result(secret, () =>
      calling.output.line(`${secret.name}: version ${secret.version} is set; ${usersOf(secret)}`),
    );
    await noteUnfit(calling, secret, value);
    await noteWaiting(calling, secret);
    return EXIT.ok;
  },
});

/**
 * What the value is too short for, or not made for, said while it is at hand: a webhook that is committed later would
 * be refused with it.
 */
async function noteUnfit({ output }: Calling, { grants, used_by: users }: Secret, value: string): Promise<void> {
  if (!grants.uses.includes('webhook') || users.length > 0) return; // the service has checked it for its users
  const { secretRequirement, secretUsability } = await import('#authentication');
  const usable = secretUsability(Buffer.from(value, 'utf8'));
  if (!usable.signature) output.note(`no webhook can use this value: ${secretRequirement('signature')}`);
  else if (!usable.token) output.note(`only authMode: signature can use this value: ${secretRequirement('token')}`);
}

const list = apiVerb({
  name: 'secrets list',
  summary: 'Lists secrets: names, grants and users, never values.',
  options: OWNER,
  async run({ values: { factory } }, calling) {
    const { output } = calling;
    const found = await all((await secretsOf(calling, factory)).list());
    output.result({ secrets: found }, () => {
      if (found.length === 0) return output.note('there are no secrets');
      output.table(['NAME', 'VERSION', 'USES', 'FACTORIES', 'URL-SAFE', 'CHANGED', 'USED BY'], found.map(rowOf));
    });
    return EXIT.ok;
  },
});

const remove = apiVerb({
  name: 'secrets delete',
  arguments: 'NAME',
  summary: 'Deletes a secret; webhooks that used it refuse everything at once.',
  positionals: [1, 1],
  options: { force: { type: 'boolean', help: 'delete it even if it is used' }, ...OWNER },
  async run({ values: { force = false, factory }, positionals }, calling) {
    const name = nameOf(positionals);
    const secrets = await secretsOf(calling, factory);
    const { used_by: users } = await secrets.retrieve(name);
    if (users.length > 0 && !force)
      throw new CommandError(`${name} is ${usersOf({ used_by: users })}`, EXIT.problems, [
        'what uses it would fail, and webhooks would refuse every delivery; --force deletes it all the same',
      ]);
    await secrets.delete(name, { force: force ? true : undefined });
    calling.output.result({ name, deleted: true }, () => calling.output.line(`${name}: deleted`));
    return EXIT.ok;
  },
});

const grant = apiVerb({
  name: 'secrets grant',
  arguments: 'NAME',
  summary: 'Says which factories may use a secret, and for what.',
  details: [
    'What is not named stays as it is. Of runs, those get it for which a file of the factory names it; with --runs ' +
      '"*" also those',
    'whose request does, so that whoever may start runs can read it; with a list only runs of these definitions.',
  ],
  positionals: [1, 1],
  options: {
    uses: { type: 'string', value: USES.join(','), help: 'what it may be used for, separated by commas, or none' },
    factories: {
      type: 'string',
      value: '*|FACTORY,…',
      help: 'who may use it: * for all, or slugs and UIDs separated by commas',
    },
    runs: {
      type: 'string',
      value: 'files|*|DEFINITION,…',
      help: 'which runs: files (unless said), * or automation/NAME and environment/NAME, separated by commas',
    },
    hosts: {
      type: 'string',
      value: 'HOST,…|first|*',
      help: 'where its value may go: hosts separated by commas, first (the one it is sent to next) or * for any',
    },
    ...OWNER,
  },
  async run({ values: { uses, factories, runs, hosts, factory }, positionals }, calling) {
    const name = nameOf(positionals);
    if ((uses ?? factories ?? runs ?? hosts) === undefined)
      throw new UsageError('say --uses, --factories, --runs or --hosts');
    if (factory !== undefined && factories !== undefined)
      throw new UsageError(
        "a factory's own secret is for that factory only: --factories cannot be given with --factory",
      );
    const secrets = await secretsOf(calling, factory);
    const grants = {
      ...(uses === undefined ? {} : { uses: usesOf(uses) }),
      ...(factories === undefined ? {} : { factories: await factoriesOf(calling, factories) }),
      ...(runs === undefined ? {} : { runs: runsOf(runs) }),
      ...(hosts === undefined ? {} : { hosts: hostsOf(hosts) }),
    };
    await secrets.retrieve(name); // a grant to a mistyped name would make a secret of that name
    const secret = await secrets.put(name, { grants });
    calling.output.result(secret, () =>
      calling.output.line(`${secret.name}: for ${usesText(secret)} in ${factoriesText(secret)}${hostsText(secret)}`),
    );
    return EXIT.ok;
  },
});

/** The verb `secrets`. */
export const secrets = group('secrets', { set, list, grant, delete: remove });

function nameOf([name = '']: readonly string[]): string {
  if (NAME.test(name)) return name;
  throw new UsageError('NAME must begin with a letter, then letters, digits, _ and -, at most 128 in all');
}

/** Notes that a value waits because no process reconciles. The value is set whatever this check finds. */
async function noteWaiting({ api, output }: Calling, { used_by: users }: Secret): Promise<void> {
  try {
    for (const uid of [...new Set(users.map(({ factory_uid: factory }) => factory))].slice(0, USERS_CHECKED_MAX)) {
      const status = await api.factories.status(uid);
      if (status.definitions_managed) return noteUnattended(output, status); // the same processes are there for all
    }
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
  }
}

/** What can be done with the secrets of an owner. */
interface OwnedSecrets {
  list(): AsyncIterable<Secret>;
  retrieve(name: string): PromiseLike<Secret>;
  put(name: string, change: SecretPut): PromiseLike<Secret>;
  delete(name: string, params: { force?: boolean }): PromiseLike<void>;
}

/** Those of the factory that is named, else the team's. */
async function secretsOf({ api }: Calling, factory: string | undefined): Promise<OwnedSecrets> {
  const page = { limit: PAGE_SIZE_MAX };
  if (factory === undefined)
    return {
      list: () => api.secrets.list(page),
      retrieve: (name) => api.secrets.retrieve(name),
      put: (name, change) => api.secrets.put(name, change),
      delete: (name, params) => api.secrets.delete(name, params),
    };
  const { secrets } = api.factories;
  const { uid } = await findFactory(api, factory);
  return {
    list: () => secrets.list(uid, page),
    retrieve: (name) => secrets.retrieve(uid, name),
    put: (name, change) => secrets.put(uid, name, change),
    delete: (name, params) => secrets.delete(uid, name, params),
  };
}

function checkedValue(value: string, { output }: Calling): string {
  if (value === '') throw new CommandError('the value is empty', EXIT.problems);
  if (value.length > VALUE_LENGTH_MAX)
    throw new CommandError(`the value has more than ${VALUE_LENGTH_MAX} characters`, EXIT.problems);
  if (/^[\s\ufeff]|\s$/.test(value))
    output.note('note: the value begins or ends with white space or a byte order mark, which is part of it');
  return value;
}

function usesOf(text: string): Use[] {
  if (text === 'none') return [];
  const uses = [...new Set(text.split(','))];
  if (uses.every((use): use is Use => USES.some((known) => known === use))) return uses;
  throw new UsageError(`--uses takes ${USES.join(', ')}, separated by commas, or none`);
}

async function factoriesOf({ api }: Calling, text: string): Promise<'*' | string[]> {
  if (text === '*') return '*';
  const found = await Promise.all(text.split(',').map((name) => findFactory(api, name)));
  return [...new Set(found.map(({ uid }) => uid))];
}

function runsOf(text: string): 'files' | '*' | string[] {
  if (text === 'files' || text === '*') return text;
  const entries = [...new Set(text.split(','))];
  if (entries.every((entry) => RUN_GRANT_ENTRY.test(entry))) return entries;
  throw new UsageError('--runs takes files, * or automation/NAME and environment/NAME, separated by commas');
}

function hostsOf(text: string): '*' | string[] | null {
  if (text === 'first') return null;
  return text === '*' ? text : text.split(',');
}

function usersOf({ used_by: users }: Pick<Secret, 'used_by'>): string {
  if (users.length === 0) return 'no webhook uses it yet';
  if (users.every(({ kind }) => kind === 'webhook'))
    return `used by ${count(users.length, 'webhook')}: ${users.map(({ slug }) => slug).join(', ')}`;
  return `used by ${users.map(({ kind, slug }) => `${kind.replace('_', ' ')} ${slug}`).join(', ')}`;
}

function usesText({ grants }: Secret): string {
  const words = grants.uses.map((use) => (use === 'run' ? `run${runsText(grants.runs)}` : use));
  return words.length === 0 ? 'nothing' : words.join(', ');
}

/** What is so unless somebody says otherwise is not said. */
function runsText(runs: Secret['grants']['runs']): string {
  if (runs === undefined || runs === 'files') return '';
  return runs === '*' ? ' (requests too)' : ` (${runs.length === 0 ? 'no definition' : runs.join(' ')})`;
}

function factoriesText({ grants }: Secret): string {
  if (grants.factories === '*') return 'all factories';
  return grants.factories.length === 0 ? 'no factory' : grants.factories.join(', ');
}

function hostsText({ grants: { hosts } }: Secret): string {
  if (hosts === undefined) return '';
  if (hosts === '*') return ', to any host';
  return hosts.length === 0 ? ', to no host' : `, to ${hosts.join(', ')}`;
}

function rowOf(secret: Secret): string[] {
  const { name, set: isSet, version, grants, url_safe: isUrlSafe, updated_at: changed, used_by: users } = secret;
  return [
    name,
    isSet ? String(version) : 'unset',
    usesText(secret),
    grants.factories === '*' ? '*' : factoriesText(secret),
    isSet ? (isUrlSafe ? 'yes' : 'no') : '-',
    toSeconds(changed),
    users.length === 0 ? '-' : users.map(({ slug }) => slug).join(', '),
  ];
}
