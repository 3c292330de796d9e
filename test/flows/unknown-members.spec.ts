/**
 * Management requests with a member that nothing knows change nothing: a restriction under a wrong name would not
 * restrict. contract §3.10 (Unknown members).
 */
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

let service: TestService;
let factory: string;
let webhook: string;
let automation: string;
let key: string;

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await service.api('POST', path, body);
    return String(answer.body['uid'] ?? answer.body['id']);
  };
  factory = await made('/factory', { slug: 'shop', source: { kind: 'dashboard' } });
  webhook = await made(`/factory/${factory}/webhooks`, { name: 'orders' });
  automation = await made(`/factory/${factory}/automations`, {
    name: 'nightly',
    prompt: 'Look.',
    triggers: [{ provider: 'schedule', cron: '@daily' }],
  });
  key = await made('/api-keys', { name: 'a key', role: 'viewer' });
  await service.api('PUT', '/secrets/STORED', {
    value: 'a value of sixteen characters',
    grants: { uses: ['webhook', 'run'], hosts: ['npm.example'] },
  });
});

afterAll(() => service.stop());

/** Texts with the identifiers of what was made in place of their names. */
const filled = (text: string): string =>
  text
    .replaceAll('FACTORY', factory)
    .replaceAll('WEBHOOK', webhook)
    .replaceAll('AUTOMATION', automation)
    .replaceAll('KEY', key);

const send = (request: string, body: object): Promise<ApiAnswer> => {
  const [method = '', path = ''] = filled(request).split(' ');
  return service.api(method, path, JSON.parse(filled(JSON.stringify(body))) as object);
};

const everything = async (): Promise<unknown[]> => {
  const paths = [
    '/api-keys',
    '/federated-credentials',
    '/secrets',
    '/factory',
    `/factory/${factory}/webhooks`,
    `/factory/${factory}/automations`,
    `/factory/${factory}/secrets`,
  ];
  const answers = await Promise.all(paths.map((path) => service.api('GET', path)));
  // When a key was used last is no matter of requests.
  return answers.map(({ body }) => JSON.stringify(body).replaceAll(/"last_used_at":[^,}]*/g, ''));
};

const CREDENTIAL = {
  name: 'repository',
  issuer: 'https://token.actions.githubusercontent.com',
  audience: 'https://mill.example',
  claims: { repository: ['acme/factory'] },
  role: 'viewer',
};
const WEBHOOK_TRIGGER = { provider: 'webhook', webhook_uids: ['WEBHOOK'] };
const AUTOMATION = { name: 'on orders', prompt: 'Look.', triggers: [WEBHOOK_TRIGGER] };
const DIGEST = `sha256:${'0'.repeat(64)}`;

const ROWS: readonly { request: string; body: object; errors: Readonly<Record<string, string>> }[] = [
  {
    request: 'POST /api-keys',
    body: { name: 'x', role: 'viewer', expires_in_day: 1, factory: ['FACTORY'] },
    errors: {
      '/expires_in_day': 'unknown key "expires_in_day"; did you mean "expires_in_days"?',
      '/factory': 'unknown key "factory"; did you mean "factories"?',
    },
  },
  {
    request: 'POST /api-keys',
    body: { name: 'x', role: 'viewer', principal: { type: 'user', display_name: 'Ada', mail: 'a@example.com' } },
    errors: { '/principal/mail': 'unknown key "mail" in principal; did you mean "email"?' },
  },
  {
    request: 'PATCH /api-keys/KEY',
    body: { expires_on: null, role: 'viewer' },
    errors: {
      '/expires_on': 'unknown key "expires_on"; did you mean "expires_at"?',
      '/role': 'role cannot be changed: make another key, and revoke this one',
    },
  },
  {
    request: 'POST /api-keys/KEY/rotate',
    body: { overlap: 0 },
    errors: { '/overlap': 'unknown key "overlap"; expected overlap_seconds' },
  },
  {
    request: 'POST /federated-credentials',
    body: { ...CREDENTIAL, factory: ['FACTORY'] },
    errors: { '/factory': 'unknown key "factory"; did you mean "factories"?' },
  },
  {
    request: 'PATCH /federated-credentials/none',
    body: { issuer: 'https://issuer.example', claim: {} },
    errors: {
      '/issuer': 'issuer cannot be changed: make another one',
      '/claim': 'unknown key "claim"; did you mean "claims"?',
    },
  },
  {
    request: 'PUT /secrets/STORED',
    body: { grant: { uses: ['run'] } },
    errors: { '/grant': 'unknown key "grant"; did you mean "grants"?' },
  },
  {
    request: 'PUT /secrets/FRESH',
    body: { valu: 'a value of sixteen characters' },
    errors: { '/valu': 'unknown key "valu"; did you mean "value"?' },
  },
  {
    request: 'PUT /factory/FACTORY/secrets/FRESH',
    body: { hosts: [], grants: { run: 'files' } },
    errors: {
      '/grants/run': 'unknown key "run" in grants; did you mean "runs"?',
      '/hosts': 'unknown key "hosts"; did you mean "grants.hosts"?',
    },
  },
  {
    request: 'POST /factory/FACTORY/webhooks',
    body: { name: 'x', authMode: 'signature', signatureScheme: 'github', secret: 'short' },
    errors: {
      '/authMode': 'unknown key "authMode"; did you mean "auth_mode"?',
      '/secret': expect.stringContaining('16 to 512') as string,
      '/signatureScheme': 'unknown key "signatureScheme"; did you mean "signature_scheme"?',
    },
  },
  {
    request: 'PATCH /factory/FACTORY/webhooks/WEBHOOK',
    body: { enable: false },
    errors: { '/enable': 'unknown key "enable"; did you mean "enabled"?' },
  },
  {
    request: 'POST /factory/FACTORY/webhooks/WEBHOOK/rotate',
    body: { value: 'a secret of sixteen characters' },
    errors: { '/value': 'unknown key "value"; expected secret' },
  },
  {
    request: 'POST /factory/FACTORY/automations',
    body: { ...AUTOMATION, triggers: [{ ...WEBHOOK_TRIGGER, filter: { a: [1] } }] },
    errors: { '/triggers/0/filter': 'unknown key "filter" in triggers[0]; did you mean "payload"?' },
  },
  {
    request: 'POST /factory/FACTORY/automations',
    body: {
      ...AUTOMATION,
      limit: { minutes: 5 },
      network: { allowed: [] },
      model: 'large',
      agent: {
        harness: { type: 'oz', modelId: 'm' },
        secrets: [{ name: 'NPM_TOKEN', hosts: 'npm.example' }],
        mcp_servers: { a: { url: 'https://mcp.example/', header: {} } },
      },
    },
    errors: {
      '/agent/harness/modelId': 'unknown key "modelId" in agent.harness; did you mean "model_id"?',
      '/agent/mcp_servers/a/header': expect.stringContaining('did you mean "headers"?') as string,
      '/agent/secrets/0/hosts': 'unknown key "hosts" in agent.secrets[0]; did you mean "host"?',
      '/limit': 'unknown key "limit"; did you mean "limits"?',
      '/model': 'unknown key "model"; did you mean "agent.model_id"?',
      '/network/allowed': 'unknown key "allowed" in network; did you mean "allow"?',
    },
  },
  {
    request: 'PATCH /factory/FACTORY/automations/AUTOMATION',
    body: { netwrok: null, agent: { skil_spec: 'acme/tools:review' } },
    errors: {
      '/agent/skil_spec': 'unknown key "skil_spec" in agent; did you mean "skill_spec"?',
      '/netwrok': 'unknown key "netwrok"; did you mean "network"?',
    },
  },
  {
    request: 'POST /factory',
    body: { slug: 'more', source: { kind: 'dashboard' }, syncPolicy: { fast_forward_only: true } },
    errors: { '/syncPolicy': 'unknown key "syncPolicy"; did you mean "sync_policy"?' },
  },
  {
    request: 'PATCH /factory/FACTORY',
    body: { slug: 'other' },
    errors: { '/slug': 'unknown key "slug"; expected one of name, source, sync_policy' },
  },
  {
    request: 'POST /factory/FACTORY/approve',
    body: { plan: DIGEST, revision: 'main' },
    errors: { '/revision': 'unknown key "revision"; expected plan' },
  },
  {
    request: 'POST /factory/FACTORY/filters/test',
    body: { filter: {}, payload: {}, webhooks: ['WEBHOOK'] },
    errors: { '/webhooks': 'unknown key "webhooks"; did you mean "webhook_uids"?' },
  },
];

describe('a member that nothing knows', () => {
  it.each(ROWS)('of $request is 400 naming $errors', async ({ request, body, errors }) => {
    const before = await everything();
    const answer = await send(request, body);
    const named = (answer.body['errors'] as { pointer: string; message: string }[]).map(
      ({ pointer, message }) => [pointer, message] as const,
    );
    expect({ status: answer.status, count: named.length, errors: Object.fromEntries(named) }).toEqual({
      status: 400,
      count: Object.keys(errors).length,
      errors,
    });
    expect(await everything()).toEqual(before);
  });

  it('of a body with more members than are named is refused as well', async () => {
    const uids = Array.from({ length: 100 }, (_, index) => `wh_${index}`);
    const triggers = Array.from({ length: 50 }, () => ({ provider: 'webhook', webhook_uids: uids }));
    const answer = await send('POST /factory/FACTORY/automations', { ...AUTOMATION, triggers, enable: false });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/enable' }] } });
  });

  it('is none that answers have: what was set is taken as it is shown', async () => {
    const made = await send('POST /factory/FACTORY/automations', {
      name: 'all members',
      prompt: 'Look.',
      triggers: [
        { ...WEBHOOK_TRIGGER, payload: { a: [1] } },
        { provider: 'schedule', name: 'nightly', cron: '@daily' },
      ],
      agent: {
        model_id: 'demo',
        base_prompt: 'Be brief.',
        idle_timeout_minutes: 5,
        mcp_servers: { a: { url: 'https://mcp.example/', headers: { A: 'b' } } },
        secrets: [{ name: 'STORED', host: 'npm.example', header: 'Authorization', methods: ['GET'], paths: ['/**'] }],
      },
      concurrency: { group: 'one', when_busy: 'skip' },
      limits: { tokens: 5, cost: 0.5, minutes: 5 },
      network: { allow: ['npm.example'] },
    });
    const { uid, triggers, agent, concurrency, limits, network } = made.body;
    const shown = { triggers, agent, concurrency, limits, network };
    expect(agent).toMatchObject({ secrets: [{ host: 'npm.example' }] });
    const changed = await fetch(`${service.url}/api/v1/factory/${factory}/automations/${String(uid)}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${service.adminKey}`,
        'content-type': 'application/json',
        'if-match': '*',
      },
      body: JSON.stringify(shown),
    });
    expect({ status: changed.status, body: await changed.json() }).toMatchObject({ status: 200, body: shown });
    const { grants } = (await service.api('GET', '/secrets/STORED')).body;
    expect(await send('PUT /secrets/STORED', { grants: grants as object })).toMatchObject({
      status: 200,
      body: { grants },
    });
  });

  it('is ignored where it says that it would be', async () => {
    const { status, body } = await service.api('POST', '/agent/runs', { prompt: 'Count.', colour: 'red' });
    expect({ status, ignored: body['ignored'] }).toEqual({ status: 200, ignored: ['/colour'] });
  });
});
