/** The built service as a process of its own, with nothing beside it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/network/ports.ts';

export interface ServiceAlone {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** How it is started where it is not as usual. */
export interface StartedAs {
  /** Behind `start`. */
  argv?: readonly string[];
  /** The command of another version; the one that was built here, if not said. */
  command?: string;
  /** A free one, if not said. */
  port?: number;
}

/** A process that loads tens of thousands of webhooks on a busy machine takes a while. */
const READY_MS_MAX = 180_000;
const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Starts it and answers when it is ready. Throws when it ends before, or is not ready within three minutes. */
export async function startAlone(
  dataDir: string,
  adminKey: string,
  environment: Readonly<Record<string, string>> = {},
  as: StartedAs = {},
): Promise<ServiceAlone> {
  const port = as.port ?? (await freePort());
  const command = as.command ?? join(root, 'apps/cli/millwright.mjs');
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env['PATH'],
    MILLWRIGHT_PORT: String(port),
    MILLWRIGHT_DATA_DIR: dataDir,
    MILLWRIGHT_ADMIN_KEY: adminKey,
    MILLWRIGHT_API_RATE: '0',
    MILLWRIGHT_LOG_LEVEL: 'error',
    ...environment,
  };
  const child = spawn(process.execPath, [...flagsOf(command), command, 'start', ...(as.argv ?? [])], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  });
  const givenUpAtMs = performance.now() + READY_MS_MAX;
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || performance.now() > givenUpAtMs) throw new Error('the service did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, process: child, stop: () => stopped(child) };
}

/** The flags of Node.js that the installed command starts with: its first line has them. */
function flagsOf(command: string): string[] {
  const [firstLine = ''] = readFileSync(command, 'utf8').split('\n');
  return /^#!\/usr\/bin\/env -S node (.+)$/.exec(firstLine)?.[1]?.split(' ') ?? [];
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await gone;
}
