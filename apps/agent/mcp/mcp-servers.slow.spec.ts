/** MCP servers of a session: started, reached over HTTP, asked, missing, and gone with the session. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { McpServer } from '@agentclientprotocol/sdk';
import {
  agentFolders,
  type AgentFolders,
  type AgentProcess,
  startAgent,
} from '../../../test/support/agents/agent-process.ts';
import { type FakeModelServer, startFakeModelServer } from '../../../test/support/models/fake-model-server.ts';
import { type McpHttpServer, startMcpHttpServer } from '../../../test/support/agents/mcp-http-server.ts';
import { nodeArguments } from '../../../test/support/processes/node-arguments.ts';

const KEY = 'sk-model-key-0815';

let folders: AgentFolders;
let model: FakeModelServer;
let http: McpHttpServer;
let agent: AgentProcess;
beforeAll(async () => {
  [folders, model, http] = await Promise.all([agentFolders(), startFakeModelServer([]), startMcpHttpServer()]);
  agent = await startAgent(folders, {
    MILLWRIGHT_AGENT_BASE_URL: `${model.url}/v1`,
    MILLWRIGHT_AGENT_MODEL: 'fake-1',
    MILLWRIGHT_AGENT_API_KEY: KEY,
  });
});
beforeEach(() => {
  agent.forget();
  agent.decide = () => 'allow_once';
});
afterAll(async () => {
  await agent.stop();
  await Promise.all([model.close(), http.close()]);
  await folders.remove();
});

/** The tiny server as a child of the agent. */
function stdio(name: string, env: Record<string, string> = {}): McpServer {
  const args = nodeArguments('test/support/agents/mcp-program.ts', { withLibs: false });
  return {
    name,
    command: process.execPath,
    args,
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
  };
}

const HEADERS = [{ name: 'authorization', value: 'Bearer letmein' }];

it.each<{ kind: string; server: () => McpServer }>([
  { kind: 'a program on stdio', server: () => stdio('tiny') },
  { kind: 'streamable HTTP', server: () => ({ type: 'http', name: 'tiny', url: `${http.url}/mcp`, headers: HEADERS }) },
  {
    kind: 'server-sent events',
    server: () => ({ type: 'sse', name: 'tiny', url: `${http.url}/sse`, headers: HEADERS }),
  },
])('tools of a server are offered and called, with permission: $kind', async ({ server }) => {
  model.script = [
    {
      tools: [
        { name: 'mcp__tiny__add', input: { a: 3, b: 4 } },
        { name: 'mcp__tiny__fail', input: {} },
      ],
    },
    { text: 'ok' },
  ];
  const session = await agent.open({ mcpServers: [server()] });
  expect(session['_meta']).toEqual({ millwright: { mcpServers: [{ name: 'tiny', status: 'connected', tools: 6 }] } });
  await agent.prompt(session.sessionId, 'Add');
  expect(model.requests[0]?.tools).toEqual(expect.arrayContaining(['bash', 'mcp__tiny__add', 'mcp__tiny__wait']));
  expect(agent.calls().map(({ title, status, text }) => [title, status, text])).toEqual([
    ['tiny: Add numbers', 'completed', '7'],
    ['tiny: fail', 'failed', 'it is broken'],
  ]);
  expect(agent.asked).toHaveLength(2);
  expect(model.requests[1]?.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)).toEqual([
    '7',
    'it is broken',
  ]);
  await agent.agent.request('session/close', { sessionId: session.sessionId });
});

it('a server gets its own variables, not the key of the model; what it answers is bounded', async () => {
  const variable = (name: string) => ({ name: 'mcp__tiny__variable', input: { name } });
  model.script = [
    {
      tools: [
        variable('MINE'),
        variable('MILLWRIGHT_AGENT_API_KEY'),
        { name: 'mcp__tiny__picture', input: {} },
        { name: 'mcp__tiny__flood', input: {} },
      ],
    },
    { text: 'ok' },
  ];
  const { sessionId } = await agent.open({ mode: 'auto', mcpServers: [stdio('tiny', { MINE: 'yours' })] });
  await agent.prompt(sessionId, 'Tell');
  const texts = agent.calls().map(({ text }) => text);
  expect(texts.slice(0, 3)).toEqual(['yours', '(not set)', '(image image/png, 12 characters of base64)\na picture']);
  expect(texts[3]?.length).toBeLessThan(40_000);
  expect(agent.asked).toEqual([]);
  await agent.agent.request('session/close', { sessionId });
});

it('servers that cannot be had are reported without their secrets, and the session goes on without them', async () => {
  const failing: McpServer[] = [
    { name: 'missing', command: '/nowhere/mcp', args: ['--token=hunter2-secret'], env: [] },
    { name: 'exits', command: '/bin/false', args: [], env: [{ name: 'TOKEN', value: 'hunter2-secret' }] },
    {
      type: 'http',
      name: 'locked',
      url: `${http.url}/mcp`,
      headers: [{ name: 'authorization', value: 'Bearer hunter2-secret' }],
    },
    { type: 'sse', name: 'no url', url: 'hunter2-secret', headers: [] },
  ];
  const session = await agent.open({ mcpServers: [...failing, stdio('tiny')] });
  const { millwright } = session['_meta'] as {
    millwright: { mcpServers: { name: string; status: string; message?: string }[] };
  };
  expect(millwright.mcpServers.map(({ name, status }) => [name, status])).toEqual([
    ['missing', 'failed'],
    ['exits', 'failed'],
    ['locked', 'failed'],
    ['no url', 'failed'],
    ['tiny', 'connected'],
  ]);
  expect(millwright.mcpServers[0]?.message).toBe('its command is not installed');
  expect(JSON.stringify(session)).not.toContain('hunter2-secret');
  model.script = [{ text: 'ok' }];
  expect((await agent.prompt(session.sessionId, 'Go')).stopReason).toBe('end_turn');
  expect(model.requests[0]?.system).toContain('The MCP server "missing" is not available');
  expect(agent.errors()).not.toContain('hunter2-secret');
  await agent.agent.request('session/close', { sessionId: session.sessionId });
});

it('two servers with the same name do not hide each other', async () => {
  const { sessionId } = await agent.open({ mcpServers: [stdio('tiny'), stdio('tiny')] });
  model.script = [{ text: 'ok' }];
  await agent.prompt(sessionId, 'Go');
  expect(model.requests[0]?.tools.filter((name) => name.startsWith('mcp__tiny__add'))).toEqual([
    'mcp__tiny__add',
    'mcp__tiny__add_2',
  ]);
  await agent.agent.request('session/close', { sessionId });
});

it('a call that never ends is cancelled with the turn, and the server ends with the session', async () => {
  const pidFile = join(folders.tmp, 'mcp.pid');
  model.script = [{ tools: [{ name: 'mcp__tiny__wait', input: {} }] }];
  const { sessionId } = await agent.open({ mode: 'auto', mcpServers: [stdio('tiny', { MCP_PID_FILE: pidFile })] });
  const turn = agent.prompt(sessionId, 'Wait');
  await agent.until(() => agent.calls()[0]?.status === 'in_progress');
  await agent.agent.notify('session/cancel', { sessionId });
  expect((await turn).stopReason).toBe('cancelled');
  const proc = `/proc/${readFileSync(pidFile, 'utf8')}`;
  expect(existsSync(proc)).toBe(true);
  await agent.agent.request('session/close', { sessionId });
  expect(existsSync(proc)).toBe(false);
});
