/** A Redis of a test's own: can be killed and come back, empty or with what it had. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/ports.ts';

const STARTS_WITHIN_MS = 20_000;

export interface RedisServer {
  readonly url: string;
  start(): Promise<void>;
  /** kill -9; what it had is gone. */
  kill(): Promise<void>;
  /** Sends one command; answers the raw reply. */
  ask(...words: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** Whether a server can be started here. REQUIRE_REDIS=1 makes its absence a failure. */
export function hasRedis(): boolean {
  const found = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
  if (!found && process.env['REQUIRE_REDIS'] === '1')
    throw new Error('REQUIRE_REDIS=1, and there is no redis-server on the PATH');
  return found;
}

/** Starts a server of loopback without anything on disk. */
export async function redisServer(): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'millwright-redis-'));
  let child: ChildProcess | undefined;
  const ask = (...words: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(
          `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
        ),
      );
      socket.once('data', (bytes) => (socket.destroy(), resolve(bytes.toString())));
      socket.once('error', reject);
    });
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    ask,
    async start() {
      child = spawn(
        'redis-server',
        ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder],
        { stdio: 'ignore' },
      );
      const deadline = performance.now() + STARTS_WITHIN_MS;
      while (
        !(await ask('PING').then(
          (reply) => reply.startsWith('+PONG'),
          () => false,
        ))
      ) {
        if (performance.now() > deadline) throw new Error('redis-server did not start');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async kill() {
      const killed = child;
      child = undefined;
      if (killed === undefined || killed.exitCode !== null) return;
      const gone = new Promise((resolve) => killed.once('exit', resolve));
      killed.kill('SIGKILL');
      await gone;
    },
    async stop() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}
