/**
 * Every list of the interface that comes in pages, read to its end in pages of every size: no page is empty and says
 * that there is more, nothing is there twice, and nothing is left out. contract §3.7 (List).
 */
import { openApiDocument } from '#contracts';
import { insert } from '../../apps/server/store/database/transactions.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { ENDED } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** Entries of each list, at least; pages of one, of two and of all of them end behind the last one, and before it. */
const ENTRIES_MIN = 2;
const WHOLE = 50;
const LIMITS = [1, 2, 3, WHOLE];
const TOKEN = 'a-token-of-sixteen-or-more';

interface Operation {
  path: string;
  id: string;
  /** The member of its answer that has the entries. */
  member: string;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  [key: string]: unknown;
}

const PAGED: readonly Operation[] = pagedOperations();

let service: TestService;
let folder: FactoryFolder;
const place: Record<string, string> = {};

beforeAll(async () => {
  service = await bootService({
    environment: {
      MILLWRIGHT_RUN_COMMAND: '',
      MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_API_RATE: '0',
    },
  });
  const { api } = service;
  await service.secret('hook-token', TOKEN);
  await service.secret('forge-token', TOKEN);
  folder = await factoryFolder({
    webhooks: { orders: { secretName: 'hook-token' } },
    automations: { act: { webhooks: ['orders'], prompt: 'x' }, look: { webhooks: ['orders'], prompt: 'y' } },
  });
  const uid = await service.factory('listed', folder.source);
  await folder.writeFile('automations/third/automation.md', '---\ntriggers: []\n---\nx\n');
  await api('POST', `/factory/${uid}/sync?wait=true`);
  Object.assign(place, { factory_uid: uid, webhook_uid: service.webhookUid('listed', 'orders') });
  for (const name of ['one', 'two']) {
    await api('PUT', `/factory/${uid}/secrets/${name}`, { value: TOKEN });
    await makeKey(service, 'viewer');
    await fetch(service.ingressUrl('listed', 'orders'), {
      method: 'POST',
      body: JSON.stringify({ name }),
      headers: { authorization: `Bearer ${TOKEN}` },
    });
  }
  const steps = JSON.stringify([
    { say: 'first' },
    { tool: 'bash', input: { command: 'echo hello' } },
    { say: 'second' },
  ]);
  const prompt = `Do this.\n\n\`\`\`demo\n${steps}\n\`\`\`\n`;
  const run = String((await api('POST', '/agent/runs', { prompt })).body['run_id']);
  Object.assign(place, { run_id: run, conversation_id: run });
  await eventually(
    'the run has ended',
    async () => ((await api('GET', `/agent/runs/${run}`)).body['state'] === 'SUCCEEDED' ? true : undefined),
    120_000,
  );
  await api('POST', `/agent/runs/${run}/followups`, { message: prompt });
  await eventually(
    'every run has ended',
    async () => {
      const runs = (await api('GET', '/agent/runs?limit=100')).body['runs'] as { state: string }[];
      return runs.every(({ state }) => ENDED.includes(state)) || undefined;
    },
    120_000,
  );
  const git = {
    kind: 'git',
    url: 'https://git.example.com/acme/birds.git',
    forge: 'gitea',
    forge_secret: 'forge-token',
  };
  const pulled = await api('POST', '/factory', { slug: 'pulled', source: git });
  place['pulled_uid'] = String(pulled.body['uid']);
  await api('POST', `/factory/${place['pulled_uid']}/suspend`);
  await service.service.database.run(() =>
    insert(
      'pull_request',
      ['factory_uid', 'number', 'title', 'author', 'url', 'head', 'base', 'is_fork', 'state', 'attempts', 'updated_at'],
      [1, 2, 3].map((number) => [
        place['pulled_uid'] ?? '',
        number,
        'x',
        'ada',
        `https://git.example.com/acme/birds/pulls/${number}`,
        String(number).repeat(40),
        'main',
        0,
        'open',
        0,
        1,
      ]),
    ),
  );
}, 300_000);
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

it('is known of every list that has pages', () => {
  expect(PAGED.map(({ id }) => id).toSorted()).toEqual([
    'getConversation',
    'getRunConversation',
    'listApiKeys',
    'listAuditEntries',
    'listAutomations',
    'listDeliveries',
    'listFactories',
    'listFactoryEvents',
    'listFactorySecrets',
    'listPullRequests',
    'listRuns',
    'listSyncs',
    'listTasks',
    'listTeamSecrets',
  ]);
});

describe.each(PAGED)('$id', ({ path, id, member }) => {
  it.each(LIMITS)('ends with its last entry, in pages of %d', async (limit) => {
    const whole = await pagesOf({ path, id, member }, WHOLE);
    expect(whole.flat().length).toBeGreaterThanOrEqual(ENTRIES_MIN);
    const pages = await pagesOf({ path, id, member }, limit);
    expect(pages.filter((page) => page.length === 0)).toEqual([]);
    expect(pages.slice(0, -1).filter((page) => page.length > limit)).toEqual([]);
    // Looking is no entry of the trail, and nothing else happens meanwhile.
    expect(pages.flat()).toEqual(whole.flat());
  });
});

/** Entries of each page, to the last one. */
async function pagesOf({ path, id, member }: Operation, limit: number): Promise<string[][]> {
  const named = { ...place, ...(id === 'listPullRequests' ? { factory_uid: place['pulled_uid'] ?? '' } : {}) };
  const at = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => named[name as keyof typeof named] ?? name);
  const pages: string[][] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await service.api('GET', `${at}?limit=${limit}${cursor}`);
    expect(status).toBe(200);
    // When a key was last used is written down at any time, by the calls made here, too.
    const entries = (body[member] as object[]).map((entry) => JSON.stringify({ ...entry, last_used_at: undefined }));
    const { has_next_page: hasMore, next_cursor: next } = body['page_info'] as {
      has_next_page: boolean;
      next_cursor?: string;
    };
    expect({ entries: entries.length > 0 || !hasMore, next: typeof next === 'string' }).toEqual({
      entries: true,
      next: hasMore,
    });
    pages.push(entries);
    if (!hasMore || pages.length > 1_000) return pages;
    cursor = `&cursor=${encodeURIComponent(next ?? '')}`;
  }
}

function pagedOperations(): Operation[] {
  const document = openApiDocument('') as unknown as {
    paths: Record<string, { get?: Schema & { operationId: string; responses: Record<string, Schema> } }>;
    components: { schemas: Record<string, Schema> };
  };
  const resolved = (schema: Schema | undefined): Schema =>
    schema?.$ref === undefined
      ? (schema ?? {})
      : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    const content = get?.responses['200']?.['content'] as Record<string, { schema: Schema }> | undefined;
    const { properties = {} } = resolved(content?.['application/json']?.schema);
    if (get === undefined || properties['page_info'] === undefined) return [];
    const [member] = Object.entries(properties).find(([, schema]) => resolved(schema).type === 'array') ?? [''];
    return [{ path, id: get.operationId, member }];
  });
}
