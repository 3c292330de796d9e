/**
 * Every operation of the interface against every kind of key: the declared role is the guard's, and nobody sees what a
 * key may not. contract §2.
 */
import { OPERATIONS, type Operation } from '#contracts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import type { Role } from '../../apps/server/store/access/access.ts';

const ROLES: readonly Role[] = ['viewer', 'operator', 'manager', 'admin'];
const HOLDERS = ROLES.flatMap((role) => [role, `limited ${role}`]);
const ALL = OPERATIONS.flatMap(({ operations }) => operations);
/** Identifiers that nothing has. */
const NOWHERE = {
  fac: 'fac_00000000000000000000000000',
  uuid: '00000000-0000-7000-8000-000000000000',
  name: 'nothing-is-called-so',
};

let service: TestService;
let ours: string;
let theirs: string;
/** Text of each kind of key. */
const keys = new Map<string, string>();

beforeAll(async () => {
  service = await bootService({
    environment: {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_API_RATE: '0',
      MILLWRIGHT_API_AUTH_FAILURES: '0',
    },
  });
  ours = await service.factory('ours', { kind: 'directory', path: '/nowhere/a' });
  theirs = await service.factory('theirs', { kind: 'directory', path: '/nowhere/b' });
  for (const role of ROLES) {
    keys.set(role, await makeKey(service, role));
    keys.set(`limited ${role}`, await makeKey(service, role, { factories: [ours] }));
  }
  keys.set('revoked', await makeKey(service, 'admin', { revokedAtMs: 1 }));
  keys.set('expired', await makeKey(service, 'admin', { expiresAtMs: 1 }));
});

afterAll(() => service.stop());

interface Answer {
  status: number;
  error?: unknown;
  detail?: unknown;
}

/**
 * Asks for something that does not exist, with an empty body: what a role allows to be asked is then 400 or 404, and
 * changes nothing.
 */
async function ask({ method, path, body }: Operation, who: string, factoryUid = NOWHERE.fac): Promise<Answer> {
  const key = keys.get(who);
  const answer = await fetch(
    `${service.url}/api/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => valueOf(name, path, factoryUid))}`,
    {
      method: method.toUpperCase(),
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : '{}',
    },
  );
  const text = await answer.text();
  const isProblem = answer.headers.get('content-type')?.startsWith('application/problem+json') === true;
  return isProblem
    ? { status: answer.status, ...pick(JSON.parse(text) as Record<string, unknown>) }
    : { status: answer.status };
}

function valueOf(parameter: string, path: string, factoryUid: string): string {
  if (path.startsWith(`/factory/{${parameter}}`)) return factoryUid;
  return parameter === 'name' || parameter === 'document' ? NOWHERE.name : NOWHERE.uuid;
}

function pick({ error, detail }: Record<string, unknown>): Pick<Answer, 'error' | 'detail'> {
  return { error, detail };
}

/** The role that a key's holder really has: limited to factories, an admin is a manager. */
function worth(who: string): number {
  return ROLES.indexOf(who === 'limited admin' ? 'manager' : (who.replace('limited ', '') as Role));
}

/** An operation without arguments that would change something for everybody is not tried with a key that may do it. */
const SPARED: ReadonlySet<string> = new Set(['putTeamSecret']);

const named = (operations: readonly Operation[]): [string, Operation][] =>
  operations.map((operation) => [`${operation.id}: ${operation.method.toUpperCase()} ${operation.path}`, operation]);
const guarded = ALL.filter(({ role }) => role !== undefined);

describe('an operation', () => {
  it.each(named(guarded))('%s is nobody’s without a valid key', async (_name, operation) => {
    const answers = await Promise.all(['nobody', 'revoked', 'expired'].map((who) => ask(operation, who)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 401, error: 'authentication_required' });
  });

  it.each(named(guarded))('%s is for the declared role and those above it', async (_name, operation) => {
    const needed = ROLES.indexOf(operation.role as Role);
    const asked = HOLDERS.filter((who) => worth(who) < needed || !SPARED.has(operation.id));
    const answers = await Promise.all(asked.map(async (who) => ({ who, ...(await ask(operation, who)) })));
    for (const answer of answers) {
      if (worth(answer.who) < needed)
        expect(answer).toMatchObject({
          status: 403,
          error: 'not_authorized',
          detail: expect.stringContaining(`needs the role ${operation.role ?? ''}`),
        });
      else
        expect(answer).not.toMatchObject({
          error: expect.stringMatching(/^(not_authorized|authentication_required|internal_error)$/),
        });
    }
  });

  it.each(named(ALL.filter(({ role }) => role === undefined)))('%s needs no key', async (_name, operation) => {
    expect((await ask(operation, 'nobody')).detail ?? '').not.toMatch(/API key|the role/);
  });
});

describe('a key that is limited to a factory', () => {
  const ofFactories = ALL.filter(({ path, role }) => path.startsWith('/factory/{') && role !== 'admin');

  it.each(named(ofFactories))('%s: another factory looks like none', async (_name, operation) => {
    const [other, none] = await Promise.all([
      ask(operation, 'limited manager', theirs),
      ask(operation, 'limited manager'),
    ]);
    expect(other).toEqual(none);
    expect([400, 404]).toContain(other.status);
  });

  it('meets at least the operations that there were when this was written', () => {
    expect(ofFactories.length).toBeGreaterThan(20);
    expect(guarded.length).toBeGreaterThan(50);
  });
});
