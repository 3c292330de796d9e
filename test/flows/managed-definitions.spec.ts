/**
 * Webhooks and automations that files decide are read-only: every change is refused with the file, the key and the text
 * that does it, and that text does exactly it. contract §4.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readDefinitions } from '#definitions';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const ORDERS = '# Orders of the shop.\nauthMode: token   # the default\nsecretName: hook # of the team\n';
const TRIAGE = `---
# What to do with them.
triggers:
- provider: webhook
  event: received
  filter: {webhooks: [orders],   payload: {status: ["failed"]}} # only these
skill: sorting
---

Look at the order.

Then tell us.
`;

let mill: TestService;
let folder: string;
let factory: string;
let manager: string;
let orders: string;
let triage: string;

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  folder = await mkdtemp(join(tmpdir(), 'managed-'));
  await mill.secret('hook', 'a-token-of-some-length');
  await mill.secret('other', 'another-token-of-length');
  await write('webhooks/orders.yaml', ORDERS);
  await write('automations/triage/automation.md', TRIAGE);
  await write('skills/sorting/SKILL.md', 'How to sort.\n');
  factory = await mill.factory('shop', { kind: 'directory', path: folder });
  manager = await makeKey(mill, 'manager', { factories: [factory] });
  orders = mill.webhookUid('shop', 'orders');
  triage = String(
    ((await mill.api('GET', `/factory/${factory}/automations`)).body['automations'] as { uid: string }[])[0]?.uid,
  );
});

afterAll(async () => {
  await mill.stop();
  await rm(folder, { recursive: true });
});

afterEach(async () => {
  await write('webhooks/orders.yaml', ORDERS);
  await write('automations/triage/automation.md', TRIAGE);
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

interface Proposal {
  file: string;
  key: string | null;
  edited_text: string | null;
  new_file?: string;
  secret_name?: string;
}

async function ask(method: string, path: string, body?: object): Promise<ApiAnswer> {
  const headers = {
    authorization: `Bearer ${manager}`,
    'if-match': '*',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const answer = await fetch(`${mill.url}/api/v1/factory/${factory}${path}`, {
    method,
    headers,
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as ApiAnswer['body'] };
}

/** What the refusal of a change proposes. */
async function proposed(method: string, path: string, body?: object): Promise<Proposal> {
  const before = [
    (await mill.api('GET', `/factory/${factory}/webhooks`)).body,
    (await mill.api('GET', `/factory/${factory}/automations`)).body,
  ];
  const answer = await ask(method, path, body);
  expect(answer).toMatchObject({
    status: 409,
    body: { error: 'conflict', retryable: false, detail: expect.stringContaining('managed in its files') },
  });
  expect(answer.headers.get('x-should-retry')).toBe('false');
  expect([
    (await mill.api('GET', `/factory/${factory}/webhooks`)).body,
    (await mill.api('GET', `/factory/${factory}/automations`)).body,
  ]).toEqual(before);
  return answer.body as unknown as Proposal;
}

/** Commits the proposal and answers what the API shows then. */
async function committed(
  { file, new_file: newFile, edited_text: text }: Proposal,
  path: string,
): Promise<Record<string, unknown>> {
  await write(newFile ?? file, text ?? '');
  expect((await mill.sync(factory))['condition']).toMatchObject({ ending: 'applied' });
  return (await mill.api('GET', `/factory/${factory}${path}`)).body;
}

const webhookPath = (): string => `/webhooks/${orders}`;
const automationPath = (): string => `/automations/${triage}`;

it('shows the file that decides', async () => {
  expect((await mill.api('GET', `/factory/${factory}${webhookPath()}`)).body).toMatchObject({
    file: 'webhooks/orders.yaml',
    name: 'orders',
    slug: 'orders',
    used_by_automations: [{ uid: triage, slug: 'triage' }],
  });
  expect((await mill.api('GET', `/factory/${factory}${automationPath()}`)).body).toMatchObject({
    file: 'automations/triage/automation.md',
    name: 'triage',
    last_fired_at: null,
  });
});

describe('a webhook', () => {
  it.each<{ body: object; key: string; text: string; shows: object; why: string }>([
    {
      why: 'toggled',
      body: { enabled: false },
      key: 'enabled',
      text: `${ORDERS}enabled: false\n`,
      shows: { enabled: false },
    },
    {
      why: 'with another secret',
      body: { secret_name: 'other' },
      key: 'secretName',
      text: ORDERS.replace('secretName: hook', 'secretName: other'),
      shows: { secret_name: 'other' },
    },
    {
      why: 'with a delivery ID header',
      body: { delivery_id_header: 'X-Id' },
      key: 'deliveryIdHeader',
      text: `${ORDERS}deliveryIdHeader: X-Id\n`,
      shows: { delivery_id_header: 'x-id' },
    },
    {
      why: 'of another mode',
      body: { auth_mode: 'url_token', description: 'yes: # no' },
      key: 'authMode, description',
      text: `${ORDERS.replace('authMode: token', 'authMode: url_token')}description: "yes: # no"\n`,
      shows: { auth_mode: 'url_token', description: 'yes: # no' },
    },
  ])('is changed in its file: $why', async ({ body, key, text, shows }) => {
    const before = (await mill.api('GET', `/factory/${factory}${webhookPath()}`)).body;
    const proposal = await proposed('PATCH', webhookPath(), body);
    expect(proposal).toMatchObject({ file: 'webhooks/orders.yaml', key });
    expect(proposal.edited_text).toBe(text);
    const after = await committed(proposal, webhookPath());
    expect(after).toEqual({
      ...before,
      ...shows,
      ingress_url: after['ingress_url'],
      revision: after['revision'],
      version: Number(before['version']) + 1,
      updated_at: after['updated_at'],
    });
    await write('webhooks/orders.yaml', ORDERS);
    await mill.sync(factory);
  });

  it('is edited in the text that was applied last, comments included, though nothing else in it changed', async () => {
    await write('webhooks/orders.yaml', `${ORDERS}# A new remark.\n`);
    await mill.sync(factory);
    expect((await proposed('PATCH', webhookPath(), { enabled: false })).edited_text).toBe(
      `${ORDERS}# A new remark.\nenabled: false\n`,
    );
    await write('webhooks/orders.yaml', ORDERS);
    await mill.sync(factory);
  });

  it('is made by a new file', async () => {
    const proposal = await proposed('POST', '/webhooks', {
      name: 'Orders',
      auth_mode: 'signature',
      signature_scheme: 'github',
      secret: 'Marker-4711',
      description: 'New.',
    });
    expect(proposal).toMatchObject({ file: 'webhooks/orders-2.yaml', key: null, secret_name: 'orders-2-webhook' });
    expect(JSON.stringify(proposal)).not.toContain('Marker-4711');
    await mill.secret('orders-2-webhook', 'of the provider');
    const made = await committed(proposal, `/webhooks/${mill.webhookUid('shop', 'orders-2')}`);
    expect(made).toMatchObject({
      slug: 'orders-2',
      auth_mode: 'signature',
      signature_scheme: 'github',
      secret_name: 'orders-2-webhook',
      description: 'New.',
      enabled: true,
    });
  });

  it('is renamed by moving its file, which makes another one', async () => {
    const proposal = await proposed('PATCH', webhookPath(), { name: 'Shop orders', enabled: false });
    expect(proposal).toMatchObject({
      file: 'webhooks/orders.yaml',
      key: null,
      new_file: 'webhooks/shop-orders.yaml',
      edited_text: `${ORDERS}enabled: false\n`,
    });
  });

  it('is rotated by its secret and deleted by removing its file', async () => {
    expect(await proposed('POST', `${webhookPath()}/rotate`)).toMatchObject({
      file: 'webhooks/orders.yaml',
      key: 'secretName',
      edited_text: null,
      secret_name: 'hook',
      detail: expect.stringContaining('millwright secrets set hook'),
    });
    expect(await proposed('DELETE', webhookPath())).toMatchObject({
      file: 'webhooks/orders.yaml',
      key: null,
      edited_text: null,
      detail: expect.stringMatching(
        /remove the file webhooks\/orders\.yaml; .* at once, .*grant hook --uses none.*delete hook --force/,
      ),
    });
  });

  it.each([
    { body: { delivery_id_header: 'Cookie' }, pointer: '/delivery_id_header' },
    { body: { auth_mode: 'signature', signature_scheme: 'slack' }, pointer: '/signature_scheme' },
  ])('is not proposed what would not apply: $body', async ({ body, pointer }) => {
    expect(await ask('PATCH', webhookPath(), body)).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    expect(await ask('POST', '/webhooks', { name: 'x', ...body })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer }] },
    });
  });
});

describe('an automation', () => {
  it('is edited in its file', async () => {
    const before = (await mill.api('GET', `/factory/${factory}${automationPath()}`)).body;
    const proposal = await proposed('PATCH', automationPath(), {
      enabled: false,
      agent: { model_id: 'm-1', skill_spec: 'sorting' },
      prompt: 'Look twice.',
    });
    expect(proposal).toMatchObject({
      file: 'automations/triage/automation.md',
      key: 'enabled, model, skill, the prompt',
    });
    expect(proposal.edited_text).toBe(
      `${TRIAGE.slice(0, TRIAGE.lastIndexOf('---'))}enabled: false\nmodel: m-1\n---\n\nLook twice.\n`,
    );
    const after = await committed(proposal, automationPath());
    expect(after).toEqual({
      ...before,
      enabled: false,
      agent: { model_id: 'm-1', skill_spec: 'sorting' },
      prompt: 'Look twice.',
      version: Number(before['version']) + 1,
      revision: after['revision'],
      updated_at: after['updated_at'],
    });
    const [automation] = readDefinitions([{ path: proposal.file, content: Buffer.from(proposal.edited_text ?? '') }])
      .definitions.automations;
    expect(automation?.triggers).toEqual([
      { provider: 'webhook', webhookIds: [], webhookNames: ['orders'], payload: { status: ['failed'] } },
    ]); // names stay names
  });

  it('gets other triggers in its file, and keeps its comments', async () => {
    await mill.sync(factory);
    const proposal = await proposed('PATCH', automationPath(), {
      triggers: [
        { provider: 'webhook', webhook_uids: [orders], payload: { ok: ['no'] } },
        { provider: 'schedule', cron: '@daily' },
      ],
    });
    expect(proposal).toMatchObject({
      key: 'triggers',
      edited_text: expect.stringContaining('# What to do with them.'),
    });
    expect(await committed(proposal, automationPath())).toMatchObject({
      triggers: [
        { provider: 'webhook', webhook_uids: [orders], payload: { ok: ['no'] } },
        { provider: 'schedule', cron: '@daily' },
      ],
      prompt: 'Look at the order.\n\nThen tell us.',
    });
  });

  it('is made by a new file, renamed by another one, deleted by removing it', async () => {
    await mill.sync(factory);
    const body = {
      name: 'Nightly',
      triggers: [{ provider: 'schedule', cron: '0 3 * * *', name: 'at night' }],
      prompt: 'Clean up.\n---\nAnd rest.',
      agent: { secrets: [], base_prompt: 'a\n\nb\n' },
      limits: { minutes: 9 },
    };
    const proposal = await proposed('POST', '/automations', body);
    expect(proposal).toMatchObject({ file: 'automations/nightly/automation.md', key: null });
    await write(proposal.file, proposal.edited_text ?? '');
    await mill.sync(factory);
    const listed = (await mill.api('GET', `/factory/${factory}/automations`)).body['automations'] as Record<
      string,
      unknown
    >[];
    expect(listed.find(({ slug }) => slug === 'nightly')).toMatchObject({ ...body, name: 'nightly' });
    expect(await proposed('PATCH', automationPath(), { name: 'Sorting' })).toMatchObject({
      file: 'automations/triage/automation.md',
      key: null,
      new_file: 'automations/sorting/automation.md',
      edited_text: TRIAGE,
    });
    expect(await proposed('DELETE', automationPath())).toMatchObject({
      file: 'automations/triage/automation.md',
      key: null,
      edited_text: null,
    });
  });

  it('is not proposed what would not apply', async () => {
    expect(await ask('PATCH', automationPath(), { triggers: [{ provider: 'schedule', cron: 'never' }] })).toMatchObject(
      { status: 400, body: { errors: [{ pointer: '/triggers/0/cron' }] } },
    );
  });
});

it('who may not change it is told so before anything else, and of what is not there nobody is told more', async () => {
  const viewer = await makeKey(mill, 'viewer', { factories: [factory] });
  expect((await mill.api('PATCH', `/factory/${factory}${webhookPath()}`, { enabled: false }, viewer)).status).toBe(403);
  expect((await ask('PATCH', `/webhooks/wh_${'0'.repeat(26)}`, { enabled: false })).status).toBe(404);
  expect((await ask('DELETE', `/automations/auto_${'0'.repeat(26)}`)).status).toBe(404);
  expect(await readFile(join(folder, 'webhooks/orders.yaml'), 'utf8')).toBe(ORDERS);
});
