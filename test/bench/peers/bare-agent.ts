/** The built-in agent started by hand: no service, no sandbox, one prompt over its standard input and output. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { BUILT_IN_AGENT } from '../../../apps/server/execution/agent/agents.ts';

/** Milliseconds from the start of the process. */
export interface BareTimes {
  firstUpdate: number;
  ended: number;
}

/** One process, one session, one prompt, until it has gone. `seen` gets its process ID. */
export async function runBare(prompt: string, seen: (pid: number) => void = () => undefined): Promise<BareTimes> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'millwright-bench-bare-')));
  const [home, workspace, tmp] = ['home', 'workspace', 'tmp'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  try {
    for (const folder of [home, workspace, tmp]) await mkdir(folder);
    return await timed(prompt, { home, workspace, tmp }, seen);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function timed(
  prompt: string,
  { home, workspace, tmp }: { home: string; workspace: string; tmp: string },
  seen: (pid: number) => void,
): Promise<BareTimes> {
  const [program = '', ...argv] = BUILT_IN_AGENT.command;
  const startedAt = performance.now();
  const child = spawn(program, argv, {
    cwd: workspace,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: tmp },
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  seen(child.pid ?? 0);
  let firstUpdate = 0;
  const connection = client({ name: 'bench' })
    .onNotification(methods.client.session.update, () => {
      firstUpdate ||= performance.now() - startedAt;
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {},
  });
  const { sessionId } = await connection.agent.request(methods.agent.session.new, { cwd: workspace, mcpServers: [] });
  const { stopReason } = await connection.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text: prompt }],
  });
  if (stopReason !== 'end_turn') throw new Error(`the agent stopped for ${stopReason}`);
  connection.close();
  child.stdin.end();
  await gone;
  return { firstUpdate, ended: performance.now() - startedAt };
}
