/** The real service as a process that can be killed. */
import { spawn } from 'node:child_process';
import { get } from 'node:https';
import { watchAnswers } from './conforming.ts';
import { freePort } from '../network/ports.ts';
import { nodeArguments, REPOSITORY } from '../processes/node-arguments.ts';

const ADMIN_KEY = `mw_${'k'.repeat(43)}`;
const STARTS_WITHIN_MS = 180_000;
const PORTS_TRIED_MAX = 3;

export interface ServiceProcess {
  /** https where `environment` names a certificate; the calls of the API below are for plain ones alone. */
  url: string;
  pid: number;
  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** What it wrote to stderr. */
  errors(): string;
  /** Calls the API; throws where the answer is not a success. */
  api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Calls the API; answers whatever it says. Throws when the connection breaks. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** The service as it is. */
const SERVE = 'test/support/services/serve-program.ts';

/**
 * Starts the service on a data folder and waits until it is ready. `program`: another one that starts it; `root`: of
 * another copy of the repository.
 */
export async function startServiceProcess(
  dataDir: string,
  environment: Record<string, string> = {},
  program = SERVE,
  root = REPOSITORY,
): Promise<ServiceProcess> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await startOn(await freePort(), dataDir, environment, { program, root });
    } catch (error) {
      // Somebody else has taken it since it was free.
      if (tried === PORTS_TRIED_MAX || !String(error).includes('the port is taken')) throw error;
    }
  }
}

async function startOn(
  port: number,
  dataDir: string,
  environment: Record<string, string>,
  { program, root }: { program: string; root: string },
): Promise<ServiceProcess> {
  const isEncrypted = environment['MILLWRIGHT_TLS_CERT_FILE'] !== undefined;
  const url = `${isEncrypted ? 'https' : 'http'}://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [...nodeArguments(program, { root }), 'start'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      MILLWRIGHT_PORT: String(port),
      MILLWRIGHT_DATA_DIR: dataDir,
      MILLWRIGHT_ADMIN_KEY: ADMIN_KEY,
      MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'true',
      MILLWRIGHT_DISK_RESERVE_MB: '1',
      ...environment,
    },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
  );
  let over = false;
  void ended.then(() => (over = true));

  const deadline = performance.now() + STARTS_WITHIN_MS;
  for (;;) {
    const ready = await isReady(url);
    // Whoever answers in place of one that has ended is another program on its port.
    if (over || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the service did not start: ${errors}`);
    }
    if (ready) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  watchAnswers(url);
  const ask: ServiceProcess['ask'] = async (method, path, body) => {
    const sent =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}/api/v1${path}`, {
      ...sent,
      method,
      headers: { ...sent.headers, accept: 'application/json', authorization: `Bearer ${ADMIN_KEY}` },
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
  };
  return {
    url,
    ended,
    ask,
    pid: child.pid ?? 0,
    signal: (name) => void child.kill(name),
    errors: () => errors,
    async api(method, path, body) {
      const answer = await ask(method, path, body);
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status}`);
      return answer.body;
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  if (url.startsWith('https:')) return isReadyEncrypted(url);
  try {
    return (await fetch(`${url}/readyz`)).status === 200;
  } catch {
    return false;
  }
}

/** Whoever asks for readiness looks at no certificate. */
function isReadyEncrypted(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(`${url}/readyz`, { rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode === 200));
    }).on('error', () => resolve(false));
  });
}
