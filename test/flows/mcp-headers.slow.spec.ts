/** MCP servers whose headers are secret: used by an agent that never has them. contract §10.6 (MCP servers). */
import { randomBytes } from 'node:crypto';
import { profilesWith } from '#agents';
import { startMcpHttpServer, type McpHttpServer } from '../support/agents/mcp-http-server.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { startFakeModelServer, type FakeModelServer } from '../support/models/fake-model-server.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** In no file of the machine. */
const TOKEN = `canary-${randomBytes(16).toString('hex')}`;

let model: FakeModelServer;
let mcp: McpHttpServer;
let service: TestService;
let folder: FactoryFolder;
let factoryUid: string;
beforeAll(async () => {
  model = await startFakeModelServer([]);
  mcp = await startMcpHttpServer(TOKEN);
  service = await bootService({
    environment: {
      MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'm-1',
      MILLWRIGHT_RUN_ALLOW_HOSTS: new URL(mcp.url).host,
    },
  });
  await service.api('PUT', '/secrets/MCP_TOKEN', {
    value: TOKEN,
    grants: { factories: '*', uses: ['run'], runs: '*' },
  });
  folder = await factoryFolder({ webhooks: {}, automations: {} });
  await folder.writeFile('factory.yaml', 'name: Shop\n');
  factoryUid = await service.factory('shop', folder.source);
});
afterAll(async () => {
  await service.stop();
  await mcp.close();
  await model.close();
  await folder.remove();
});

it('its tools are there and its header is not, in any process or answer', async () => {
  const settings = "tr '\\0' '\\n' < /proc/$PPID/environ; cat $HOME/.millwright-agent/* 2>/dev/null";
  model.script = [{ tools: [{ name: 'bash', input: { command: settings } }] }, { text: 'Done.' }];
  const runId = await startedRun(service, 'Look.', {
    factory_uid: factoryUid,
    config: {
      harness: { type: 'builtin' },
      secrets: [{ name: 'MCP_TOKEN', host: new URL(mcp.url).host, header: 'Authorization' }],
      mcp_servers: { tiny: { url: `${mcp.url}/mcp`, headers: { Authorization: 'Bearer ${MCP_TOKEN}' } } },
    },
  });
  const item = await eventually(
    'the run ends',
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return ENDED.includes(String(body['state'])) ? body : undefined;
    },
    60_000,
  );
  const log = JSON.stringify(await logOf(service, runId));
  expect([item['state'], log]).toEqual(['SUCCEEDED', expect.not.stringContaining('could not be started')]);
  expect(model.requests[0]?.tools.some((name) => name.includes('tiny'))).toBe(true);
  const told = JSON.stringify(model.requests.at(-1)?.messages);
  expect(told).toContain('MCP_TOKEN=mw-placeholder-');
  expect(told).not.toContain(TOKEN);
  expect(log).not.toContain(TOKEN);
});

describe('a secret that is for hosts', () => {
  const put = async (name: string, hosts: string[] | null): Promise<void> => {
    const grants = { factories: '*', uses: ['run'], runs: '*', hosts };
    expect((await service.api('PUT', `/secrets/${name}`, { value: TOKEN, grants })).status).toBe(200);
  };
  const ended = async (config: Record<string, unknown>): Promise<string> => {
    const runId = await startedRun(service, 'Look.', { factory_uid: factoryUid, config });
    const item = await eventually(
      'the run ends',
      async () => {
        const { body } = await service.api('GET', `/agent/runs/${runId}`);
        return ENDED.includes(String(body['state'])) ? body : undefined;
      },
      60_000,
    );
    return JSON.stringify([item['state'], item['status_message']]);
  };
  const withHeader = (name: string): Promise<string> =>
    ended({
      harness: { type: 'builtin' },
      secrets: [{ name, expose: 'env' }],
      mcp_servers: { tiny: { url: `${mcp.url}/mcp`, headers: { Authorization: `Bearer \${${name}}` } } },
    });

  it('is not sent to an MCP server on another one, also where it is inside', async () => {
    model.script = [{ text: 'Done.' }];
    await put('FOR_ELSEWHERE', ['elsewhere.test']);
    const before = mcp.accepted.length;
    const said = await withHeader('FOR_ELSEWHERE');
    expect(said).toContain('FAILED');
    expect(said).toContain(
      'the MCP server \\"tiny\\": the secret FOR_ELSEWHERE is for elsewhere.test and is not sent to ' +
        new URL(mcp.url).host,
    );
    expect(mcp.accepted).toHaveLength(before);
    await put('FOR_ELSEWHERE', ['elsewhere.test', new URL(mcp.url).host]);
    expect(await withHeader('FOR_ELSEWHERE')).toContain('SUCCEEDED');
  });

  it('and has none yet, is for the first server that it is sent to', async () => {
    await put('UNBOUND', null);
    expect(await withHeader('UNBOUND')).toContain('SUCCEEDED');
    const secrets = (await service.api('GET', '/secrets')).body['secrets'] as { name: string; grants: unknown }[];
    expect(secrets.find(({ name }) => name === 'UNBOUND')?.grants).toMatchObject({ hosts: [new URL(mcp.url).host] });
  });

  it('is no key of a model on another one', async () => {
    const own = await bootService({
      profiles: profilesWith([{ id: 'qwen', command: ['/bin/cat'], env: { OPENAI_BASE_URL: `${model.url}/v1` } }]),
    });
    const grants = { factories: '*', uses: ['run'], runs: '*', hosts: ['api.openai.com'] };
    await own.api('PUT', '/secrets/OPENAI_API_KEY', { value: TOKEN, grants });
    const uid = await own.factory('shop', folder.source);
    const runId = await startedRun(own, 'Look.', {
      factory_uid: uid,
      config: { harness: { type: 'qwen' }, secrets: [{ name: 'OPENAI_API_KEY' }] },
    });
    const { body } = await eventually('it ends', async () => {
      const answer = await own.api('GET', `/agent/runs/${runId}`);
      return ENDED.includes(String(answer.body['state'])) ? answer : undefined;
    });
    await own.stop();
    expect(JSON.stringify(body['status_message'])).toContain(
      'the model endpoint \\"openai\\": the secret OPENAI_API_KEY is for api.openai.com and is not sent to',
    );
  });
});
