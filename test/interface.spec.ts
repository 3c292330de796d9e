/**
 * The API document and the service are one: the routes that the server really registers, the roles that they really ask
 * for. contract §2, §3, §4.
 */
import { OPERATIONS, type Operation } from '#contracts';
import { makeKey } from './support/services/api-keys.ts';
import { bootService, type TestService } from './support/services/service.ts';
import type { Role } from '../apps/server/store/access/access.ts';

const BASE = '/api/v1';
const ROLES: readonly Role[] = ['viewer', 'operator', 'manager', 'admin'];
const operations = OPERATIONS.flatMap((group) => group.operations);
const routes = new Set<string>();
let service: TestService;
const keys = new Map<string, string>();

beforeAll(async () => {
  service = await bootService({
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_API_AUTH_FAILURES: '0' },
    composed: ({ app }) => {
      app
        .getHttpAdapter()
        .getInstance()
        .addHook('onRoute', ({ method, url }) => {
          for (const each of [method].flat()) routes.add(`${each} ${url}`);
        });
    },
  });
  for (const role of ROLES) keys.set(role, await makeKey(service, role));
});

afterAll(() => service.stop());

/** Parameters have no names here: what counts is where they are. */
const shapeOf = (method: string, path: string): string =>
  `${method.toUpperCase()} ${path.replace(/:[A-Za-z]+|\{[a-z_]+\}/g, '{}')}`;

describe('the routes of the server', () => {
  it('are the operations of the document, no more and no less', () => {
    const registered = [...routes]
      .map((route) => route.split(' ') as [string, string])
      .filter(
        ([method, path]) =>
          path.startsWith(`${BASE}/`) && !path.includes('*') && method !== 'HEAD' && method !== 'OPTIONS',
      )
      .map(([method, path]) => shapeOf(method, path));
    const documented = operations.map(({ method, path }) => shapeOf(method, BASE + path));
    expect({
      undocumented: registered.filter((route) => !documented.includes(route)).sort(),
      missing: documented.filter((route) => !registered.includes(route)).sort(),
    }).toEqual({ undocumented: [], missing: [] });
    expect(registered.length).toBeGreaterThan(20);
  });

  it('outside the interface are health, documentation, what problems refer to, and the web page', () => {
    const outside = [...routes].map((route) => route.split(' ')[1] ?? '').filter((path) => !path.startsWith(BASE));
    const served = /healthz|readyz|metrics|docs(\/.*)?|errors(\/.*)?/;
    const pages = /assets\/\*|sign-in|(factories|runs|secrets)(\/\*)?|audit|\*/;
    const lists = /(schedule|agent-identitie|api-key|federated-credential|chart)s/;
    const known = new RegExp(`^\\/(|${served.source}|${pages.source}|${lists.source})$`);
    expect([...new Set(outside)].filter((path) => !known.test(path))).toEqual([]);
  });
});

describe('an operation', () => {
  const call = ({ method, path }: Operation, key: string | undefined): Promise<Response> =>
    fetch(`${service.url}${BASE}${path.replace(/\{[a-z_]+\}/g, '00000000-0000-7000-8000-000000000000')}`, {
      method: method.toUpperCase(),
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      redirect: 'manual',
    });

  it.each(operations.filter(({ role }) => role !== undefined).map((operation) => [operation.id, operation] as const))(
    '%s asks for the role that it says',
    async (_id, operation) => {
      const least = ROLES.indexOf(operation.role as Role);
      expect((await call(operation, undefined)).status).toBe(401);
      if (least > 0) expect((await call(operation, keys.get(ROLES[least - 1] as Role))).status).toBe(403);
      expect([401, 403]).not.toContain((await call(operation, keys.get(ROLES[least] as Role))).status);
    },
  );

  it.each(operations.filter(({ role }) => role === undefined).map((operation) => [operation.id, operation] as const))(
    '%s asks for no key, as it says',
    async (_id, operation) => {
      const answer = await call(operation, undefined);
      expect(answer.status === 401 ? answer.headers.get('www-authenticate') : null).toBeNull();
    },
  );
});
