/**
 * The whole story, unattended: `npm run demo` commits, syncs, delivers, runs, rotates and breaks, and ends with 0 only
 * if every step held.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sign } from '@octokit/webhooks-methods';
import { freePort } from '../support/network/ports.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cli = [process.execPath, '--disable-warning=ExperimentalWarning', join(root, 'apps/cli/millwright.mjs')] as const;
const SECRET = 'github-issues-secret';
const WAIT_MS = 120_000;

const box = await mkdtemp(join(tmpdir(), 'millwright-demo-'));
const repository = join(box, 'factory');
let service: ChildProcess | undefined;
let base = '';
let key = '';
let step = 0;

try {
  await story();
  process.stdout.write('\nEvery step held.\n');
} catch (error) {
  process.stdout.write(`\nFAILED: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await stopService();
  await rm(box, { recursive: true, force: true });
}

async function story(): Promise<void> {
  say('Make a git repository and commit a webhook and an automation that names it, in one commit');
  await makeRepository();

  say('Start the service on that repository');
  await startService();
  const factory = ((await api('GET', '/factory')) as { factories: { uid: string }[] }).factories[0]?.uid ?? '';
  expect(
    'the webhook is not served before its secret exists',
    (await status(factory)).condition.reason === 'definitions-invalid',
  );

  say('Set the secret (value on stdin) and sync');
  const first = randomBytes(24).toString('hex');
  setSecret(first);
  const applied = await sync(factory);
  expect(
    'the commit is applied',
    applied.condition.ending === 'applied' && applied.revision_applied?.endsWith(head()) === true,
  );
  const webhook = (
    (await api('GET', `/factory/${factory}/webhooks`)) as { webhooks: { uid: string; ingress_url: string }[] }
  ).webhooks[0];
  if (webhook === undefined) throw new Error('no webhook is served');
  show(`ingress URL: ${webhook.ingress_url}`);

  say('Send a real GitHub issues payload, signed as GitHub signs');
  const payload = issuesPayload();
  const delivered = await deliver(webhook.ingress_url, payload, first, 'demo-delivery-1');
  expect('the delivery is accepted', delivered === 202);
  const run = await eventually('the run succeeds', async () => {
    const { runs } = (await api('GET', `/agent/runs?factory_uid=${factory}`)) as {
      runs: { run_id: string; state: string; title: string }[];
    };
    return runs[0]?.state === 'SUCCEEDED' ? runs[0] : undefined;
  });
  show(`run ${run.run_id} "${run.title}": ${run.state}`);
  const { events } = (await api('GET', `/agent/runs/${run.run_id}/events?limit=1000`)) as { events: RunEvent[] };
  for (const { payload: event } of events.filter(({ event_type: type }) => type === 'tool_call'))
    show(`the agent: ${event.title ?? 'uses a tool'}`);
  const answer = events
    .flatMap(({ event_type: type, payload: event }) => (type === 'message' ? [event.text ?? ''] : []))
    .join('');
  show(answer.trimEnd());
  expect(
    'the agent read the payload',
    events.some(
      ({ event_type: type, payload: event }) =>
        type === 'tool_call_update' && event.output?.includes(payload.slice(0, 60)) === true,
    ),
  );
  const { artifacts = [] } = (await api('GET', `/agent/runs/${run.run_id}`)) as { artifacts?: unknown[] };
  expect('its report is kept', artifacts.length > 0);

  say('Send the same delivery again');
  expect('it is accepted', (await deliver(webhook.ingress_url, payload, first, 'demo-delivery-1')) === 202);
  const log = (await api('GET', `/factory/${factory}/webhooks/${webhook.uid}/deliveries`)) as {
    deliveries: { outcome: string }[];
  };
  expect(
    'and logged as a Duplicate that starts nothing',
    log.deliveries[0]?.outcome === 'Duplicate' && (await runCount(factory)) === 1,
  );

  say('Rotate the secret: no commit, only a new value');
  const second = randomBytes(24).toString('hex');
  setSecret(second);
  await sync(factory);
  expect(
    'a delivery signed with the old secret is refused',
    (await deliver(webhook.ingress_url, payload, first, 'demo-delivery-2')) === 401,
  );
  expect(
    'one signed with the new secret is accepted',
    (await deliver(webhook.ingress_url, payload, second, 'demo-delivery-3')) === 202,
  );

  say('Break a file and commit it');
  await writeFile(
    join(repository, 'webhooks/github-issues.yaml'),
    'authMode: signature\nsignatureScheme: githup\nsecretName: github-issues-secret\n',
  );
  commit('Break the webhook');
  const broken = await sync(factory);
  expect(
    'the commit is not applied',
    broken.condition.ending === 'blocked' && broken.revision_applied === applied.revision_applied,
  );
  for (const problem of broken.last_sync?.problems ?? [])
    show(`${problem.path}:${problem.line}:${problem.column}: ${problem.message} [${problem.rule}]`);
  expect(
    'the last good state still serves',
    (await deliver(webhook.ingress_url, payload, second, 'demo-delivery-4')) === 202,
  );
  await eventually('three runs succeed in all', async () =>
    (await runCount(factory, 'SUCCEEDED')) === 3 ? true : undefined,
  );
}

async function makeRepository(): Promise<void> {
  await mkdir(join(repository, 'webhooks'), { recursive: true });
  await mkdir(join(repository, 'automations/triage-issue'), { recursive: true });
  git('init', '--quiet', '--initial-branch', 'main');
  await writeFile(
    join(repository, 'webhooks/github-issues.yaml'),
    `authMode: signature\nsignatureScheme: github\nsecretName: ${SECRET}\n`,
  );
  await writeFile(
    join(repository, 'automations/triage-issue/automation.md'),
    '---\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhooks: [github-issues]\n ' +
      '     payload:\n        action: [opened, edited, assigned, labeled, closed, reopened]\n---\nRead the issue ' +
      'in event-payload.json and suggest a label for it.\n',
  );
  commit('Add the issues webhook and its triage');
}

async function startService(): Promise<void> {
  const port = await freePort();
  const dataDir = join(box, 'data');
  key = `mw_${randomBytes(32).toString('base64url')}`;
  base = `http://127.0.0.1:${port}`;
  service = spawn(cli[0], [...cli.slice(1), 'start', '--factory', `${pathToFileURL(repository).href}#main`], {
    cwd: box,
    env: {
      PATH: process.env['PATH'],
      MILLWRIGHT_PORT: String(port),
      MILLWRIGHT_DATA_DIR: dataDir,
      MILLWRIGHT_ADMIN_KEY: key,
      MILLWRIGHT_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await eventually('the service is ready', async () =>
    (await fetch(`${base}/readyz`).catch(() => undefined))?.ok ? true : undefined,
  );
}

async function stopService(): Promise<void> {
  if (service === undefined || service.exitCode !== null) return;
  const gone = new Promise((resolve) => service?.once('exit', resolve));
  service.kill('SIGTERM');
  await gone;
}

/** Through the command line, as an operator would: the value comes on stdin. */
function setSecret(value: string): void {
  const { status: code, stderr } = spawnSync(cli[0], [...cli.slice(1), 'secrets', 'set', SECRET], {
    input: value,
    env: { PATH: process.env['PATH'], MILLWRIGHT_SERVER: base, MILLWRIGHT_API_KEY: key },
  });
  if (code !== 0) throw new Error(`millwright secrets set ended with ${code}: ${String(stderr)}`);
}

interface RunEvent {
  event_type: string;
  payload: { text?: string; title?: string; output?: string };
}

interface Status {
  condition: { ending: string; reason: string | null };
  revision_applied: string | null;
  last_sync: { problems: { path: string; line: number; column: number; message: string; rule: string }[] } | null;
}

async function sync(factory: string): Promise<Status> {
  return (await api('POST', `/factory/${factory}/sync?wait=true`)) as Status;
}

async function status(factory: string): Promise<Status> {
  return eventually('the first pass is over', async () => {
    const found = (await api('GET', `/factory/${factory}/status`)) as Status;
    return found.condition.ending === 'none' ? undefined : found;
  });
}

async function runCount(factory: string, state?: string): Promise<number> {
  const { runs } = (await api(
    'GET',
    `/agent/runs?factory_uid=${factory}${state === undefined ? '' : `&state=${state}`}`,
  )) as { runs: unknown[] };
  return runs.length;
}

async function api(method: string, path: string): Promise<unknown> {
  const answer = await fetch(`${base}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

async function deliver(url: string, payload: string, secret: string, id: string): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': id,
      'x-hub-signature-256': await sign(secret, payload),
    },
    body: payload,
  });
  show(`delivery ${id}: ${answer.status} ${await answer.text()}`);
  return answer.status;
}

/** One of GitHub's own examples of an issues event. */
function issuesPayload(): string {
  const all = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
    name: string;
    examples: { action?: string }[];
  }[];
  const issues = all
    .find(({ name }) => name === 'issues')
    ?.examples.find(({ action }) => action === 'opened' || action === 'edited');
  if (issues === undefined) throw new Error('the examples hold no issues event');
  return JSON.stringify(issues);
}

function commit(message: string): void {
  git('add', '--all');
  git(
    '-c',
    'user.name=Demo',
    '-c',
    'user.email=demo@example.com',
    '-c',
    'commit.gpgsign=false',
    'commit',
    '--quiet',
    '-m',
    message,
  );
  show(`committed ${head().slice(0, 12)} ${message}`);
}

function head(): string {
  return git('rev-parse', 'HEAD').trim();
}

function git(...args: string[]): string {
  const {
    status: code,
    stdout,
    stderr,
  } = spawnSync('git', ['-C', repository, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: dirname(repository) },
  });
  if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}: ${stderr}`);
  return stdout;
}

async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`did not happen within ${WAIT_MS / 1000} s: ${what}`);
}

function say(text: string): void {
  step += 1;
  process.stdout.write(`\n${step}. ${text}\n`);
}

function show(text: string): void {
  process.stdout.write(`   ${text.replaceAll('\n', '\n   ')}\n`);
}

function expect(what: string, held: boolean): void {
  if (!held) throw new Error(`it should hold that ${what}`);
  show(`ok: ${what}`);
}
