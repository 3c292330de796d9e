/** `millwright keys`: make, list and revoke API keys. A key's text is printed once, when it is made. contract §2. */
import type { ApiKey, ApiKeyCreate } from '#client';
import { apiVerb, type Calling } from '../connection/api.ts';
import { CommandError, group, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { toSeconds, type Cell } from '../terminal/output.ts';
import { all, PAGE_SIZE_MAX } from '../connection/pages.ts';
import { rotateMaster } from './installation/master-key.ts';

const ROLES = ['viewer', 'operator', 'manager', 'admin'] as const satisfies readonly ApiKey['role'][];
const DAYS_MAX = 3_650;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

const create = apiVerb({
  name: 'keys create',
  summary: 'Makes an API key and prints it, this once.',
  details: [
    'Only the key goes to stdout: redirect it into a file that nobody else can read, or pipe it on. It belongs ' +
      'to you, unless',
    '--service-account names a program. A key without --factory sees every factory; one with it is manager at most.',
  ],
  options: {
    name: { type: 'string', value: 'NAME', required: true, help: 'what it is for' },
    role: {
      type: 'string',
      value: ROLES.join('|'),
      required: true,
      help: 'what it may do; each role may what those before it may',
    },
    factory: {
      type: 'string',
      value: 'FACTORY,…',
      multiple: true,
      commas: true,
      help: 'the only factories it may see (slug or UID); may be repeated',
    },
    'expires-in-days': {
      type: 'string',
      value: 'DAYS',
      help: `when it ends, 1 to ${DAYS_MAX} days from now (default: never)`,
    },
    'service-account': {
      type: 'string',
      value: 'NAME',
      help: 'makes a service account of this name, that the key belongs to',
    },
  },
  async run({ values }, calling) {
    const { api, output } = calling;
    const body: ApiKeyCreate = {
      name: values.name,
      role: roleOf(values.role),
      factories: await factoriesOf(calling, values.factory),
      expires_in_days: daysOf(values['expires-in-days']),
      principal: principalOf(values['service-account']),
    };
    const made = await api.apiKeys.create(body);
    output.result(made, () => {
      output.line(made.key);
      output.note(
        `key ${made.id} (${made.name}): ${made.role} ${factoriesText(made)}, for ${made.principal.display_name}` +
          `, ${endText(made)}`,
      );
      output.note('it is not shown again; store it now');
    });
    return EXIT.ok;
  },
});

const list = apiVerb({
  name: 'keys list',
  summary: 'Lists API keys, newest first, never the keys themselves.',
  options: { all: { type: 'boolean', help: 'revoked ones too' } },
  async run({ values: { all: isAll = false } }, { api, output }) {
    const keys = await all(api.apiKeys.list({ limit: PAGE_SIZE_MAX, include_revoked: isAll ? true : undefined }));
    output.result({ api_keys: keys }, () =>
      output.table(['ID', 'KEY', 'NAME', 'ROLE', 'FACTORIES', 'BELONGS TO', 'LAST USED', 'ENDS'], keys.map(rowOf), 2),
    );
    return EXIT.ok;
  },
});

const revoke = apiVerb({
  name: 'keys revoke',
  arguments: 'ID',
  summary: 'Ends an API key at once: the next request with it is refused.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [id = ''] }, { api, output }) {
    if (id.startsWith('mw_') || !ID.test(id))
      throw new UsageError('ID must be the ID of a key, as `millwright keys list` prints it, not the key itself');
    await api.apiKeys.revoke(id);
    output.result({ id, revoked: true }, () => output.line(`${id}: revoked`));
    return EXIT.ok;
  },
});

const rotate = apiVerb({
  name: 'keys rotate',
  arguments: 'NAME|ID',
  summary: 'Replaces an API key and prints the new one, this once. Both let in until the overlap ends.',
  details: [
    'Only the new key goes to stdout. It has the name, role, factories and owner of the one of before, and lives as',
    'long as that was made for. Browsers that signed in with the one of before sign in again when it ends.',
  ],
  positionals: [1, 1],
  options: {
    overlap: {
      type: 'string',
      value: 'DURATION',
      help: 'how long the key of before goes on: 90s, 30m, 24h (default), 7d at most; 0 ends it at once',
    },
  },
  async run({ values, positionals: [name = ''] }, { api, output }) {
    const overlapSeconds = overlapOf(values.overlap);
    const old = await findKey(api, name);
    const made = await api.apiKeys.rotate(old.id, { overlap_seconds: overlapSeconds });
    output.result(made, () => {
      output.line(made.key);
      output.note(`key ${made.id} (${made.name}) takes the place of ${old.id}, ${endText(made)}`);
      output.note('it is not shown again; store it now');
    });
    return EXIT.ok;
  },
});

const current = apiVerb({
  name: 'keys current',
  summary: 'Shows whose key you use, and what it may do.',
  options: {},
  async run(_asked, { api, output }) {
    const key = await api.apiKeys.current();
    output.result(key, () =>
      output.fields([
        ['key', `${key.hint} (${key.name})`],
        ['id', key.id],
        ['belongs to', `${key.principal.display_name} (${key.principal.uid})`],
        ['role', `${key.role} ${factoriesText(key)}`],
        ['ends', endText(key)],
      ]),
    );
    return EXIT.ok;
  },
});

/** The verb `keys`. */
export const keys = group('keys', { create, list, rotate, revoke, current, 'rotate-master': rotateMaster });

function roleOf(text: string): ApiKey['role'] {
  const role = ROLES.find((known) => known === text);
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`);
  return role;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const OVERLAP_SECONDS_MAX = 604_800;

function overlapOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits = '', unit = 's'] = /^(\d{1,6})([smhd])$/.exec(text) ?? (text === '0' ? ['', '0'] : []);
  const seconds = Number(digits) * (UNIT_SECONDS[unit] ?? 1);
  if (digits !== '' && seconds <= OVERLAP_SECONDS_MAX) return seconds;
  throw new UsageError('--overlap must be a time of at most 7d: 90s, 30m, 24h, 7d, or 0');
}

/** By its ID, or by a name that one key alone has. */
async function findKey(api: Calling['api'], name: string): Promise<ApiKey> {
  if (name.startsWith('mw_')) throw new UsageError('name the key, or its ID; the key itself does not belong here');
  const found = (await all(api.apiKeys.list({ limit: PAGE_SIZE_MAX }))).filter(
    (key) => (key.id === name || key.name === name) && isUsable(key),
  );
  if (found.length > 1)
    throw new CommandError(
      `several keys are called that: ${found.map(({ id }) => id).join(', ')}; say the ID`,
      EXIT.usage,
    );
  const [key] = found;
  if (key === undefined)
    throw new CommandError(
      'there is no key of that name or ID that lets anybody in; see millwright keys list',
      EXIT.usage,
    );
  return key;
}

function isUsable({ expires_at: expiresAt, revoked_at: revokedAt }: ApiKey): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}

function daysOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= DAYS_MAX) return Number(text);
  throw new UsageError(`--expires-in-days must be a whole number from 1 to ${DAYS_MAX}`);
}

function principalOf(serviceAccount: string | undefined): ApiKeyCreate['principal'] {
  return serviceAccount === undefined ? undefined : { type: 'service_account', display_name: serviceAccount };
}

async function factoriesOf({ api }: Calling, names: readonly string[] | undefined): Promise<ApiKeyCreate['factories']> {
  if (names === undefined) return undefined;
  const found = await Promise.all(names.map((name) => findFactory(api, name)));
  const [first = '', ...others] = new Set(found.map(({ uid }) => uid));
  return [first, ...others];
}

function factoriesText({ factories }: ApiKey): string {
  return factories === null ? 'of all factories' : `of ${factories.join(', ')}`;
}

function endText({ expires_at: expiresAt, revoked_at: revokedAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${toSeconds(revokedAt)}`;
  return expiresAt === null ? 'without an end' : `until ${toSeconds(expiresAt)}`;
}

function rowOf(key: ApiKey): Cell[] {
  const {
    id,
    hint,
    name,
    role,
    factories,
    principal,
    last_used_at: lastUsedAt,
    revoked_at: revokedAt,
    expires_at: expiresAt,
  } = key;
  const end: Cell =
    revokedAt === null ? toSeconds(expiresAt) : { text: `revoked ${toSeconds(revokedAt)}`, colour: 'red' };
  return [
    id,
    hint,
    name,
    role,
    factories === null ? '*' : factories.join(', '),
    principal.display_name,
    toSeconds(lastUsedAt),
    end,
  ];
}
