/**
 * A newcomer's first run on a machine without any sandbox and without a model: it succeeds, and says what is missing.
 * spec: What the service does.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import 'reflect-metadata';
import type { Service } from '../../apps/server/bootstrap.ts';
import { start } from '../../apps/server/start.ts';
import { patternOf } from '../support/patterns.ts';
import { freePort } from '../support/network/ports.ts';
import { call } from '../support/services/recorded-io.ts';
import { eventually } from '../support/services/service.ts';
import { SUITE_AGENT } from '../support/agents/suite-agent.ts';

let folder: string;
let service: Service | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'first-run-'));
});

afterEach(async () => {
  await service?.stop();
  service = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function begun(environment: Record<string, string>): Promise<string> {
  let said = '';
  const stdout = new PassThrough();
  stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const all = {
    MILLWRIGHT_PORT: String(await freePort()),
    MILLWRIGHT_DATA_DIR: join(folder, 'data'),
    MILLWRIGHT_DISK_RESERVE_MB: '1',
    MILLWRIGHT_LOG_LEVEL: 'error',
    ...environment,
  };
  const answer = await start([], {
    environment: all,
    cwd: folder,
    stdout,
    stderr: new PassThrough(),
    builtInAgent: SUITE_AGENT,
  });
  if (typeof answer === 'number') throw new Error(`the service ended with ${answer}`);
  service = answer;
  await new Promise((resolve) => setImmediate(resolve));
  return said;
}

/** As a person on the same machine: no key is named, because it lies in the data folder. */
const millwright = (...argv: string[]): ReturnType<typeof call> =>
  call(argv, {
    environment: { MILLWRIGHT_SERVER: service?.config.publicUrl, MILLWRIGHT_DATA_DIR: join(folder, 'data') },
  });

it('without sandbox and model it succeeds, and says both', async () => {
  const printed = await begun({ PATH: '/nowhere' });
  expect(printed).toMatch(
    patternOf(
      /\nSandbox for runs: bare .*\n {2}Runs are NOT fully isolated on this machine.* /,
      /Agents that take commands do not start like this; the demo model .*Install bubblewrap/,
    ),
  );
  expect(printed).toMatch(
    patternOf(
      /\nRuns get: the built-in agent with the demo model, because no model is configured\n/,
      / {2}To have a real one, set MILLWRIGHT_AGENT_BASE_URL/,
    ),
  );
  expect(printed).toContain('millwright.mjs run --prompt "Say hello" --follow');

  const { code, out, err } = await millwright('run', '--prompt', 'Say hello', '--follow');
  expect(code).toBe(0);
  expect(out).toMatch(/^You asked: "Say hello"\. I wrote report\.md\.\n/);
  expect(err).toMatch(/\n-- this run is NOT isolated: .*install bubblewrap where the service runs/);
  expect(err).toContain('\n-- no model is configured: the demo model answers\n');
  expect(err).toMatch(/\n>> \$ ls -1A\n( {3}\| .*\n)+/);
  expect(err).toMatch(
    patternOf(
      /\n-- [\d,]+ of 128,000 tokens of context\n/,
      /-- SUCCEEDED: the demo model has answered, because no model is configured; set MILLWRIGHT_AGENT_BASE_URL/,
    ),
  );

  const id = /^run (\S+)\n/.exec(err)?.[1] ?? '';
  const run = JSON.parse((await millwright('runs', 'get', id, '--format', 'json')).out) as Record<string, unknown>;
  expect(run).toMatchObject({
    state: 'SUCCEEDED',
    agent_config: { model_id: 'demo', harness: { type: 'oz' } },
    artifacts: [{}],
  });
}, 120_000);

it('an agent that would take commands does not start there, and says why', async () => {
  const printed = await begun({
    PATH: '/nowhere',
    MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:9/v1',
    MILLWRIGHT_AGENT_MODEL: 'some-model',
  });
  expect(printed).toContain('\nRuns get: the built-in agent with the model some-model of http://127.0.0.1:9\n');
  const { code, err } = await millwright('run', '--prompt', 'Say hello', '--follow');
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /FAILED: an agent takes commands, and this machine has no complete sandbox.*install bubblewrap/,
    ),
  ]);
}, 120_000);

it('a model that is configured by half is said at the start', async () => {
  expect(await begun({ MILLWRIGHT_AGENT_MODEL: 'some-model' })).toMatch(
    patternOf(
      /\nRuns get: the built-in agent, which CANNOT WORK like this\n/,
      / {2}MILLWRIGHT_AGENT_MODEL names a model, but neither/,
    ),
  );
}, 120_000);

it.each(['command', 'url'])(
  'a request that brings an MCP server by %s does not start there, though the demo model would',
  async (kind) => {
    await begun({ PATH: '/nowhere' });
    const key = readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const api = `${service?.config.publicUrl}/api/v1/agent/runs`;
    const made = join(folder, 'made');
    const server =
      kind === 'command'
        ? { command: '/usr/bin/touch', args: [made] }
        : { url: `${service?.config.publicUrl}/api/v1/agent/runs`, headers };
    const body = JSON.stringify({ prompt: 'x', config: { mcp_servers: { tool: server } } });
    const { run_id: runId } = (await (await fetch(api, { method: 'POST', headers, body })).json()) as {
      run_id: string;
    };
    const run = await eventually('its end', async () => {
      const found = (await (await fetch(`${api}/${runId}`, { headers })).json()) as { state: string };
      return found.state === 'FAILED' || found.state === 'SUCCEEDED' ? found : undefined;
    });
    expect(run).toMatchObject({
      state: 'FAILED',
      status_message: {
        error_code: 'environment_setup_failed',
        message: expect.stringContaining('install bubblewrap'),
      },
    });
    expect(existsSync(made)).toBe(false);
  },
  120_000,
);
