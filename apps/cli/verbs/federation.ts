/** `millwright federation`: whose tokens are exchanged for keys that last ten minutes. contract §2.4. */
import type { FederatedCredential } from '#client';
import { apiVerb, type Calling } from '../connection/api.ts';
import { CommandError, group, UsageError, type OptionSpecs } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { toSeconds, type Cell } from '../terminal/output.ts';

const ROLES = ['viewer', 'operator', 'manager'] as const satisfies readonly FederatedCredential['role'][];

/** Issuers that have a name here. */
const ISSUERS: Readonly<Record<string, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
};

const RULE_OPTIONS = {
  audience: { type: 'string', value: 'TEXT', help: 'whom a token has to be made for: the address of the service' },
  claim: {
    type: 'string',
    value: 'NAME=VALUE',
    multiple: true,
    help: 'what a token has to say, byte for byte; the same name again allows another value',
  },
  role: { type: 'string', value: ROLES.join('|'), help: 'what its keys may do' },
  factory: {
    type: 'string',
    value: 'FACTORY,…',
    multiple: true,
    commas: true,
    help: 'the only factories that its keys may see (slug or UID); may be repeated',
  },
} as const satisfies OptionSpecs;

const create = apiVerb({
  name: 'federation create',
  arguments: 'NAME',
  summary: 'Lets tokens of a build server be exchanged for keys that last ten minutes.',
  details: [
    'github and gitlab are the issuers of github.com and gitlab.com; of these, a claim says whose tokens: ' +
      'repository=OWNER/NAME,',
    'project_path=GROUP/NAME. Another issuer is named as its tokens name it. Nothing is asked of it before the ' +
      'first exchange.',
  ],
  positionals: [1, 1],
  options: {
    issuer: { type: 'string', value: 'github|gitlab|URL', required: true, help: 'who signs the tokens' },
    ...RULE_OPTIONS,
    audience: { ...RULE_OPTIONS.audience, required: true },
    claim: { ...RULE_OPTIONS.claim, required: true },
    role: { ...RULE_OPTIONS.role, required: true },
  },
  async run({ values, positionals: [name = ''] }, calling) {
    const made = await calling.api.federatedCredentials.create({
      name,
      issuer: ISSUERS[values.issuer] ?? values.issuer,
      audience: values.audience,
      claims: claimsOf(values.claim),
      role: roleOf(values.role),
      factories: await factoriesOf(calling, values.factory),
    });
    return printOne(calling, made, 'made');
  },
});

const list = apiVerb({
  name: 'federation list',
  summary: 'Lists whose tokens are exchanged, newest first.',
  options: {},
  async run(_asked, { api, output }) {
    const answer = await api.federatedCredentials.list();
    output.result(answer, () =>
      output.table(
        ['ID', 'NAME', 'ISSUER', 'AUDIENCE', 'CLAIMS', 'ROLE', 'FACTORIES', 'LAST USED'],
        answer.federated_credentials.map(rowOf),
        4,
      ),
    );
    return EXIT.ok;
  },
});

const update = apiVerb({
  name: 'federation update',
  arguments: 'NAME|ID',
  summary: 'Changes a federated credential; its keys end, unless only its name changes.',
  positionals: [1, 1],
  options: {
    name: { type: 'string', value: 'TEXT', help: 'what it is for' },
    ...RULE_OPTIONS,
    'all-factories': { type: 'boolean', help: 'its keys may see every factory' },
  },
  async run({ values, positionals: [name = ''] }, calling) {
    const isForAll = values['all-factories'] === true;
    if (isForAll && values.factory !== undefined) throw new UsageError('give --factory or --all-factories, not both');
    const change = {
      name: values.name,
      audience: values.audience,
      claims: values.claim && claimsOf(values.claim),
      role: values.role === undefined ? undefined : roleOf(values.role),
      factories: isForAll ? null : await factoriesOf(calling, values.factory),
    };
    if (Object.values(change).every((value) => value === undefined)) throw new UsageError('say what is to change');
    const { id } = await findCredential(calling.api, name);
    return printOne(calling, await calling.api.federatedCredentials.update(id, change), 'changed');
  },
});

const remove = apiVerb({
  name: 'federation delete',
  arguments: 'NAME|ID',
  summary: 'Deletes a federated credential: no token is exchanged by it any more, and its keys end.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [name = ''] }, { api, output }) {
    const { id } = await findCredential(api, name);
    await api.federatedCredentials.delete(id);
    output.result({ id, deleted: true }, () => output.line(`${id}: deleted`));
    return EXIT.ok;
  },
});

/** The verb `federation`. */
export const federation = group('federation', { create, list, update, delete: remove });

function printOne({ output }: Calling, credential: FederatedCredential, done: string): number {
  const { id, name, issuer, audience, role, claims, factories } = credential;
  output.result(credential, () => {
    output.line(id);
    output.note(
      `${done}: ${name}, ${role} of ${factories === null ? 'all factories' : factories.join(', ')}, for tokens ` +
        `of ${issuer} for ${audience} with ${claimsText(claims)}`,
    );
  });
  return EXIT.ok;
}

function claimsOf(texts: readonly string[]): Record<string, [string, ...string[]]> {
  const claims = new Map<string, [string, ...string[]]>();
  for (const text of texts) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (name === '') throw new UsageError('--claim must be NAME=VALUE');
    const values = claims.get(name);
    if (values === undefined) claims.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(claims);
}

function roleOf(text: string): FederatedCredential['role'] {
  const role = ROLES.find((known) => known === text);
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`);
  return role;
}

async function factoriesOf(
  { api }: Calling,
  names: readonly string[] | undefined,
): Promise<[string, ...string[]] | undefined> {
  if (names === undefined) return undefined;
  const found = await Promise.all(names.map((name) => findFactory(api, name)));
  const [first = '', ...others] = new Set(found.map(({ uid }) => uid));
  return [first, ...others];
}

/** By its ID, or by a name that one alone has. */
async function findCredential(api: Calling['api'], name: string): Promise<FederatedCredential> {
  const { federated_credentials: all } = await api.federatedCredentials.list();
  const [found, ...others] = all.filter((one) => one.id === name || one.name === name);
  if (found === undefined)
    throw new CommandError('there is no federated credential of that name or ID; see millwright federation list', 5);
  if (others.length === 0) return found;
  const ids = [found, ...others].map(({ id }) => id).join(', ');
  throw new CommandError(`several federated credentials are called that: ${ids}; say the ID`, EXIT.usage);
}

function claimsText(claims: FederatedCredential['claims']): string {
  return Object.entries(claims)
    .map(([name, values]) => `${name}=${values.join('|')}`)
    .join(', ');
}

function rowOf({
  id,
  name,
  issuer,
  audience,
  claims,
  role,
  factories,
  last_used_at: used,
}: FederatedCredential): Cell[] {
  const scope = factories === null ? '*' : factories.join(', ');
  return [id, name, issuer, audience, claimsText(claims), role, scope, toSeconds(used)];
}
