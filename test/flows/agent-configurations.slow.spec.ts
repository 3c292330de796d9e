/**
 * What a configuration asks of an agent is done or said not to be: models, reasoning, desktops, secrets of MCP servers,
 * sandboxes. contract §3.4 (AmbientAgentConfig), §10.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { runIn } from '../support/factories/factory-files.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { nodeArguments } from '../support/processes/node-arguments.ts';

const SECRET = 'a-managed-secret-of-the-run';
const LITERAL = 'a-literal-that-somebody-wrote';

let service: TestService;
let folder: FactoryFolder;
let factoryUid: string;
beforeAll(async () => {
  service = await bootService({
    environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'true', MILLWRIGHT_AGENT_REASONING: 'low' },
  });
  await service.api('PUT', '/secrets/MCP_TOKEN', {
    value: SECRET,
    grants: { factories: '*', uses: ['run'], runs: '*' },
  });
  folder = await factoryFolder({});
  factoryUid = await service.factory('shop', folder.source);
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const steps = (...list: unknown[]): string =>
  `Do it.\n\n\`\`\`demo\n${JSON.stringify([...list, { say: 'done' }])}\n\`\`\`\n`;
interface Ended {
  runId: string;
  run: Record<string, unknown>;
  message: string;
  log: string;
  said: (string | undefined)[];
}
async function ended(config: Record<string, unknown>, prompt = 'Say hello.'): Promise<Ended> {
  const runId = await startedRun(service, prompt, {
    factory_uid: factoryUid,
    config: { ...config, harness: { type: 'builtin', ...(config['harness'] as object | undefined) } },
  });
  const run = await runIn(service, runId, ...ENDED);
  const entries = await logOf(service, runId);
  return {
    runId,
    run,
    message: (run['status_message'] as { message: string }).message,
    log: JSON.stringify(entries),
    said: entries.map(({ payload }) => payload.text),
  };
}
const failed = async (...args: Parameters<typeof ended>): Promise<string> => {
  const { run, message } = await ended(...args);
  expect([run['state'], run['status_message']]).toEqual([
    'FAILED',
    expect.objectContaining({ error_code: 'environment_setup_failed' }),
  ]);
  return message;
};

describe('the agent that comes with the service', () => {
  it('does not let the demo model pass for another one', async () => {
    for (const config of [{ model_id: 'large-1' }, { harness: { model_id: 'large-1' } }]) {
      const message = await failed(config);
      for (const said of ['"large-1"', 'no model is configured', 'leave model_id out', 'MILLWRIGHT_AGENT_BASE_URL'])
        expect(message).toContain(said);
    }
    expect((await ended({ model_id: 'demo' })).run['state']).toBe('SUCCEEDED');
  }, 120_000);

  it('reasons as the run asks, over what the operator set, or says what there is', async () => {
    const shows = steps({ tool: 'bash', input: { command: 'tr "\\0" "\\n" < /proc/$PPID/environ | grep REASONING' } });
    expect((await ended({ harness: { reasoning_level: 'high' } }, shows)).log).toContain(
      'MILLWRIGHT_AGENT_REASONING=high',
    );
    expect((await ended({}, shows)).log).toContain('MILLWRIGHT_AGENT_REASONING=low');
    expect(await failed({ harness: { reasoning_level: 'max' } })).toMatch(/"max".*low, medium, high/);
  }, 120_000);
});

it('what nothing here can heed is said', async () => {
  const { said, run } = await ended({
    harness: { type: 'command', reasoning_level: 'max' },
    computer_use_enabled: true,
  });
  expect(run['state']).toBe('SUCCEEDED');
  expect(said).toContain('reasoning_level is not heeded: the harness command has no such setting');
  expect(said).toContain('computer_use_enabled is not heeded: there is no desktop here');
}, 120_000);

it(
  'an MCP server gets the secrets that it names and is found by its bare name; neither they nor literal values ' +
    'are in log, run or artifacts',
  async () => {
    const servers = {
      tiny: {
        command: 'node',
        args: nodeArguments('test/support/agents/mcp-program.ts', { withLibs: false }),
        env: { GIVEN: 'token ${MCP_TOKEN}', LITERAL_KEY: LITERAL, SHORT: 'seven_7' },
      },
    };
    const variable = (name: string): object => ({ tool: 'mcp__tiny__variable', input: { name } });
    const leak = {
      tool: 'bash',
      input: {
        command:
          `mkdir -p artifacts; echo ${LITERAL.slice(0, 9)}${LITERAL.slice(9)} > artifacts/leak.txt; echo fine > ` +
          'artifacts/fine.txt',
      },
    };
    const { runId, run, log } = await ended(
      { mcp_servers: servers, secrets: [{ name: 'MCP_TOKEN' }] },
      steps(variable('GIVEN'), variable('LITERAL_KEY'), variable('SHORT'), leak),
    );
    expect(run['state']).toBe('SUCCEEDED');
    expect(log).toContain('token [redacted]');
    expect(log).toContain('seven_7');
    expect(log).not.toContain('(not set)');
    for (const value of [SECRET, LITERAL])
      expect([log.includes(value), JSON.stringify(run['artifacts']).includes(value)]).toEqual([false, false]);
    expect((run['agent_config'] as { mcp_servers: unknown }).mcp_servers).toEqual(servers); // as it was written
    expect((run['artifacts'] as { data: { filename?: string } }[]).map(({ data }) => data.filename)).toEqual([
      'fine.txt',
    ]);
    expect(await readFile(join(service.dataDir, 'runs', runId, 'workspace/artifacts/leak.txt'), 'utf8')).toContain(
      LITERAL,
    );

    const message = await failed({ mcp_servers: { tiny: { command: 'node', env: { GIVEN: '${NOT_MINE}' } } } });
    for (const said of ['env.GIVEN', '"tiny"', 'NOT_MINE']) expect(message).toContain(said);
  },
  120_000,
);
