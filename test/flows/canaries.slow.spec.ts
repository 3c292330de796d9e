/**
 * Forty secrets of a run, its model's key and its server's header, looked for in everything that its sandbox has while
 * its agent works. contract §10.3 (Model calls), §10.4 (Declared injections).
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startMcpHttpServer, type McpHttpServer } from '../support/agents/mcp-http-server.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { startFakeModelServer, type FakeModelServer } from '../support/models/fake-model-server.ts';
import { searchRun } from '../support/processes/canary-search.ts';
import { startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** What all values that are to stay outside begin with, and one that is inside on purpose. */
const CANARY = `canary-${randomBytes(12).toString('hex')}`;
const CONTROL = `control-${randomBytes(12).toString('hex')}`;
const NAMES = Array.from({ length: 40 }, (_, index) => `SECRET_${index}`);

let model: FakeModelServer;
let mcp: McpHttpServer;
let service: TestService;
let folder: FactoryFolder;
let factoryUid: string;
beforeAll(async () => {
  model = await startFakeModelServer([]);
  mcp = await startMcpHttpServer(`${CANARY}-SECRET_0`);
  service = await bootService({
    environment: {
      MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'm-1',
      MILLWRIGHT_AGENT_API_KEY: `${CANARY}-model`,
      MILLWRIGHT_RUN_ALLOW_HOSTS: new URL(mcp.url).host,
    },
  });
  const grants = { factories: '*', uses: ['run'], runs: '*' };
  for (const name of NAMES) await service.api('PUT', `/secrets/${name}`, { value: `${CANARY}-${name}`, grants });
  await service.api('PUT', '/secrets/CONTROL', { value: CONTROL, grants });
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

it('none of them is in a variable, a word, a file or the memory of any process; one that is exposed is', async () => {
  model.script = [
    { tools: [{ name: 'bash', input: { command: 'env | tee env.txt; sleep 987 >/dev/null 2>&1 &' } }] },
    { tools: [{ name: 'mcp__tiny__add', input: { a: 1, b: 2 } }] },
    { fault: 'stall', text: 'Let me think' },
  ];
  const hostOf = (index: number): string => (index === 0 ? new URL(mcp.url).host : `host-${index}.test`);
  const runId = await startedRun(service, 'Look around.', {
    factory_uid: factoryUid,
    config: {
      harness: { type: 'builtin' },
      secrets: [
        ...NAMES.map((name, index) => ({ name, host: hostOf(index), header: 'Authorization' })),
        { name: 'CONTROL', expose: 'env' },
      ],
      mcp_servers: { tiny: { url: `${mcp.url}/mcp`, headers: { Authorization: 'Bearer ${SECRET_0}' } } },
    },
  });
  await eventually('the agent thinks', async () => (model.requests.length === 3 ? true : undefined), 60_000);
  expect(model.requests[0]?.headers.authorization).toBe(`Bearer ${CANARY}-model`);
  expect(JSON.stringify(model.requests[2]?.messages)).toContain('SECRET_39=mw-placeholder-');
  const place = join(service.dataDir, 'runs', runId);
  const searched = await searchRun(runId, place, CANARY);
  expect(searched.found).toEqual([]);
  expect(searched.processes).toBeGreaterThanOrEqual(3);
  expect(searched.memoryBytes).toBeGreaterThan(10_000_000);
  // The same search finds what is there.
  const { found } = await searchRun(runId, place, CONTROL);
  expect(found).toEqual(
    expect.arrayContaining([expect.stringMatching(/^environ of/), expect.stringMatching(/^memory of/)]),
  );
  expect(found).toEqual(expect.arrayContaining([expect.stringMatching(/env\.txt$/)]));
  await service.api('POST', `/agent/runs/${runId}/cancel`);
  console.log(
    `canaries: 0 found in ${searched.processes} processes, ${Math.round(searched.memoryBytes / 1_048_576)} MiB, ` +
      `${searched.files} files`,
  );
}, 120_000);
