/** Agent identities over the API: who may, what a run takes from one, what is refused by name. contract §3.14. */
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { bootService, type TestService } from '../support/services/service.ts';

let service: TestService;
let folder: FactoryFolder;
let factory: string;
beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_EGRESS_RANGES: '203.0.113.9/24, 2001:DB8::/32' } });
  folder = await factoryFolder({});
  factory = await service.factory('herons', folder.source);
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const make = async (more: Record<string, unknown>) =>
  service.api('POST', '/agent/identities', { name: 'reviewer', ...more });
const configOf = async (body: Record<string, unknown>): Promise<Record<string, unknown>> => {
  const made = await service.api('POST', '/agent/runs', { prompt: 'Count.', ...body });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  return (await service.api('GET', `/agent/runs/${String(made.body['run_id'])}`)).body;
};

it('a run that names one begins with its settings, where it says nothing itself', async () => {
  const { body: identity } = await make({
    prompt: 'Read.',
    base_model: 'of-identity',
    harness: { type: 'oz' },
    worker_host: 'elsewhere',
    secrets: [{ name: 'SENDER' }],
    factory_uid: factory,
  });
  expect(identity).toMatchObject({ base_harness: 'oz', skills: [], available: true, default_runner_uid: '' });
  const run = await configOf({ agent_identity_uid: identity['uid'], config: { model_id: 'of-run' } });
  expect(run).toMatchObject({
    factory_uid: factory,
    metadata: { agent_identity_uid: identity['uid'] },
    agent_config: {
      name: 'reviewer',
      base_prompt: 'Read.',
      model_id: 'of-run',
      worker_host: 'elsewhere',
      secrets: [{ name: 'SENDER' }],
    },
  });
  const path = `/agent/identities/${String(identity['uid'])}`;
  const changed = await service.api('PUT', path, { prompt: '', description: 'Reads.' });
  expect(changed.body).not.toHaveProperty('prompt');
  expect(changed.body).toMatchObject({ description: 'Reads.', base_model: 'of-identity' });
  const listed = await service.api('GET', `/agent/identities?factory_uid=${factory}`);
  expect(listed.body).toEqual({ agents: [changed.body] });

  expect((await service.api('DELETE', path)).status).toBe(204);
  expect((await service.api('DELETE', path)).status).toBe(404);
  // What began with it goes on with it.
  expect((await service.api('GET', `/agent/runs/${String(run['run_id'])}`)).body).toMatchObject({
    agent_config: { base_prompt: 'Read.' },
  });
  const gone = await service.api('POST', '/agent/runs', { prompt: 'x', agent_identity_uid: identity['uid'] });
  expect(gone).toMatchObject({ status: 400, body: { errors: [{ pointer: '/agent_identity_uid' }] } });
});

it('what is not served is 422 by name, what is wrong is 400 by name', async () => {
  const refused = async (body: Record<string, unknown>): Promise<unknown[]> => {
    const { status, body: problem } = await make(body);
    return [status, ...((problem['errors'] ?? []) as { pointer: string }[]).map(({ pointer }) => pointer)];
  };
  expect(await refused({ memory: { auto_memory: { enabled: true } }, skills: ['a', 'b'] })).toEqual([422, '/memory']);
  expect(await refused({ agent_type: 'KING' })).toEqual([400, '/agent_type']);
  expect(await refused({ name: '' })).toEqual([400, '/name']);
  expect(await refused({ harness: { type: 'claude' }, base_model: 'm' })).toEqual([400, '/base_model']);
  expect(await refused({ mcp_servers: { a: {} } })).toEqual([400, expect.stringMatching(/^\/mcp_servers\/a/)]);
  expect((await refused({ factory_uid: '00000000-0000-7000-8000-000000000000' }))[0]).toBe(404);
  const { body } = await make({});
  const both = await service.api('PUT', `/agent/identities/${String(body['uid'])}`, {
    secrets_append: [{ name: 'A' }],
    prompt: null,
  });
  expect(both).toMatchObject({ status: 400, body: { errors: [{ pointer: '/secrets_append' }] } });
});

it('a key sees those of its factories, and a viewer changes none', async () => {
  const { body: elsewhere } = await make({ name: 'of nobody' });
  const keyOf = async (body: Record<string, unknown>): Promise<string> =>
    String((await service.api('POST', '/api-keys', { name: 'k', ...body })).body['key']);
  const limited = await keyOf({ role: 'operator', factories: [factory] });
  const viewer = await keyOf({ role: 'viewer' });
  const as = async (key: string, method: string, path: string, body?: unknown): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return (await fetch(`${service.url}/api/v1${path}`, init)).status;
  };
  const path = `/agent/identities/${String(elsewhere['uid'])}`;
  expect(await as(limited, 'GET', path)).toBe(404);
  expect(await as(limited, 'PUT', path, {})).toBe(404);
  expect(await as(limited, 'POST', '/agent/identities', { name: 'x' })).toBe(403);
  expect(await as(limited, 'POST', '/agent/identities', { name: 'x', factory_uid: factory })).toBe(200);
  const run = { prompt: 'x', factory_uid: factory, agent_identity_uid: elsewhere['uid'] };
  expect(await as(limited, 'POST', '/agent/runs', run)).toBe(400);
  expect(await as(viewer, 'GET', path)).toBe(200);
  expect(await as(viewer, 'PUT', path, {})).toBe(403);
  expect(await as(viewer, 'DELETE', path)).toBe(403);
});

it('the networks of runs are what the operator says', async () => {
  expect((await service.api('GET', '/networking/egress-ranges')).body).toEqual({
    cidrs: ['203.0.113.0/24', '2001:db8::/32'],
  });
});
