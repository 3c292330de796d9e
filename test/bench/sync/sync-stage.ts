/**
 * What the synchronization benchmark plays on: a git host and services, each a process of its own on loopback, and
 * factory files in bulk.
 */
import { execFile, fork, spawn, type ChildProcess } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { environment } from '../../support/git/git-repository.ts';
import { freePort } from '../../support/network/ports.ts';

/** Of the repository; the built program lies two folders deeper. */
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
export const NODE_ARGUMENTS = ['--disable-warning=ExperimentalWarning'];
export const CLI = join(ROOT, 'apps/cli/millwright.mjs');
/** Managed secrets that webhooks take in turn, and the one of push notices. */
export const TOKENS = ['bench-token-one-of-two', 'bench-token-two-of-two'] as const;
const PUSH_SECRET = 'bench-push-secret';
const STARTS_WITHIN_MS = 60_000;

export interface GitHost {
  url: string;
  caFile: string;
  root: string;
  /** How many looks (advertisements of refs) it was asked for so far. */
  looks(): Promise<number>;
  stop(): Promise<void>;
}

export async function startGitHost(): Promise<GitHost> {
  const child = fork(fileURLToPath(new URL('git-host.js', import.meta.url)), { execArgv: NODE_ARGUMENTS });
  const told = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  const place = await told<{ url: string; caFile: string; root: string }>();
  return {
    ...place,
    async looks() {
      const answer = told<{ looks: number }>();
      child.send('looks');
      return (await answer).looks;
    },
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await gone;
    },
  };
}

export interface Service {
  url: string;
  pid: number;
  api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Sends a push notice with its signature; throws unless it asks for a pass. */
  notify(factoryUid: string): Promise<void>;
  stop(): Promise<void>;
}

/** A service with an empty data folder that reads from the git host; nothing in it runs agents. */
export async function startService(host: GitHost, dataDir: string): Promise<Service> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const key = `mw_${randomBytes(32).toString('base64url')}`;
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, CLI, 'start'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      MILLWRIGHT_PORT: String(port),
      MILLWRIGHT_DATA_DIR: dataDir,
      MILLWRIGHT_ADMIN_KEY: key,
      MILLWRIGHT_API_RATE: '0',
      MILLWRIGHT_LOG_LEVEL: 'error',
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_GIT_CA_FILE: host.caFile,
    },
  });
  await isReady(url, child);
  const api: Service['api'] = async (method, path, body) => {
    const sent =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}/api/v1${path}`, {
      ...sent,
      method,
      headers: { ...sent.headers, authorization: `Bearer ${key}` },
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  for (const [at, value] of TOKENS.entries()) await api('PUT', `/secrets/token-${at}`, { value });
  await api('PUT', '/secrets/push', { value: PUSH_SECRET, grants: { uses: ['forge'] } });
  return { url, api, pid: child.pid ?? 0, notify: (uid) => notify(url, uid), stop: () => end(child) };
}

async function isReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + STARTS_WITHIN_MS;
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('the service did not start');
    await pause(50);
  }
}

async function notify(url: string, uid: string): Promise<void> {
  const body = JSON.stringify({ ref: 'refs/heads/main' });
  const signature = `sha256=${createHmac('sha256', PUSH_SECRET).update(body).digest('hex')}`;
  const answer = await fetch(`${url}/api/v1/factory/${uid}/push`, {
    method: 'POST',
    headers: { 'x-hub-signature-256': signature, 'x-github-event': 'push' },
    body,
  });
  const { requested } = (await answer.json()) as { requested?: boolean };
  if (answer.status !== 202 || requested !== true) throw new Error(`the push notice was answered ${answer.status}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  await gone;
  clearTimeout(timer);
}

/** Runs git as a person's shell would, without anybody's own configuration. Answers what it printed. */
export async function git(args: readonly string[], cwd: string, caFile?: string): Promise<string> {
  const env = {
    ...environment(),
    GIT_AUTHOR_NAME: 'Bench',
    GIT_AUTHOR_EMAIL: 'bench@example.com',
    GIT_COMMITTER_NAME: 'Bench',
    GIT_COMMITTER_EMAIL: 'bench@example.com',
    ...(caFile === undefined ? {} : { GIT_SSL_CAINFO: caFile }),
  };
  return (await promisify(execFile)('git', [...args], { cwd, env, maxBuffer: 64 * 1_048_576 })).stdout;
}

/** Files of a factory, by path: webhooks, and automations that take their turn among them. */
export function factoryFiles(webhooks: number, automations: number): Record<string, string> {
  const hooks = Array.from({ length: webhooks }, (_, at) => [`webhooks/hook-${at}.yaml`, webhookFile(0)] as const);
  const autos = Array.from(
    { length: automations },
    (_, at) => [`automations/auto-${at}/automation.md`, automationFile(at, `hook-${at % webhooks}`)] as const,
  );
  return Object.fromEntries([...hooks, ...autos]);
}

export const webhookFile = (token: number): string =>
  `description: Tells of orders.\nauthMode: token\nsecretName: token-${token}\n`;

export function automationFile(
  at: number,
  webhook: string,
  prompt = 'Look at the order and say what is wrong with it.',
): string {
  const filter =
    `    filter:\n      webhooks: [${webhook}]\n      payload:\n        status: { in: [failed, stuck] }\n        ` +
    `order:\n          region: [eu-${at % 7}, us-${at % 5}]\n`;
  return (
    `---\ndescription: Handles orders of kind ${at}.\ntriggers:\n  - provider: webhook\n    event: ` +
    `received\n${filter}---\n${prompt}\n`
  );
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Somebody's clone of a repository of the host. */
export interface WorkCopy {
  /** Writes files and commits them. */
  commit(entries: Readonly<Record<string, string>>): Promise<void>;
  push(): Promise<void>;
}

/** Clones a repository by its folder and pushes there: the host serves reading only. */
export async function workCopy(host: GitHost, slug: string, box: string): Promise<WorkCopy> {
  const folder = join(box, `${slug}.work`);
  await git(['clone', '--quiet', join(host.root, slug), folder], box);
  return {
    async commit(entries) {
      for (const [path, text] of Object.entries(entries)) await writeFile(join(folder, path), text);
      await git(['commit', '--quiet', '--all', '--message=change'], folder);
    },
    push: async () => void (await git(['push', '--quiet', 'origin', 'main'], folder)),
  };
}
