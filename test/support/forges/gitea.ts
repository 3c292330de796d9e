/** A real Gitea on a port of its own: its program, its database, its TLS. Its pages are not built, its interface is. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makeCertificate } from '../git/git-server.ts';
import { freePort } from '../network/ports.ts';
import { eventually } from '../services/service.ts';

/** From run.mjs beside the tests. */
const PROGRAM = process.env['MILLWRIGHT_TEST_GITEA'];
const SOURCES = process.env['MILLWRIGHT_TEST_GITEA_SOURCES'];
const SCOPES = 'write:repository,write:issue,write:user,write:organization';

export interface Gitea {
  url: string;
  caFile: string;
  /** Makes a user. Answers a token that may write. */
  user(name: string): Promise<string>;
  /** Calls its interface below `/api/v1`. */
  api<Body>(token: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  close(): Promise<void>;
}

export async function startGitea(): Promise<Gitea> {
  if (PROGRAM === undefined || SOURCES === undefined) throw new Error('start these tests with npm run test:forges');
  const folder = await mkdtemp(join(tmpdir(), 'gitea-'));
  const { caFile } = await makeCertificate(folder);
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const config = join(folder, 'app.ini');
  mkdirSync(join(folder, 'custom'), { recursive: true });
  writeFileSync(config, settings({ folder, port, url }));
  const environment = { PATH: process.env['PATH'], HOME: folder, GITEA_WORK_DIR: folder, USER: 'root' };
  const run = (...args: string[]): string =>
    execFileSync(PROGRAM, ['--config', config, ...args], { env: environment, encoding: 'utf8', stdio: 'pipe' });
  run('migrate');
  const child = spawn(PROGRAM, ['--config', config, 'web'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = recorded(child);
  const ca = readFileSync(caFile);
  const api = <Body>(token: string, method: string, path: string, body?: unknown) =>
    callApi<Body>({ url: `${url}/api/v1${path}`, ca, token, method, body });
  await eventually(
    'Gitea answers',
    async () => {
      if (child.exitCode !== null) throw new Error(`Gitea ended: ${output().slice(-2_000)}`);
      return (await api('', 'GET', '/version').catch(() => undefined))?.status === 200 || undefined;
    },
    120_000,
  );
  return {
    url,
    caFile,
    async user(name) {
      const password = randomBytes(12).toString('hex');
      const address = ['--username', name, '--email', `${name}@example.com`];
      run('admin', 'user', 'create', ...address, '--password', password, '--must-change-password=false');
      const said = run('admin', 'user', 'generate-access-token', '--username', name, '--scopes', SCOPES, '--raw');
      return /^[0-9a-f]{40}$/m.exec(said)?.[0] ?? 'none'; // among lines of its log
    },
    api,
    async close() {
      const over = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.kill()) await over;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings({ folder, port, url }: { folder: string; port: number; url: string }): string {
  const secret = randomBytes(32).toString('hex');
  return `
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
RUN_MODE = prod
WORK_PATH = ${folder}
[server]
PROTOCOL = https
CERT_FILE = ${join(folder, 'server.pem')}
KEY_FILE = ${join(folder, 'server.key')}
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
STATIC_ROOT_PATH = ${SOURCES}
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'gitea.db')}
[repository]
ROOT = ${join(folder, 'repositories')}
[security]
INSTALL_LOCK = true
SECRET_KEY = ${secret}
[webhook]
ALLOWED_HOST_LIST = loopback
[actions]
ENABLED = false
[cron]
ENABLED = false
[log]
MODE = console
LEVEL = Warn
`;
}

function recorded(child: ChildProcess): () => string {
  let all = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (all = (all + chunk.toString('utf8')).slice(-20_000)));
  return () => all;
}

interface ApiCall {
  url: string;
  ca: Buffer;
  token: string;
  method: string;
  body: unknown;
}

function callApi<Body>({ url, ca, token, method, body }: ApiCall): Promise<{ status: number; body: Body }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(token === '' ? {} : { authorization: `token ${token}` }),
    };
    const sent = request(url, { method, ca, headers }, (answer) => {
      text(answer).then((said) => {
        resolve({ status: answer.statusCode ?? 0, body: (said === '' ? undefined : parsed(said)) as Body });
      }, reject);
    });
    sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parsed(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return said;
  }
}
