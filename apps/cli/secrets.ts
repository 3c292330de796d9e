/** `millwright secrets`: set, list, grant and delete managed secrets. Values go in through stdin or a file and never come out. contract 2. */
import type { Secret } from '#contracts';
import { apiVerb, type Calling } from './api.ts';
import { Failure, group, UsageProblem, type OptionSpecs } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { readInput, toText, withoutFinalNewline } from './input.ts';
import { findFactory } from './names.ts';
import { count, toSeconds } from './output.ts';
import { everyPage } from './pages.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;
const USES: readonly string[] = ['webhook', 'run', 'git', 'forge'];
/** Characters of a value that the API takes. */
const VALUE_LENGTH_MAX = 65_536;

const OWNER = { factory: { type: 'string', value: 'FACTORY', help: "the factory's own secret instead of the team's (slug or UID)" } } as const satisfies OptionSpecs;

const set = apiVerb({
  name: 'secrets set',
  arguments: 'NAME',
  summary: 'Sets the value of a secret, or its next version; webhooks take it over at once.',
  details: [
    'The value is read from stdin or a file, never from the command line, where other users of the machine and the shell',
    'history would see it. It must be UTF-8 text. One final line end is not part of it, unless --raw is given.',
  ],
  positionals: [1, 1],
  surplus: 'takes NAME only: the value comes from stdin or --file, never from the command line (this one should be changed if it was real)',
  options: {
    file: { type: 'string', value: 'FILE', help: 'file that holds the value (default: stdin)' },
    raw: { type: 'boolean', help: 'take every byte as it is, a final line end too' },
    ...OWNER,
  },
  async run({ values: { file = '-', raw = false, factory }, positionals }, calling) {
    const name = nameOf(positionals);
    const bytes = await readInput(file, calling.io, 'redirect a file or a pipe into the command, or give --file FILE');
    const value = checkedValue(toText(raw ? bytes : withoutFinalNewline(bytes), 'the value'), calling);
    const secret = await calling.api.call<Secret>('PUT', `${await ownerPath(calling, factory)}/${name}`, { body: { value } });
    calling.output.result(secret, () => calling.output.line(`${secret.name}: version ${secret.version} is set; ${usersOf(secret)}`));
    return EXIT.ok;
  },
});

const list = apiVerb({
  name: 'secrets list',
  summary: 'Lists secrets: names, grants and users, never values.',
  options: OWNER,
  async run({ values: { factory } }, calling) {
    const { output } = calling;
    const found = await everyPage<'secrets', Secret>(calling.api, await ownerPath(calling, factory), 'secrets');
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
    const path = `${await ownerPath(calling, factory)}/${name}`;
    const { used_by: users } = await calling.api.call<Secret>('GET', path);
    if (users.length > 0 && !force) throw new Failure(`${name} is ${usersOf({ used_by: users })}`, EXIT.problems, ['what uses it would fail, and webhooks would refuse every delivery; --force deletes it all the same']);
    await calling.api.call('DELETE', path, { query: { force: force ? 'true' : undefined } });
    calling.output.result({ name, deleted: true }, () => calling.output.line(`${name}: deleted`));
    return EXIT.ok;
  },
});

const grant = apiVerb({
  name: 'secrets grant',
  arguments: 'NAME',
  summary: 'Says which factories may use a secret, and for what.',
  details: ['What is not named stays as it is.'],
  positionals: [1, 1],
  options: {
    uses: { type: 'string', value: USES.join(','), help: 'what it may be used for, separated by commas' },
    factories: { type: 'string', value: '*|FACTORY,…', help: 'who may use it: * for all, or slugs and UIDs separated by commas' },
    ...OWNER,
  },
  async run({ values: { uses, factories, factory }, positionals }, calling) {
    const name = nameOf(positionals);
    if (uses === undefined && factories === undefined) throw new UsageProblem('say --uses, --factories or both');
    if (factory !== undefined && factories !== undefined) throw new UsageProblem("a factory's own secret is for that factory only: --factories cannot be given with --factory");
    const path = `${await ownerPath(calling, factory)}/${name}`;
    const grants = { ...(uses === undefined ? {} : { uses: usesOf(uses) }), ...(factories === undefined ? {} : { factories: await factoriesOf(calling, factories) }) };
    await calling.api.call('GET', path); // a grant to a mistyped name would make a secret of that name
    const secret = await calling.api.call<Secret>('PUT', path, { body: { grants } });
    calling.output.result(secret, () => calling.output.line(`${secret.name}: for ${usesText(secret)} in ${factoriesText(secret)}`));
    return EXIT.ok;
  },
});

/** The verb `secrets`. */
export const secrets = group('secrets', { set, list, grant, delete: remove });

function nameOf([name = '']: readonly string[]): string {
  if (NAME.test(name)) return name;
  throw new UsageProblem('NAME must begin with a letter, then letters, digits, _ and -, at most 128 in all');
}

async function ownerPath({ api }: Calling, factory: string | undefined): Promise<string> {
  return factory === undefined ? '/secrets' : `/factory/${(await findFactory(api, factory)).uid}/secrets`;
}

function checkedValue(value: string, { output }: Calling): string {
  if (value === '') throw new Failure('the value is empty', EXIT.problems);
  if (value.length > VALUE_LENGTH_MAX) throw new Failure(`the value has more than ${VALUE_LENGTH_MAX} characters`, EXIT.problems);
  if (/^[\s\ufeff]|\s$/.test(value)) output.note('note: the value begins or ends with white space or a byte order mark, which is part of it');
  return value;
}

function usesOf(text: string): string[] {
  const uses = [...new Set(text.split(','))];
  if (uses.every((use) => USES.includes(use))) return uses;
  throw new UsageProblem(`--uses takes ${USES.join(', ')}, separated by commas`);
}

async function factoriesOf({ api }: Calling, text: string): Promise<'*' | string[]> {
  if (text === '*') return '*';
  const found = await Promise.all(text.split(',').map((name) => findFactory(api, name)));
  return [...new Set(found.map(({ uid }) => uid))];
}

function usersOf({ used_by: users }: Pick<Secret, 'used_by'>): string {
  if (users.length === 0) return 'no webhook uses it yet';
  if (users.every(({ kind }) => kind === 'webhook')) return `used by ${count(users.length, 'webhook')}: ${users.map(({ slug }) => slug).join(', ')}`;
  return `used by ${users.map(({ kind, slug }) => `${kind} ${slug}`).join(', ')}`;
}

function usesText({ grants }: Secret): string {
  return grants.uses.length === 0 ? 'nothing' : grants.uses.join(', ');
}

function factoriesText({ grants }: Secret): string {
  if (grants.factories === '*') return 'all factories';
  return grants.factories.length === 0 ? 'no factory' : grants.factories.join(', ');
}

function rowOf(secret: Secret): string[] {
  const { name, set: isSet, version, grants, url_safe: isUrlSafe, updated_at: changed, used_by: users } = secret;
  return [
    name, isSet ? String(version) : 'unset', usesText(secret), grants.factories === '*' ? '*' : factoriesText(secret), isSet ? (isUrlSafe ? 'yes' : 'no') : '-',
    toSeconds(changed), users.length === 0 ? '-' : users.map(({ slug }) => slug).join(', '),
  ];
}
