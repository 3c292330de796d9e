/**
 * Processes with different roles on one database: each does its part and nothing else, hears of what the others do, and
 * refuses to begin beside one that it does not fit. contract §1, §9.
 */
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import 'reflect-metadata';
import { Client } from 'pg';
import { fetch as unwatched } from 'undici';
import type { Config } from '../../apps/server/config/config.ts';
import { EXAMPLE_COMMAND } from '../../apps/server/execution/local/local-execution.ts';
import { ScheduledJobs } from '../support/services/built-service.ts';
import { start } from '../../apps/server/start.ts';
import { openStream } from '../support/network/event-stream.ts';
import {
  automationFile,
  automationPath,
  deliver,
  runIn,
  statusOf,
  syncsOf,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { createRepository, type TestRepository } from '../support/git/git-repository.ts';
import { patternOf } from '../support/patterns.ts';
import { freePort } from '../support/network/ports.ts';
import { pgbouncerProgram, startPgBouncer, type PgBouncer } from '../support/databases/pgbouncer.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { ENDED, SHELL, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type BootOptions, type TestService } from '../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';
import { installationOn } from '../support/services/services-on-postgres.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import { SUITE_AGENT } from '../support/agents/suite-agent.ts';

const server = await postgresServer();
const suite = server.ok ? describe : describe.skip;
const called = (name: string): string => `${name}${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`;
const serverUrl = server.ok ? server.url : '';

const TOKEN = 'a-token-of-sixteen-or-more';
/** So long that no test would pass that waited for a look. */
const NEVER_POLLS = { servingMs: 86_400_000, factoriesMs: 86_400_000, streamsMs: 86_400_000 };

/** Processes of one installation on a database of their own. */
interface Machines {
  /** What each of them is told. */
  environment: Record<string, string>;
  /** A folder of this test. */
  folder: string;
  boot(roles: string, options?: BootOptions): Promise<TestService>;
  /** Asks the database itself. */
  query(text: string, ...params: unknown[]): Promise<Record<string, unknown>[]>;
  end(): Promise<void>;
}

async function machines(more: Record<string, string> = {}): Promise<Machines> {
  const { url, drop } = await freshDatabase(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), 'millwright-roles-'));
  const installation = installationOn(url, more);
  const operator = new Client(url);
  await operator.connect();
  return {
    environment: { ...installation.environment },
    folder,
    boot: (roles, options = {}) => installation.boot({ MILLWRIGHT_ROLES: roles, ...options.environment }, options),
    query: async (text, ...params) => (await operator.query<Record<string, unknown>>(text, params)).rows,
    async end() {
      await installation.close();
      await operator.end();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

suite(called('a process with one role'), () => {
  let together: Machines;
  beforeAll(async () => {
    together = await machines();
  });
  afterAll(() => together.end());

  /** What is found at the addresses of each surface. */
  async function surfaces({ url, adminKey }: TestService): Promise<Record<string, number>> {
    const statuses: Record<string, number> = {};
    for (const path of [
      '/healthz',
      '/readyz',
      '/api/v1/factory',
      '/api/v1/session',
      '/docs',
      '/sign-in',
      '/webhooks/w/whk_1',
    ]) {
      // Unwatched: a process without the interface does not answer as it is described.
      const isSession = path.endsWith('/session');
      const headers = {
        authorization: `Bearer ${adminKey}`,
        accept: '*/*',
        ...(isSession ? { 'content-type': 'application/json' } : {}),
      };
      const answer = await unwatched(`${url}${path}`, {
        method: isSession || path.startsWith('/webhooks/') ? 'POST' : 'GET',
        headers,
        body: isSession ? JSON.stringify({ api_key: adminKey }) : undefined,
      });
      statuses[path] = answer.status;
      const text = await answer.text();
      if (path.startsWith('/webhooks/')) expect(text).toBe('{"error": "webhook not found"}');
      else if (answer.status === 404)
        expect(JSON.parse(text)).toMatchObject({ error: 'resource_not_found', status: 404 });
    }
    return statuses;
  }

  const NOTHING = {
    '/healthz': 200,
    '/readyz': 200,
    '/api/v1/factory': 404,
    '/api/v1/session': 404,
    '/docs': 404,
    '/sign-in': 404,
    '/webhooks/w/whk_1': 404,
  };
  const CASES: [role: string, found: Record<string, number>][] = [
    ['api', { ...NOTHING, '/api/v1/factory': 200, '/api/v1/session': 200, '/docs': 200 }],
    ['ingress', NOTHING],
    ['sync', NOTHING],
    ['worker', NOTHING],
    ['dashboard', { ...NOTHING, '/api/v1/session': 200, '/sign-in': 200 }],
  ];

  it.each(CASES)(
    '%s has its own addresses, is alive and ready, and says what it is to who has a key',
    async (role, found) => {
      const pageFolder = join(together.folder, 'page');
      mkdirSync(join(pageFolder, 'assets'), { recursive: true });
      writeFileSync(join(pageFolder, 'index.html'), '<!doctype html><title>x</title>');
      const service = await together.boot(role, { pageFolder });
      expect(await surfaces(service)).toEqual(found);
      const ready = (await (
        await fetch(`${service.url}/readyz`, { headers: { authorization: `Bearer ${service.adminKey}` } })
      ).json()) as Record<string, unknown>;
      expect(ready).toMatchObject({
        status: 'ready',
        roles: [role],
        processes: [{ roles: [role], version: ready['version'] }],
      });
      expect('sandbox' in ready).toBe(role === 'worker');
      expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ status: 'ready' });
      await service.stop();
      expect(await together.query('SELECT owner FROM replica')).toEqual([]);
    },
  );

  it('that is not sync says that what is asked for waits, until one that is lives and after it has gone', async () => {
    const api = await together.boot('api');
    await api.secret('hook', TOKEN);
    const repository = createRepository(together.folder, 'waits');
    repository.commit({ [webhookPath('orders')]: webhookFile('hook') });
    const uid = String(
      (
        await api.api('POST', '/factory', {
          slug: 'waits',
          source: { kind: 'git', url: `file://${repository.folder}`, branch: 'main' },
        })
      ).body['uid'],
    );
    const stalled = async (): Promise<unknown> =>
      (await statusOf(api, uid)).conditions.find(({ type }) => type === 'Stalled');
    const millwright = (argv: string[], stdin?: string): Promise<Call> =>
      call(argv, { stdin, environment: { MILLWRIGHT_SERVER: api.url, MILLWRIGHT_API_KEY: api.adminKey } });
    const note =
      'no process with the role sync is running: changes of files and of secrets wait until one is started\n';
    expect(await stalled()).toMatchObject({ status: 'True', reason: 'no-sync-process' });
    expect(await millwright(['status', 'waits'])).toMatchObject({ code: 1, err: note });
    expect(await millwright(['sync', 'waits', '--no-wait'])).toMatchObject({ code: 0, err: note });

    const sync = await together.boot('sync');
    await eventually('the commit is applied', async () =>
      (await statusOf(api, uid)).revision_applied?.endsWith(repository.tip()) === true ? true : undefined,
    );
    expect(await stalled()).toMatchObject({ status: 'False' });
    expect(await millwright(['secrets', 'set', 'hook'], `${TOKEN}-2`)).toMatchObject({ code: 0, err: '' });
    await api.sync(uid); // what the value asked for is over
    await sync.stop();
    expect(await millwright(['secrets', 'set', 'hook'], `${TOKEN}-3`)).toMatchObject({ code: 0, err: note });
    expect(await millwright(['status', 'waits'])).toMatchObject({ code: 0, err: note });
    await api.stop();
  });

  it('is no second service at the same address: each listens for itself', async () => {
    const [one, two] = [await together.boot('worker'), await together.boot('worker')];
    expect(one.url).not.toBe(two.url);
    await Promise.all([one.stop(), two.stop()]);
  });

  it('that is not worker says of a run that waits long that no worker lives', async () => {
    const api = await together.boot('api');
    const runId = String((await api.api('POST', '/agent/runs', { prompt: 'x' })).body['run_id']);
    await together.query('UPDATE run SET updated_at = 1 WHERE run_id = $1', runId);
    api.service.app.get(ScheduledJobs).noteUnplacedRuns();
    await eventually('it is said', async () =>
      JSON.stringify((await api.api('GET', `/agent/runs/${runId}`)).body['status_message'] ?? '').includes(
        'no process that works on runs is running now',
      ),
    );
    await api.api('POST', `/agent/runs/${runId}/cancel`);
    await api.stop();
  });

  /** Starts as the command does, and ends; answers what was printed. */
  async function printed(
    roles: string,
    more: Record<string, string> = {},
  ): Promise<{ lines: string[]; config: Config }> {
    let text = '';
    const stdout = new PassThrough().on('data', (chunk: Buffer) => (text += chunk.toString()));
    const service = await start(['--roles', roles], {
      environment: {
        PATH: process.env['PATH'],
        MILLWRIGHT_PORT: String(await freePort()),
        MILLWRIGHT_DATA_DIR: mkdtempSync(join(together.folder, 'printed-')),
        MILLWRIGHT_LOG_LEVEL: 'error',
        ...together.environment,
        ...more,
      },
      cwd: together.folder,
      stdout,
      stderr: process.stderr,
      builtInAgent: SUITE_AGENT,
    });
    if (typeof service === 'number') throw new Error('it did not start');
    await service.stop();
    return { lines: text.trim().split('\n'), config: service.config };
  }

  it('prints what it works on, and itself nowhere as what it is not', async () => {
    const { lines, config } = await printed('worker', {
      MILLWRIGHT_WORKER_HOST: 'big',
      MILLWRIGHT_WORKER_ENVIRONMENTS: 'gpu',
      MILLWRIGHT_ENGINE: 'bullmq',
    });
    expect(lines.filter((line) => line.startsWith('WARNING'))).toEqual([
      expect.stringMatching(/MILLWRIGHT_PUBLIC_URL.*MILLWRIGHT_INGRESS_URL/),
    ]);
    expect(lines).toContain('Engine: bullmq, with its queue in PostgreSQL');
    expect(lines).toContain(
      'Takes runs only of the environments gpu, and those that ask for the machine big (MILLWRIGHT_WORKER_HOST)',
    );
    expect(lines.join('\n')).not.toContain(config.publicUrl);
    expect(lines.find((line) => line.startsWith('See what this machine lacks'))).toMatch(
      / doctor --server URL_OF_THE_API$/,
    );
    expect(lines).toContain(
      '  in the environment of this process: MILLWRIGHT_DATABASE_URL, key files and all the rest',
    );
    const told = await printed('worker', { MILLWRIGHT_PUBLIC_URL: 'https://mill.example' });
    expect(told.lines.join('\n')).not.toContain('WARNING');
    expect(told.lines.find((line) => line.startsWith('See what this machine lacks'))).toMatch(
      / doctor --server https:\/\/mill\.example$/,
    );
  });

  it('prints where the admin key is that another process made', async () => {
    const fresh = await machines({ MILLWRIGHT_ADMIN_KEY: '' });
    const first = await printed('api', fresh.environment);
    expect(first.lines.find((line) => line.startsWith('Admin key'))).toBe(
      `Admin key: in ${join(first.config.dataDir, 'admin-key')}`,
    );
    expect((await printed('api', fresh.environment)).lines.find((line) => line.startsWith('Admin key'))).toContain(
      'in the data folder of the process that made it',
    );
    await fresh.end();
  });
});

suite(called('an api, an ingress, a sync and a worker'), () => {
  let together: Machines;
  let processes: ServiceProcess[];
  beforeAll(async () => {
    together = await machines();
    processes = [];
  });
  afterAll(async () => {
    for (const process of processes) process.signal('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await together.end();
  });

  it('of four processes do together what one does: commit, sync, delivery, run, events, disabling', async () => {
    for (const roles of ['api', 'ingress', 'sync', 'worker']) {
      processes.push(
        await startServiceProcess(join(together.folder, roles), {
          ...together.environment,
          MILLWRIGHT_ADMIN_KEY: `mw_${'k'.repeat(43)}`,
          MILLWRIGHT_RUN_COMMAND: JSON.stringify(EXAMPLE_COMMAND),
          MILLWRIGHT_ROLES: roles,
        }),
      );
    }
    const [api, ingress] = processes as [ServiceProcess, ServiceProcess];
    const repository = createRepository(together.folder, 'repository');
    repository.commit({
      [webhookPath('orders')]: webhookFile('hook'),
      [automationPath('triage')]: automationFile(['orders'], 'Done by another process.'),
    });
    await api.api('PUT', '/secrets/hook', { value: TOKEN });
    const { uid } = await api.api('POST', '/factory', {
      slug: 'main',
      source: { kind: 'git', url: `file://${repository.folder}`, branch: 'main' },
    });
    expect(await api.api('POST', `/factory/${String(uid)}/sync?wait=true`)).toMatchObject({
      condition: { ending: 'applied' },
    });
    const { webhooks } = (await api.api('GET', `/factory/${String(uid)}/webhooks`)) as {
      webhooks: { uid: string }[];
    };
    const url = `${ingress.url}/webhooks/w/${webhooks[0]?.uid}`;
    expect((await deliver(url, TOKEN, { n: 1 })).status).toBe(202);
    expect((await deliver(url, 'not-the-token-of-sixteen')).status).toBe(401);
    const run = await eventually(
      'the run has ended',
      async () => {
        const { runs } = (await api.api('GET', `/agent/runs?factory_uid=${String(uid)}`)) as {
          runs: { run_id: string; state: string }[];
        };
        return runs.find(({ state }) => ENDED.includes(state));
      },
      120_000,
    );
    expect(run.state).toBe('SUCCEEDED');
    const { events } = (await api.api('GET', `/agent/runs/${run.run_id}/events`)) as {
      events: { payload: { text?: string } }[];
    };
    expect(events.map(({ payload }) => payload.text ?? '').join('')).toContain('Done by another process.');
    repository.commit({ [webhookPath('orders')]: webhookFile('hook', 'enabled: false') });
    await api.api('POST', `/factory/${String(uid)}/sync?wait=true`);
    expect((await deliver(url, TOKEN, { n: 2 })).status).toBe(404);
    expect((await api.ask('GET', `/factory/${String(uid)}/revisions/${repository.tip()}`)).body).toMatchObject({
      state: 'serving',
      replicas: [{ serving: true }],
    }); // the ingress alone counts
    for (const process of processes) process.signal('SIGTERM');
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    expect(await together.query('SELECT owner FROM replica')).toEqual([]);
  });
});

suite(called('what one process does, others hear of without looking'), () => {
  let together: Machines;
  let api: TestService;
  let ingress: TestService;
  let sync: TestService;
  let worker: TestService;
  let count = 0;

  beforeAll(async () => {
    together = await machines(SHELL);
    [api, ingress, sync, worker] = [
      await together.boot('api', { pollIntervals: NEVER_POLLS }),
      await together.boot('ingress', { pollIntervals: NEVER_POLLS }),
      await together.boot('sync', { pollIntervals: NEVER_POLLS }),
      await together.boot('worker', { pollIntervals: NEVER_POLLS }),
    ];
    await listening(4);
    await api.secret('hook', TOKEN);
  });
  afterAll(() => together.end());

  const LISTENERS =
    "FROM pg_stat_activity WHERE application_name = 'millwright notices' AND datname = current_database() AND " +
    "state = 'idle'";
  /** What is told from then on is heard: LISTEN and the first proof are over. */
  async function listening(processes: number): Promise<void> {
    await eventually('every process listens', async () =>
      (await together.query(`SELECT pid ${LISTENERS} AND query NOT LIKE 'LISTEN%'`)).length === processes
        ? true
        : undefined,
    );
  }

  async function made(): Promise<{ uid: string; slug: string; repository: TestRepository }> {
    const slug = `f${(count += 1)}`;
    const repository = createRepository(together.folder, slug);
    repository.commit({ [webhookPath('orders')]: webhookFile('hook') });
    const answer = await api.api('POST', '/factory', {
      slug,
      source: { kind: 'git', url: `file://${repository.folder}`, branch: 'main', push_secret: 'push' },
    });
    expect(answer.status).toBe(200);
    return { uid: String(answer.body['uid']), slug, repository };
  }

  const applied = (uid: string, revision: string): Promise<true> =>
    eventually('the commit is applied', async () =>
      (await statusOf(api, uid)).revision_applied?.endsWith(revision) === true ? true : undefined,
    );
  const serving = (uid: string, revision: string): Promise<true> =>
    eventually('the ingress has loaded the commit', async () =>
      (await api.api('GET', `/factory/${uid}/revisions/${revision}`)).body['state'] === 'serving' ? true : undefined,
    );

  it('a factory that is made, asked for, changed and deleted: its loop follows elsewhere', async () => {
    const { uid, slug, repository } = await made();
    await applied(uid, repository.tip());
    await serving(uid, repository.tip());
    expect((await deliver(ingress.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);

    repository.commit({ [webhookPath('second')]: webhookFile('hook') });
    expect((await api.sync(uid))['revision_applied']).toMatch(repository.tip());
    expect((await syncsOf(api, uid))[0]).toMatchObject({ ending: 'applied', triggers: ['api'] });

    const other = createRepository(together.folder, `${slug}-other`);
    other.commit({ [webhookPath('elsewhere')]: webhookFile('hook') });
    await api.api('PATCH', `/factory/${uid}`, {
      source: { kind: 'git', url: `file://${other.folder}`, branch: 'main' },
    });
    await eventually('the loop has another source', async () =>
      (await statusOf(api, uid)).revision_seen?.endsWith(other.tip()) === true ? true : undefined,
    );

    expect(sync.service.loops.followed()).toContain(uid);
    expect((await api.api('DELETE', `/factory/${uid}`)).status).toBe(204);
    await eventually('its loop has ended', () => (sync.service.loops.followed().includes(uid) ? undefined : true));
    await eventually('what was fetched is gone', () => (existsSync(join(sync.dataDir, 'git', uid)) ? undefined : true));
    expect((await deliver(ingress.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(404);
    expect(api.service.loops.followed()).toEqual([]);
  });

  it('a push notice wakes the loop of another process', async () => {
    const { uid, repository } = await made();
    await applied(uid, repository.tip());
    await api.api('PUT', '/secrets/push', { value: 'push-secret-of-sixteen', grants: { uses: ['forge'] } });
    const body = JSON.stringify({ ref: 'refs/heads/main' });
    const revision = repository.commit({ [webhookPath('pushed')]: webhookFile('hook') });
    const signature = createHmac('sha256', 'push-secret-of-sixteen').update(body).digest('hex');
    const told = await fetch(`${api.url}/api/v1/factory/${uid}/push`, {
      method: 'POST',
      body,
      headers: {
        'x-hub-signature-256': `sha256=${signature}`,
        'x-github-event': 'push',
        'content-type': 'application/json',
      },
    });
    expect(told.status).toBe(202);
    await applied(uid, revision);
  });

  it('a webhook that is made, disabled, enabled and rotated over one process is so at once on the other', async () => {
    const answer = await api.api('POST', '/factory', { slug: `f${(count += 1)}`, source: { kind: 'dashboard' } });
    const uid = String(answer.body['uid']);
    const created = await api.api('POST', `/factory/${uid}/webhooks`, {
      name: 'hand',
      auth_mode: 'token',
      secret_name: 'hook',
    });
    expect(created.status).toBe(200);
    const webhookUid = String(created.body['uid']);
    const url = `${ingress.url}/webhooks/w/${webhookUid}`;
    await eventually('it takes deliveries', async () =>
      (await deliver(url, TOKEN)).status === 202 ? true : undefined,
    );
    const change = async (enabled: boolean): Promise<void> => {
      expect((await api.api('PATCH', `/factory/${uid}/webhooks/${webhookUid}`, { enabled })).status).toBe(200);
    };
    await change(false);
    expect((await deliver(url, TOKEN)).status).toBe(404);
    await change(true);
    await eventually('it takes deliveries again', async () =>
      (await deliver(url, TOKEN)).status === 202 ? true : undefined,
    );
  });

  it('the events of a run worked on elsewhere stream as they happen, and it is cancelled from here', async () => {
    const runId = await startedRun(api, 'echo one; while [ ! -e "$HOME/never" ]; do sleep 0.05; done');
    const stream = await openStream(api, runId);
    const texts = (): string =>
      stream.events
        .filter(({ event }) => event === 'stdout')
        .map(({ data }) => (data['payload'] as { text: string }).text)
        .join('');
    await eventually('the first word is told', () => (texts().includes('one') ? true : undefined));
    expect((await api.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ event: 'state', data: { state: 'CANCELLED' } });
    expect((await runIn(api, runId, ...ENDED))['state']).toBe('CANCELLED');
  });

  it('connections that are killed are made again, and what was told meanwhile is not missed', async () => {
    const first = await made();
    await applied(first.uid, first.repository.tip());
    const killed = await together.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`);
    expect(killed.length).toBeGreaterThan(0);
    const { uid, repository } = await made(); // told to nobody, or to those that are back
    await applied(uid, repository.tip());
    await serving(uid, repository.tip());
    await listening(4);
    const revision = first.repository.commit({ [webhookPath('later')]: webhookFile('hook') });
    expect((await api.sync(first.uid))['revision_applied']).toMatch(revision);
    for (const one of [api, ingress, sync, worker])
      expect(one.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it('with a second sync process one of them makes a pass; the other goes on when the first has gone', async () => {
    const second = await together.boot('sync', { pollIntervals: NEVER_POLLS });
    await listening(5);
    const { uid, repository } = await made();
    await applied(uid, repository.tip());
    await eventually('both follow it', () =>
      sync.service.loops.followed().includes(uid) && second.service.loops.followed().includes(uid) ? true : undefined,
    );
    for (let at = 0; at < 3; at += 1) {
      const revision = repository.commit({ [webhookPath(`more${at}`)]: webhookFile('hook') });
      expect((await api.sync(uid))['revision_applied']).toMatch(revision);
    }
    const changes = (await syncsOf(api, uid)).filter(({ changes: made }) => made.length > 0);
    expect(changes).toHaveLength(4); // each commit was applied once
    await sync.stop();
    const revision = repository.commit({ [webhookPath('last')]: webhookFile('hook') });
    expect((await api.sync(uid))['revision_applied']).toMatch(revision);
  });

  it('a folder is followed by no process that was not told of it', async () => {
    const careful = await together.boot('sync', {
      pollIntervals: NEVER_POLLS,
      environment: { MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'false' },
      isTrusted: () => false,
    });
    await listening(5);
    const folder = await api.api('POST', '/factory', {
      slug: `f${(count += 1)}`,
      source: { kind: 'directory', path: together.folder },
    });
    const git = await made();
    await eventually('the repository is followed', () =>
      careful.service.loops.followed().includes(git.uid) ? true : undefined,
    );
    expect(careful.service.loops.followed()).not.toContain(folder.body['uid']);
  });
});

suite(called('without notices'), () => {
  let together: Machines;
  let pooler: PgBouncer | undefined;
  const pgbouncer = pgbouncerProgram();
  beforeEach(async () => {
    together = await machines();
  });
  afterEach(async () => {
    await together.end();
    await pooler?.close();
  });

  /** Commit, delivery and run, each by another process. */
  async function story(environment: Record<string, string> = {}): Promise<void> {
    const booted = (roles: string): Promise<TestService> => together.boot(roles, { environment });
    const [api, ingress] = [await booted('api'), await booted('ingress'), await booted('sync'), await booted('worker')];
    await api.secret('hook', TOKEN);
    const repository = createRepository(together.folder, 'repository');
    repository.commit({
      [webhookPath('orders')]: webhookFile('hook'),
      [automationPath('triage')]: automationFile(['orders']),
    });
    const { body } = await api.api('POST', '/factory', {
      slug: 'main',
      source: { kind: 'git', url: `file://${repository.folder}`, branch: 'main' },
    });
    const uid = String(body['uid']);
    await eventually(
      'the commit serves',
      async () =>
        (await api.api('GET', `/factory/${uid}/revisions/${repository.tip()}`)).body['state'] === 'serving'
          ? true
          : undefined,
      60_000,
    );
    expect((await deliver(ingress.ingressUrl('main', 'orders'), TOKEN)).status).toBe(202);
    const run = await eventually(
      'the run has ended',
      async () => {
        const { runs } = (await api.api('GET', `/agent/runs?factory_uid=${uid}`)).body as {
          runs: { run_id: string; state: string }[];
        };
        return runs.find(({ state }) => ENDED.includes(state));
      },
      120_000,
    );
    expect(run.state).toBe('SUCCEEDED');
    await api.api('DELETE', `/factory/${uid}`);
    expect((await deliver(ingress.ingressUrl('main', 'orders'), TOKEN)).status).toBe(404);
  }

  it('everything is found by looking: no connection to listen on lasts', async () => {
    const over = new AbortController();
    const killing = (async () => {
      while (!over.signal.aborted) {
        await together.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity ' +
            "WHERE application_name = 'millwright notices' AND datname = current_database()",
        );
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await story().finally(() => over.abort());
    await killing;
  });

  (pgbouncer.ok ? it : it.skip)(
    'everything is found by looking: a pooler in transaction mode stands between, and no direct URL leads around it',
    async () => {
      pooler = await startPgBouncer(
        pgbouncer.ok ? pgbouncer.program : '',
        together.environment['MILLWRIGHT_DATABASE_URL'] ?? '',
        20,
      );
      await story({ MILLWRIGHT_DATABASE_URL: pooler.url });
    },
  );

  async function refusesQueue(pooled: string, direct: string): Promise<void> {
    const wanted = { MILLWRIGHT_ENGINE: 'bullmq', MILLWRIGHT_DATABASE_URL: pooled };
    const refusal = patternOf(
      /^MILLWRIGHT_DATABASE_DIRECT_URL: must lead to PostgreSQL itself /,
      /with MILLWRIGHT_ENGINE=bullmq and no MILLWRIGHT_REDIS_URL/,
    );
    await expect(together.boot('api', { environment: wanted })).rejects.toThrow(refusal);
    await expect(
      together.boot('worker', { environment: { ...wanted, MILLWRIGHT_DATABASE_DIRECT_URL: pooled } }),
    ).rejects.toThrow(refusal);
    await (
      await together.boot('worker', { environment: { ...wanted, MILLWRIGHT_DATABASE_DIRECT_URL: direct } })
    ).stop();
  }

  (pgbouncer.ok ? it : it.skip)(
    'a queue in PostgreSQL is refused with one line where only such a pooler leads there',
    async () => {
      const direct = together.environment['MILLWRIGHT_DATABASE_URL'] ?? '';
      pooler = await startPgBouncer(pgbouncer.ok ? pgbouncer.program : '', direct, 20);
      await refusesQueue(pooler.url, direct);
    },
  );
});

suite(called('a process that does not fit'), () => {
  let together: Machines;
  beforeAll(async () => {
    together = await machines();
  });
  afterAll(() => together.end());

  /** Starts as the command does; answers code and lines. */
  async function refusedStart(
    environment: Record<string, string> = {},
    args: string[] = [],
  ): Promise<{ code: unknown; lines: string[] }> {
    let text = '';
    const stderr = new PassThrough().on('data', (chunk: Buffer) => (text += chunk.toString()));
    const code = await start(args, {
      environment: {
        PATH: process.env['PATH'],
        MILLWRIGHT_PORT: String(await freePort()),
        MILLWRIGHT_DATA_DIR: join(together.folder, 'refused'),
        MILLWRIGHT_LOG_LEVEL: 'error',
        ...together.environment,
        ...environment,
      },
      cwd: together.folder,
      stdout: new PassThrough(),
      stderr,
      builtInAgent: SUITE_AGENT,
    });
    if (typeof code !== 'number') await code.stop();
    await new Promise((resolve) => setImmediate(resolve));
    return { code, lines: text.trim().split('\n') };
  }

  it('is refused with one line beside a live one of another version, before anything is migrated', async () => {
    const first = await together.boot('api');
    await together.query(
      'INSERT INTO replica (owner, started_at, seen_at, serving_version, version, roles, host) ' +
        "SELECT 'old/1/x', seen_at, seen_at + 10000, 0, '0.0.9/Old', 'worker', 'old' FROM replica",
    );
    const { code, lines } = await refusedStart();
    expect(code).toBe(64);
    expect(lines).toEqual([
      expect.stringMatching(
        patternOf(
          /^millwright: this is version \S+\/\S+, and process old\/1\/x of version 0\.0\.9\/Old /,
          /was heard of on the same database .*stop all processes of the other version first/,
        ),
      ),
    ]);
    await first.stop();
    // A program from before there were versions, on its own schema.
    const [last] = await together.query('SELECT name FROM migrations ORDER BY id DESC LIMIT 1');
    await together.query('ALTER TABLE replica DROP COLUMN version');
    await together.query('DELETE FROM migrations WHERE name = $1', last?.['name']);
    expect(await refusedStart()).toEqual({
      code: 64,
      lines: [expect.stringMatching(/process old\/1\/x of an older version/)],
    });
    expect(await together.query('SELECT name FROM migrations WHERE name = $1', last?.['name'])).toEqual([]);
    await together.query("ALTER TABLE replica ADD COLUMN version TEXT NOT NULL DEFAULT ''");
    await together.query('INSERT INTO migrations (timestamp, name) VALUES (1, $1)', last?.['name']);
    await together.query("DELETE FROM replica WHERE owner = 'old/1/x'");
    await (await together.boot('api')).stop();
  });

  it.each([
    ['MILLWRIGHT_MASTER_KEY_FILE', /master key is not the one/],
    ['MILLWRIGHT_UID_KEY_FILE', /UID key is not the one/],
  ])('is refused with one line when its %s is another one', async (variable, words) => {
    const first = await together.boot('api');
    const other = join(together.folder, `other-${variable}`);
    writeFileSync(other, Buffer.alloc(32, 9).toString('hex'), { mode: 0o600 });
    const { code, lines } = await refusedStart({ [variable]: other });
    expect([code, lines]).toEqual([64, [expect.stringMatching(words)]]);
    expect(lines[0]).toContain(variable);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.stop();
  });

  it('is refused with one line when --factory names what it could not follow', async () => {
    const { code, lines } = await refusedStart({}, ['--factory', '.', '--roles', 'api,ingress']);
    expect([code, lines]).toEqual([
      64,
      [expect.stringMatching(/^millwright: --factory needs the role sync, and this process has only api, ingress/)],
    ]);
  });

  it('of two that make the first admin key together, one does; the other keeps none that opens nothing', async () => {
    const fresh = await machines();
    const folders = ['one', 'two'].map((name) => join(fresh.folder, name));
    const services = await Promise.all(
      folders.map(async (folder) =>
        bootService({ dataDir: folder, environment: { ...fresh.environment, MILLWRIGHT_ADMIN_KEY: '' } }),
      ),
    );
    const kept = folders.map((folder) => join(folder, 'admin-key')).filter(existsSync);
    expect(kept).toHaveLength(1);
    const key = readFileSync(String(kept[0]), 'utf8').trim();
    for (const service of services) expect((await service.api('GET', '/factory', undefined, key)).status).toBe(200);
    await Promise.all(services.map((service) => service.stop()));
    await fresh.end();
  });
});
