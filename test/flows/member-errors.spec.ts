/**
 * What a schema refuses and what only rules refuse is named in one answer, each member once, by its pointer. contract
 * §3.10 (Errors).
 */
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

let service: TestService;
let factory: string;
let webhook: string;
let automation: string;

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  factory = String(
    (await service.api('POST', '/factory', { slug: 'shop', source: { kind: 'dashboard' } })).body['uid'],
  );
  webhook = String((await service.api('POST', `/factory/${factory}/webhooks`, { name: 'orders' })).body['uid']);
  automation = String(
    (
      await service.api('POST', `/factory/${factory}/automations`, {
        name: 'nightly',
        prompt: 'Look.',
        triggers: [{ provider: 'schedule', cron: '@daily' }],
      })
    ).body['uid'],
  );
});

afterAll(() => service.stop());

const send = (request: string, body: object): Promise<ApiAnswer> => {
  const [method = '', path = ''] = request.split(' ');
  return service.api(
    method,
    path.replace('FACTORY', factory).replace('WEBHOOK', webhook).replace('AUTOMATION', automation),
    body,
  );
};
const errorsOf = ({ body }: ApiAnswer): { pointer: string; message: string }[] => body['errors'] as never;
const pointersOf = (answer: ApiAnswer): string[] =>
  errorsOf(answer)
    .map(({ pointer }) => pointer)
    .toSorted();

const source = { kind: 'git', url: 'http://git.invalid/r', branch: 'a..b', path: '../x', interval: 0 };
const sourcePointers = ['/source/branch', '/source/interval', '/source/path', '/source/url'];
const triggers = [
  { provider: 'schedule', cron: 'never' },
  5,
  { provider: 'webhook', webhook_uids: ['orders', 7], payload: { a: { b: 1 } } },
];
const triggerPointers = [
  '/triggers/0/cron',
  '/triggers/1',
  '/triggers/2/payload/a/b',
  '/triggers/2/webhook_uids/0',
  '/triggers/2/webhook_uids/1',
];
const agent = { idle_timeout_minutes: 61, secrets: [{ name: 'PATH' }, { name: 5 }], mcp_servers: { a: 5, b: {} } };
const agentPointers = [
  '/agent/idle_timeout_minutes',
  '/agent/mcp_servers/a',
  '/agent/mcp_servers/b/url',
  '/agent/secrets/0/name',
  '/agent/secrets/1/name',
];

describe('a malformed body', () => {
  it.each<{ request: string; body: object; pointers: string[]; why: string }>([
    {
      request: 'POST /factory',
      body: { slug: 'No', name: 5, source },
      pointers: ['/name', '/slug', ...sourcePointers],
      why: 'a source is checked beside a wrong slug',
    },
    {
      request: 'POST /factory',
      body: { source: { ...source, kind: 'gti' } },
      pointers: ['/slug', '/source/branch', '/source/interval', '/source/kind', '/source/url'],
      why: 'path may be that of a directory',
    },
    {
      request: 'POST /factory',
      body: { slug: 'x', source: { kind: 'git', url: 5, branch: ['a..b'], path: '../x' } },
      pointers: ['/source/branch', '/source/path', '/source/url'],
      why: 'wrong types are the schema’s',
    },
    {
      request: 'POST /factory',
      body: { slug: 'No', source: 'git' },
      pointers: ['/slug', '/source'],
      why: 'a source may be no object',
    },
    {
      request: 'PATCH /factory/FACTORY',
      body: { name: '', source },
      pointers: ['/name', ...sourcePointers],
      why: 'as on a create',
    },
    {
      request: 'POST /api-keys',
      body: {
        name: '',
        role: 'admin',
        factories: ['x'],
        principal: {},
        principal_uid: 'user_x',
        expires_at: 'soon',
        expires_in_days: 5,
      },
      pointers: [
        '/expires_at',
        '/expires_in_days',
        '/factories/0',
        '/name',
        '/principal/display_name',
        '/principal/type',
        '/principal_uid',
        '/role',
      ],
      why: 'members that exclude each other',
    },
    {
      request: 'POST /factory/FACTORY/webhooks',
      body: {
        name: '',
        description: 5,
        signature_scheme: 'github',
        delivery_id_header: 'Authorization',
        secret: 'short',
      },
      pointers: ['/delivery_id_header', '/description', '/name', '/secret', '/signature_scheme'],
      why: 'a scheme without signatures',
    },
    {
      request: 'POST /factory/FACTORY/webhooks',
      body: { enabled: 'yes', auth_mode: 'signature', signature_scheme: 'githib', delivery_id_header: 'a b' },
      pointers: ['/delivery_id_header', '/enabled', '/name', '/signature_scheme'],
      why: 'a scheme that is none',
    },
    {
      request: 'POST /factory/FACTORY/webhooks',
      body: { name: 'x', enabled: 1, auth_mode: 'signature', delivery_id_header: 'X-GitHub-Event' },
      pointers: ['/delivery_id_header', '/enabled', '/signature_scheme'],
      why: 'signatures without a scheme',
    },
    {
      request: 'POST /factory/FACTORY/webhooks',
      body: { name: 5, auth_mode: 'basic', signature_scheme: 'githib', delivery_id_header: 'Cookie' },
      pointers: ['/auth_mode', '/delivery_id_header', '/name', '/signature_scheme'],
      why: 'a scheme beside a mode that is none',
    },
    {
      request: 'PATCH /factory/FACTORY/webhooks/WEBHOOK',
      body: { name: '', enabled: 5, signature_scheme: 'githib', delivery_id_header: 'Cookie' },
      pointers: ['/delivery_id_header', '/enabled', '/name', '/signature_scheme'],
      why: 'a scheme that is none',
    },
    {
      request: 'PATCH /factory/FACTORY/webhooks/WEBHOOK',
      body: { name: '', auth_mode: 'token', signature_scheme: 'github', delivery_id_header: 5 },
      pointers: ['/delivery_id_header', '/name', '/signature_scheme'],
      why: 'a scheme without signatures',
    },
    {
      request: 'PATCH /factory/FACTORY/webhooks/WEBHOOK',
      body: { name: '', auth_mode: 'signature' },
      pointers: ['/name'],
      why: 'the stored webhook may have a scheme',
    },
    {
      request: 'PATCH /factory/FACTORY/webhooks/WEBHOOK',
      body: { name: '', signature_scheme: null, delivery_id_header: null },
      pointers: ['/name'],
      why: 'null removes',
    },
    {
      request: 'POST /factory/FACTORY/automations',
      body: { name: '', prompt: ' ', triggers, agent, network: { allow: ['a b', 5, 'ok.example'] } },
      pointers: [...agentPointers, '/name', '/network/allow/0', '/network/allow/1', '/prompt', ...triggerPointers],
      why: 'both kinds at every depth',
    },
    {
      request: 'POST /factory/FACTORY/automations',
      body: {
        prompt: ' ',
        triggers: 'x',
        agent: { secrets: 'x', mcp_servers: [], harness: 'x', skill_spec: 'Not one' },
        network: [],
      },
      pointers: [
        '/agent/harness',
        '/agent/mcp_servers',
        '/agent/secrets',
        '/agent/skill_spec',
        '/name',
        '/network',
        '/prompt',
        '/triggers',
      ],
      why: 'wrong types are the schema’s',
    },
    {
      request: 'POST /factory/FACTORY/automations',
      body: {
        name: '',
        prompt: 'x',
        triggers: [{ provider: 'schedule', cron: '@daily' }],
        agent: { skill_spec: 'triage', environment_id: 'prod', secrets: [{ name: 'NPM_TOKEN' }] },
      },
      pointers: ['/name'],
      why: 'only the factory knows what there is to refer to',
    },
    {
      request: 'PATCH /factory/FACTORY/automations/AUTOMATION',
      body: { name: '', enabled: 5, prompt: '\n', triggers, agent: null, network: null },
      pointers: ['/enabled', '/name', '/prompt', ...triggerPointers],
      why: 'null removes',
    },
  ])('of $request is 400 with every member once, because $why', async ({ request, body, pointers }) => {
    const answer = await send(request, body);
    expect({ status: answer.status, pointers: pointersOf(answer) }).toEqual({ status: 400, pointers });
  });

  it.each<{ request: string; body: object; pointer: string; why: string }>([
    {
      request: 'POST /factory/FACTORY/webhooks',
      body: { name: '' },
      pointer: '/name',
      why: 'an empty text has no form',
    },
    {
      request: 'POST /factory/FACTORY/automations',
      body: {
        name: 'x',
        prompt: 'x',
        triggers: [{ provider: 'schedule', cron: '@daily' }],
        agent: { secrets: [{ name: 'PATH' }] },
      },
      pointer: '/agent/secrets/0/name',
      why: 'a name that no secret can have is not looked for',
    },
  ])('is told once that $pointer of $request is wrong: $why', async ({ request, body, pointer }) => {
    expect(pointersOf(await send(request, body))).toEqual([pointer]);
  });
});
