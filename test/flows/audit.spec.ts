/**
 * The audit trail: every changing operation leaves its entry, with who, what, when and from where, and never a value.
 * contract §2.
 */
import { randomUUID } from 'node:crypto';
import { OPERATIONS } from '#contracts';
import { PermissionStore } from '../../apps/server/store/runs/permissions.ts';
import { change } from '../../apps/server/store/database/transactions.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { deliver } from '../support/factories/factory-files.ts';
import { growingFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';
import { askToSignIn, signIn } from '../support/services/sessions.ts';

/** In every secret, prompt, message and payload below; nothing that tells of a change may repeat it. */
const MARKER = 'Marker-0815';
const VALUE = `${MARKER}-of-sixteen-or-more`;
const NOWHERE = '00000000-0000-7000-8000-000000000000';

interface Entry {
  id: string;
  at: string;
  principal: { uid: string; display_name: string };
  key_id: string | null;
  action: string;
  subject: string;
  factory_uid: string | null;
  address: string | null;
  details: Record<string, unknown>;
}

let service: TestService;
/** A factory without files. */
let shop: string;
/** Where the definitions of another one are read. */
let folder: FactoryFolder | undefined;
const ids = new Map<string, string>();

beforeAll(async () => {
  service = await bootService({
    environment: {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
    },
  });
});

afterAll(async () => {
  await service.stop();
  await folder?.remove();
});

/** Calls the API as the first admin; `<name>` in a path stands for the ID that is known by that name. */
async function api(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  const headers = {
    authorization: `Bearer ${service.adminKey}`,
    'if-match': '*',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const answer = await fetch(`${service.url}/api/v1${named(path)}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  const parsed: unknown = text === '' ? {} : JSON.parse(text);
  return {
    status: answer.status,
    headers: answer.headers,
    body: (typeof parsed === 'object' ? parsed : {}) as ApiAnswer['body'],
  };
}

const named = (text: string): string => text.replace(/<(\w+)>/g, (_, name: string) => ids.get(name) ?? '');
const entriesOf = ({ body }: ApiAnswer): Entry[] => body['entries'] as Entry[];
const trail = async (query = ''): Promise<Entry[]> => entriesOf(await service.api('GET', `/audit?limit=500${query}`));

/** Operations that look without changing, or that a forge asks for and nobody with a key. */
const UNTRACED: Readonly<Record<string, string>> = {
  planFactory: 'says what a tree would change',
  testFilter: 'says what a filter would do',
  replayFilter: 'says what a filter would have done',
  suggestFilter: 'makes a filter, and keeps it nowhere',
  validateFactoryFiles: 'says what is wrong with files',
  exchangeToken: 'leaves api_key.exchange for the service account of its key, as token-exchange.spec.ts has it',
  interruptRun: 'leaves run.interrupt of a run that has begun, as interrupts.slow.spec.ts has it',
  interruptConversation: 'the same, of its latest run',
  pushFactory: 'a forge tells of a commit; the pass that follows is in the history of syncs',
};

/**
 * Every other operation that is no GET, in an order in which each has something to change: what it leaves, for what,
 * and a call that does it.
 */
const STORY: [operation: string, action: string, subject: string, act: () => Promise<ApiAnswer>][] = [
  [
    'createFactory',
    'factory.create',
    '<shop>',
    async () => {
      const made = await api('POST', '/factory', { slug: 'shop', source: { kind: 'dashboard' } });
      ids.set('shop', (shop = String(made.body['uid'])));
      return made;
    },
  ],
  ['updateFactory', 'factory.change', '<shop>', () => api('PATCH', '/factory/<shop>', { name: 'Shop' })],
  ['suspendFactory', 'factory.suspend', '<shop>', () => api('POST', '/factory/<shop>/suspend')],
  ['resumeFactory', 'factory.resume', '<shop>', () => api('POST', '/factory/<shop>/resume')],
  [
    'putTeamSecret',
    'secret.create',
    'team-secret',
    () => api('PUT', '/secrets/team-secret', { value: VALUE, grants: { uses: ['webhook', 'run'] } }),
  ],
  ['putTeamSecret', 'secret.change', 'team-secret', () => api('PUT', '/secrets/team-secret', { value: `${VALUE}-2` })],
  [
    'putFactorySecret',
    'secret.create',
    'own-secret',
    () => api('PUT', '/factory/<shop>/secrets/own-secret', { value: VALUE }),
  ],
  [
    'putFactorySecret',
    'secret.change',
    'own-secret',
    () => api('PUT', '/factory/<shop>/secrets/own-secret', { grants: { uses: ['run'] } }),
  ],
  ['deleteFactorySecret', 'secret.delete', 'own-secret', () => api('DELETE', '/factory/<shop>/secrets/own-secret')],
  [
    'createWebhook',
    'webhook.create',
    '<webhook>',
    async () => {
      const made = await api('POST', '/factory/<shop>/webhooks', { name: 'orders', secret_name: 'team-secret' });
      ids.set('webhook', String((made.body['webhook'] as { uid?: string } | undefined)?.uid ?? made.body['uid']));
      return made;
    },
  ],
  [
    'updateWebhook',
    'webhook.change',
    '<webhook>',
    () => api('PATCH', '/factory/<shop>/webhooks/<webhook>', { description: 'orders of the shop' }),
  ],
  [
    'rotateWebhookSecret',
    'webhook.rotate',
    '<webhook>',
    () => api('POST', '/factory/<shop>/webhooks/<webhook>/rotate', {}),
  ],
  [
    'createAutomation',
    'automation.create',
    '<automation>',
    async () => {
      const made = await api('POST', '/factory/<shop>/automations', {
        name: 'triage',
        prompt: `look at it, ${MARKER}`,
        triggers: [{ provider: 'webhook', webhook_uids: [ids.get('webhook')] }],
      });
      ids.set('automation', String(made.body['uid']));
      return made;
    },
  ],
  [
    'resendDelivery',
    'delivery.resend',
    '<entry>',
    async () => {
      await delivered();
      return api('POST', '/factory/<shop>/webhooks/<webhook>/deliveries/<entry>/resend');
    },
  ],
  [
    'updateAutomation',
    'automation.change',
    '<automation>',
    () => api('PATCH', '/factory/<shop>/automations/<automation>', { prompt: `look again, ${MARKER}` }),
  ],
  [
    'deleteAutomation',
    'automation.delete',
    '<automation>',
    () => api('DELETE', '/factory/<shop>/automations/<automation>'),
  ],
  ['deleteWebhook', 'webhook.delete', '<webhook>', () => api('DELETE', '/factory/<shop>/webhooks/<webhook>')],
  ['deleteTeamSecret', 'secret.delete', 'team-secret', () => api('DELETE', '/secrets/team-secret?force=true')],
  ['createRun', 'run.create', '<run>', () => run('/agent/runs')],
  ['runAgent', 'run.create', '<run>', () => run('/agent/run')],
  ['dispatchRun', 'run.create', '<run>', () => run('/factory/<shop>/runs')],
  [
    'createRunFollowup',
    'run.followup',
    '<run>',
    () => api('POST', '/agent/runs/<run>/followups', { message: `and then, ${MARKER}` }),
  ],
  [
    'createConversationFollowup',
    'run.followup',
    '<run>',
    async () => {
      const { body } = await api('GET', '/agent/runs/<run>');
      return api('POST', `/agent/conversations/${String(body['conversation_id'])}/followups`, {
        message: `and then, ${MARKER}`,
      });
    },
  ],
  [
    'answerRunPermission',
    'run.permission',
    '<run>',
    async () => {
      await asking(ids.get('run') ?? '');
      return api('POST', '/agent/runs/<run>/permissions/<permission>', { option_id: `yes, ${MARKER}` });
    },
  ],
  [
    'createAgentIdentity',
    'agent_identity.create',
    '<identity>',
    async () => {
      const made = await api('POST', '/agent/identities', { name: 'reviewer', prompt: MARKER, factory_uid: shop });
      ids.set('identity', String(made.body['uid']));
      return made;
    },
  ],
  [
    'updateAgentIdentity',
    'agent_identity.change',
    '<identity>',
    () => api('PUT', '/agent/identities/<identity>', { prompt: `More of ${MARKER}` }),
  ],
  ['deleteAgentIdentity', 'agent_identity.delete', '<identity>', () => api('DELETE', '/agent/identities/<identity>')],
  [
    'createSchedule',
    'schedule.create',
    '<schedule>',
    async () => {
      const made = await api('POST', '/agent/schedules', {
        name: 'nightly',
        cron_schedule: '0 3 * * *',
        prompt: `look at it, ${MARKER}`,
        factory_uid: shop,
      });
      ids.set('schedule', String(made.body['id']));
      return made;
    },
  ],
  [
    'updateSchedule',
    'schedule.change',
    '<schedule>',
    () =>
      api('PUT', '/agent/schedules/<schedule>', {
        name: 'nightly',
        cron_schedule: '0 4 * * *',
        enabled: true,
        prompt: `look again, ${MARKER}`,
      }),
  ],
  ['pauseSchedule', 'schedule.pause', '<schedule>', () => api('POST', '/agent/schedules/<schedule>/pause')],
  ['resumeSchedule', 'schedule.resume', '<schedule>', () => api('POST', '/agent/schedules/<schedule>/resume')],
  ['deleteSchedule', 'schedule.delete', '<schedule>', () => api('DELETE', '/agent/schedules/<schedule>')],
  ['cancelRun', 'run.cancel', '<run>', () => api('POST', '/agent/runs/<run>/cancel')],
  [
    'createApiKey',
    'api_key.create',
    '<key>',
    async () => {
      const made = await api('POST', '/api-keys', { name: 'a key', role: 'manager', factories: [shop] });
      ids.set('key', String(made.body['id']));
      ids.set('text', String(made.body['key']));
      return made;
    },
  ],
  ['updateApiKey', 'api_key.change', '<key>', () => api('PATCH', '/api-keys/<key>', { name: 'renamed' })],
  ['rotateApiKey', 'api_key.rotate', '<key>', () => api('POST', '/api-keys/<key>/rotate', { overlap_seconds: 60 })],
  ['revokeApiKey', 'api_key.revoke', '<key>', () => api('DELETE', '/api-keys/<key>')],
  [
    'createFederatedCredential',
    'federated_credential.create',
    '<credential>',
    async () => {
      const claims = { sub: ['repo:acme/factory'] };
      const rule = { issuer: 'https://ci.example', audience: 'us', claims, role: 'viewer' };
      const made = await api('POST', '/federated-credentials', { name: 'CI', ...rule });
      ids.set('credential', String(made.body['id']));
      return made;
    },
  ],
  [
    'updateFederatedCredential',
    'federated_credential.change',
    '<credential>',
    () => api('PATCH', '/federated-credentials/<credential>', { role: 'operator' }),
  ],
  [
    'deleteFederatedCredential',
    'federated_credential.delete',
    '<credential>',
    () => api('DELETE', '/federated-credentials/<credential>'),
  ],
  [
    'createSession',
    'session.create',
    '<admin>',
    async () => {
      const made = await askToSignIn(service, { api_key: service.adminKey });
      ids.set('admin', String((made.body['key'] as { id?: string } | undefined)?.id));
      return made;
    },
  ],
  ['deleteSession', 'session.delete', '<admin>', async () => (await signIn(service)).api('DELETE', '/session')],
  [
    'createFactory',
    'factory.create',
    '<files>',
    async () => {
      const { source } = (folder = await growingFolder());
      const policy = { sync_policy: { growth_approval: 'manager' } };
      const made = await api('POST', '/factory', { slug: 'files', source, ...policy });
      ids.set('files', String(made.body['uid']));
      return made;
    },
  ],
  ['syncFactory', 'factory.sync', '<files>', () => api('POST', '/factory/<files>/sync?wait=true')],
  [
    'approvePlan',
    'factory.approve',
    '<files>',
    async () => {
      const { body } = await api('GET', '/factory/<files>/status');
      return api('POST', '/factory/<files>/approve', { plan: (body['last_sync'] as { plan?: string }).plan });
    },
  ],
  ['deleteFactory', 'factory.delete', '<files>', () => api('DELETE', '/factory/<files>')],
];

/** A delivery that was accepted. */
async function delivered(): Promise<void> {
  const { body } = await api('POST', '/factory/<shop>/webhooks/<webhook>/rotate', {});
  await deliver(service.ingressUrl('shop', 'orders'), String(body['secret']), { text: MARKER });
  const log = (await api('GET', '/factory/<shop>/webhooks/<webhook>/deliveries')).body as {
    deliveries?: { entry_id: string }[];
  };
  ids.set('entry', String(log.deliveries?.[0]?.entry_id));
}

async function run(path: string): Promise<ApiAnswer> {
  const made = await api('POST', path, {
    prompt: `do it, ${MARKER}`,
    title: `a title, ${MARKER}`,
    metadata: { ticket: MARKER },
  });
  ids.set('run', String(made.body['run_id']));
  return made;
}

/** Nobody works here: the run asks as if its agent had. */
async function asking(runId: string): Promise<void> {
  const { database } = service.service;
  await database.run(() => change("UPDATE run SET state = 'INPROGRESS' WHERE run_id = ?", runId));
  const permissionId = randomUUID();
  await new PermissionStore(database).ask({ runId, executionId: randomUUID(), epoch: 0 }, permissionId, {
    title: MARKER,
    options: [{ optionId: `yes, ${MARKER}`, name: MARKER, kind: 'allow_once' }],
  });
  ids.set('permission', permissionId);
}

describe('every operation that changes something', () => {
  it('is in the story below, or is known to change nothing', () => {
    const changing = OPERATIONS.flatMap(({ operations }) => operations)
      .filter(({ method }) => method !== 'get')
      .map(({ id }) => id);
    const told = new Set([...STORY.map(([operation]) => operation), ...Object.keys(UNTRACED)]);
    expect(changing.filter((id) => !told.has(id))).toEqual([]);
  });

  it.each(STORY)('%s leaves %s for %s', async (_operation, action, subject, act) => {
    const before = new Set((await trail()).map(({ id }) => id));
    const answer = await act();
    expect({ isDone: [200, 202, 204].includes(answer.status), detail: answer.body['detail'] }).toEqual({
      isDone: true,
      detail: undefined,
    });
    const left = (await trail()).filter(({ id }) => !before.has(id));
    const found = left.filter((entry) => entry.action === action && entry.subject === named(subject));
    expect({ left: left.map((entry) => entry.action), found }).toEqual({
      left: expect.arrayContaining([action]),
      found: [
        expect.objectContaining({
          principal: { uid: 'user_admin', display_name: 'admin' },
          key_id: expect.any(String),
          address: '127.0.0.1',
          at: expect.any(String),
        }),
      ],
    });
  });

  it('tells no secret, no prompt, no message, no payload and no key', async () => {
    const made = await api('POST', '/factory/<shop>/webhooks', { name: 'events' });
    const shown = JSON.stringify(made.body).match(/"secret":\s*"([^"]+)"/)?.[1] ?? '';
    expect(shown).not.toBe('');
    await deliver(service.ingressUrl('shop', 'events'), shown, { text: MARKER });
    const everything = JSON.stringify([
      await trail(),
      await service.service.database.source.query('SELECT * FROM audit_entry'),
    ]);
    for (const secret of [MARKER, shown, String(ids.get('text')), service.adminKey])
      expect(everything).not.toContain(secret);
  });
});

describe('a change that does not happen', () => {
  const refused: [why: string, method: string, path: string, body: unknown][] = [
    ['an approval of what nothing holds', 'POST', '/factory/<shop>/approve', { plan: `sha256:${'0'.repeat(64)}` }],
    ['a value that is none', 'PUT', '/secrets/never', { value: '' }],
    [
      'grants to nobody there is',
      'PUT',
      '/secrets/never',
      { value: VALUE, grants: { factories: ['fac_00000000000000000000000000'] } },
    ],
    ['no such secret', 'DELETE', '/secrets/never', undefined],
    ['no such role', 'POST', '/api-keys', { name: 'x', role: 'root' }],
    ['no such key', 'DELETE', `/api-keys/${NOWHERE}`, undefined],
    ['the last admin key', 'DELETE', '/api-keys/<own>', undefined],
    ['a key that was revoked before', 'DELETE', '/api-keys/<key>', undefined],
    ['a slug that is taken', 'POST', '/factory', { slug: 'shop', source: { kind: 'dashboard' } }],
    ['no such factory', 'PATCH', '/factory/fac_00000000000000000000000000', { name: 'x' }],
    ['no such run', 'POST', `/agent/runs/${NOWHERE}/cancel`, undefined],
    ['no prompt', 'POST', '/agent/runs', {}],
  ];
  it.each(refused)('leaves no entry: %s', async (_why, method, path, body) => {
    ids.set('own', String((await api('GET', '/api-keys/current')).body['id']));
    const before = await trail();
    const { status } = await api(method, path, body);
    expect(status).not.toBe(200);
    expect(await trail()).toEqual(before);
  });
});

describe('the trail', () => {
  it('begins with the first key, which the service made itself', async () => {
    expect((await trail()).at(-1)).toMatchObject({
      action: 'api_key.create',
      principal: { uid: 'system', display_name: 'system' },
      key_id: null,
      address: null,
      subject: ids.get('own'),
    });
  });

  it('names the client as trusted proxies tell of it, as the ingress does', async () => {
    const key = await makeKey(service, 'admin');
    const put = (name: string, forwarded: string): Promise<Response> =>
      fetch(`${service.url}/api/v1/secrets/${name}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-for': forwarded },
        body: '{}',
      });
    await put('behind-one', '203.0.113.9');
    await put('behind-liar', '198.51.100.1, 203.0.113.9');
    const [one] = await trail('&subject=behind-one');
    const [liar] = await trail('&subject=behind-liar');
    // what is left of the right-most untrusted hop is hearsay
    expect([one?.address, liar?.address]).toEqual(['203.0.113.9', '203.0.113.9']);
    expect(one?.principal).toMatchObject({ display_name: 'the admin' });
  });

  it('is filtered by each of its members, all of which have to match', async () => {
    const all = await trail();
    const only = async (query: string): Promise<Entry[]> => trail(`&${query}`);
    expect(await only('action=secret.delete')).toEqual(all.filter(({ action }) => action === 'secret.delete'));
    expect(await only('actor=system')).toEqual(all.filter(({ principal }) => principal.uid === 'system'));
    expect(await only('subject=team-secret')).toEqual(all.filter(({ subject }) => subject === 'team-secret'));
    expect(await only(`factory_uid=${shop}`)).toEqual(all.filter((entry) => entry.factory_uid === shop));
    expect(await only(`factory_uid=${shop}&action=secret.delete`)).toHaveLength(1);
    expect(await only('action=secret.delete&subject=nothing')).toEqual([]);
    const { at } = all[5] as Entry;
    const split = [await only(`since=${at}`), await only(`until=${at}`)];
    expect(split.flat()).toEqual(all);
    expect(split[1]?.every((entry) => entry.at < at)).toBe(true);
    expect(await only(`since=${encodeURIComponent('2030-12-31T23:59:60+00:00')}`)).toEqual([]);
  });

  it('is paged by key, each entry once, and a cursor belongs to its query', async () => {
    const all = await trail();
    const seen: Entry[] = [];
    let next = '';
    do {
      const answer = await service.api('GET', `/audit?limit=7${next}`);
      seen.push(...entriesOf(answer));
      const page = answer.body['page_info'] as { has_next_page: boolean; next_cursor?: string };
      next = page.has_next_page ? `&cursor=${page.next_cursor ?? ''}` : '';
      if (seen.length === 7) await service.secret('made-meanwhile', VALUE);
    } while (next !== '');
    expect(seen).toEqual(all);
    const { next_cursor: cursor = '' } = (await service.api('GET', '/audit?limit=1')).body['page_info'] as {
      next_cursor?: string;
    };
    for (const query of [
      `cursor=${cursor}&action=secret.delete`,
      'cursor=nonsense',
      'since=yesterday',
      'until=2020-01-01',
      'limit=0',
    ]) {
      expect({ query, status: (await service.api('GET', `/audit?${query}`)).status }).toEqual({ query, status: 400 });
    }
  });

  it('is for admins only', async () => {
    for (const key of [await makeKey(service, 'manager'), await makeKey(service, 'admin', { factories: [shop] })])
      expect((await service.api('GET', '/audit', undefined, key)).status).toBe(403);
  });
});
