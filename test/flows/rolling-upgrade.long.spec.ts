/**
 * Three replicas on PostgreSQL, replaced one after the other by the next version while deliveries come in. contract
 * §1.8 (Upgrades).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { REPLICA_LIVE_MS } from '../../apps/server/store/database/replicas.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import type { FactoryFolder } from '../support/factories/factory-folder.ts';
import { nextVersion, type NextVersion } from '../support/processes/next-version.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';
import { installationOn, manyWebhooks, TOKEN, WEBHOOKS_EACH } from '../support/services/services-on-postgres.ts';

const server = await postgresServer();
const suite = server.ok ? describe : describe.skip;
/** Below what twenty webhooks may take in a minute. */
const PER_SECOND = 16;
/** A transaction that reads a table keeps a migration of it waiting for so long. */
const READ_MS = 8_000;
const SERVE = 'test/support/services/serve-program.ts';

/** What a balancer does: sends to those that are ready, and a connection that is refused to another one. */
class Balancer {
  readonly replicas: ServiceProcess[] = [];
  readonly bad: string[] = [];
  readonly ids: string[] = [];
  readonly timesMs: number[] = [];
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 16 });
  private readonly ready = new Set<ServiceProcess>();
  private next = 0;
  private timers: NodeJS.Timeout[] = [];
  private readonly open = new Set<Promise<void>>();

  async start(uids: readonly string[]): Promise<void> {
    await this.look();
    this.timers = [
      setInterval(() => void this.look(), 100),
      setInterval(() => {
        const id = `d-${this.ids.length}`;
        this.ids.push(id);
        const sent = this.send(uids[this.ids.length % uids.length] ?? '', id).finally(() => this.open.delete(sent));
        this.open.add(sent);
      }, 1_000 / PER_SECOND),
    ];
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await Promise.all(this.open);
    this.agent.destroy();
  }

  private async look(): Promise<void> {
    for (const replica of this.replicas) {
      const isReady = await fetch(`${replica.url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isReady) this.ready.add(replica);
      else this.ready.delete(replica);
    }
  }

  private async send(uid: string, id: string): Promise<void> {
    const began = performance.now();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const ready = [...this.ready];
      const replica = ready[(this.next += 1) % Math.max(1, ready.length)];
      if (replica === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
      else {
        const status = await this.post(replica, uid, id);
        if (status !== 'ECONNREFUSED') {
          if (status !== 202) this.bad.push(`${id}: ${status}`);
          this.timesMs.push(performance.now() - began);
          return;
        }
        this.ready.delete(replica);
      }
    }
    this.bad.push(`${id}: nobody was there`);
  }

  private post(replica: ServiceProcess, uid: string, id: string): Promise<number | string> {
    return new Promise((resolve) => {
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        'x-millwright-delivery-id': id,
        'content-type': 'application/json',
      };
      const sent = request(`${replica.url}/webhooks/w/${uid}`, { method: 'POST', agent: this.agent, headers });
      sent.on('response', (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
      sent.end('{}');
    });
  }
}

suite(`replicas on PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let installation: ReturnType<typeof installationOn>;
  let folder: FactoryFolder;
  let box: string;
  let adding: NextVersion;
  let taking: NextVersion;
  let running: ServiceProcess[];
  let uids: string[];

  beforeAll(async () => {
    adding = nextVersion([
      "ALTER TABLE delivery ADD COLUMN next_flag TEXT NOT NULL DEFAULT 'x'",
      'ALTER TABLE webhook ADD COLUMN next_text TEXT',
      'ALTER TABLE permission ADD COLUMN next_text TEXT',
      'ALTER TABLE run ADD COLUMN next_text TEXT',
      'CREATE TABLE next_table (id BIGINT PRIMARY KEY)',
    ]);
    taking = nextVersion(['ALTER TABLE audit_entry DROP COLUMN address'], 99);
    folder = await manyWebhooks();
  }, 120_000);

  afterAll(async () => {
    adding?.remove();
    taking?.remove();
    await folder?.remove();
  });

  beforeEach(async () => {
    if (!server.ok) return;
    database = await freshDatabase(server.url);
    box = mkdtempSync(join(tmpdir(), 'millwright-rolling-'));
    running = [];
    installation = installationOn(database.url, { MILLWRIGHT_RUN_CONCURRENCY: '0' });
    const first = await installation.boot({ MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32' });
    await first.secret('bearer', TOKEN);
    await first.factory('shop', folder.source);
    uids = Array.from({ length: WEBHOOKS_EACH }, (_, at) => first.webhookUid('shop', `hook-${at}`));
    await first.stop();
  }, 120_000);

  afterEach(async () => {
    for (const replica of running) replica.signal('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    await installation?.close();
    await database?.drop();
    rmSync(box, { recursive: true, force: true });
  });

  async function start(root?: string): Promise<ServiceProcess> {
    const dataDir = join(box, `replica-${running.length}`);
    const replica = await startServiceProcess(dataDir, { ...installation.environment }, SERVE, root);
    running.push(replica);
    return replica;
  }

  async function one<T>(text: string): Promise<T> {
    const client = new Client(database.url);
    await client.connect();
    try {
      return (await client.query(text)).rows[0] as T;
    } finally {
      await client.end();
    }
  }

  it('are replaced by a version that adds, and no sender meets a refusal, nothing is lost or doubled', async () => {
    const balancer = new Balancer();
    balancer.replicas.push(await start(), await start(), await start());
    await balancer.start(uids);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const normal = p99(balancer.timesMs.splice(0));
    for (const old of balancer.replicas.slice()) {
      balancer.replicas.push(await start(adding.root));
      old.signal('SIGTERM');
      expect(await old.ended).toBe(0);
      balancer.replicas.splice(balancer.replicas.indexOf(old), 1);
    }
    // One of the version of before, late: it slept through the upgrade, and can work all the same.
    balancer.replicas.push(await start());
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await balancer.stop();
    console.log(
      `rolling upgrade: ${balancer.ids.length} deliveries, p99 ${p99(balancer.timesMs)} ms, before ${normal} ms`,
    );
    expect(balancer.bad).toEqual([]);
    expect(balancer.ids.length).toBeGreaterThan(PER_SECOND * 4);
    const stored = await one<{ all: string; distinct: string }>(
      "SELECT count(*) AS all, count(DISTINCT delivery_id) AS distinct FROM delivery WHERE outcome <> 'duplicate'",
    );
    expect([Number(stored.all), Number(stored.distinct)]).toEqual([balancer.ids.length, balancer.ids.length]);
    expect(await one<object>("SELECT count(*)::int AS ran FROM migrations WHERE name LIKE 'NextVersion%'")).toEqual({
      ran: 1,
    });
  }, 300_000);

  it('are not joined by a version that takes away what they use, and are refused after it', async () => {
    const old = await start();
    await expect(start(taking.root)).rejects.toThrow(/of version .*\d{13} was heard of on the same database/);
    expect((await fetch(`${old.url}/readyz`)).status).toBe(200);
    old.signal('SIGTERM');
    expect(await old.ended).toBe(0);
    const next = await start(taking.root);
    await expect(start()).rejects.toThrow(/holds migration NextVersion1700000000099, which this version does not know/);
    expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
  }, 120_000);

  it('that sleep while a version takes away what they use accept nothing when they wake, and end', async () => {
    const sleeper = await start();
    sleeper.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, REPLICA_LIVE_MS + 1_000));
    const next = await start(taking.root);
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const send = (to: ServiceProcess): Promise<number> =>
      fetch(`${to.url}/webhooks/w/${uids[0] ?? ''}`, { method: 'POST', headers, body: '{}' }).then(
        ({ status }) => status,
      );
    const waiting = send(sleeper); // in the kernel, for a process that does nothing
    sleeper.signal('SIGCONT');
    expect(await waiting).toBe(503);
    expect(await sleeper.ended).toBe(64);
    expect(sleeper.errors()).toMatch(/holds migration NextVersion1700000000099, which this version does not know/);
    expect(await send(next)).toBe(202);
    expect(await one<object>('SELECT count(*)::int AS stored FROM delivery')).toEqual({ stored: 1 });
  }, 300_000);

  it('serve while a migration waits for a table that somebody reads for long', async () => {
    const balancer = new Balancer();
    balancer.replicas.push(await start());
    await balancer.start(uids);
    const reader = new Client(database.url);
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM delivery');
    const next = start(adding.root);
    await new Promise((resolve) => setTimeout(resolve, READ_MS));
    balancer.timesMs.splice(0, balancer.timesMs.length / 4);
    expect(Math.max(...balancer.timesMs)).toBeLessThan(READ_MS); // none waits for the reader
    await reader.query('COMMIT');
    await reader.end();
    balancer.replicas.push(await next);
    await balancer.stop();
    expect(balancer.bad).toEqual([]);
  }, 120_000);
});

function p99(timesMs: number[]): number {
  const sorted = timesMs.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}
