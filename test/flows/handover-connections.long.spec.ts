/**
 * Senders that keep their connections and send at the moment in which the process behind them goes: each is answered.
 * contract §1.8 (Upgrades).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import type { UpgradeReport } from '../../apps/server/upgrade/handover-messages.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import type { FactoryFolder } from '../support/factories/factory-folder.ts';
import { SenderConnection } from '../support/network/sender-connection.ts';
import { nextVersion, type NextVersion } from '../support/processes/next-version.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';
import { installationOn, manyWebhooks, TOKEN } from '../support/services/services-on-postgres.ts';
import { programFile, REPOSITORY } from '../support/processes/node-arguments.ts';

const PROGRAM = 'test/support/services/supervised-program.ts';
const CONNECTIONS = 20;

type UpgradeStep = 'the new version is loaded' | 'the old version has stepped aside';

let folder: FactoryFolder;
let box: string;
let open: SenderConnection[];
let ids: number;

beforeAll(async () => {
  folder = await manyWebhooks();
}, 120_000);

afterAll(() => folder?.remove());

beforeEach(() => {
  box = mkdtempSync(join(tmpdir(), 'mw-kept-'));
  [open, ids] = [[], 0];
});

afterEach(() => {
  for (const connection of open) connection.end();
  rmSync(box, { recursive: true, force: true });
});

const newId = (): string => `d-${(ids += 1)}`;

async function opened(url: string): Promise<SenderConnection> {
  const connection = await SenderConnection.open(url);
  open.push(connection);
  return connection;
}

/** Connections that have had an answer each, and will be used again. */
async function used(url: string, uids: readonly string[]): Promise<SenderConnection[]> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => opened(url)));
  for (const [at, connection] of connections.entries())
    expect(await connection.deliver(uids[at] ?? '', TOKEN, newId())).toEqual({ status: 202, closes: false });
  return connections;
}

async function uidsIn(mill: ServiceProcess): Promise<string[]> {
  await mill.api('PUT', '/secrets/bearer', { value: TOKEN });
  const source = { kind: 'directory', path: folder.path };
  const { uid } = await mill.api('POST', '/factory', { slug: 'shop', name: 'shop', source });
  await mill.api('POST', `/factory/${String(uid)}/sync?wait=true`);
  const { webhooks } = await mill.api('GET', `/factory/${String(uid)}/webhooks`);
  return (webhooks as { uid: string }[]).map((webhook) => webhook.uid);
}

describe('one machine with SQLite', () => {
  let mill: ServiceProcess;
  let uids: string[];
  let failing: NextVersion;

  beforeAll(() => {
    failing = nextVersion(['THIS IS NO STATEMENT']);
  });

  afterAll(() => failing?.remove());

  beforeEach(async () => {
    mill = await startServiceProcess(
      join(box, 'data'),
      { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_SYNC_INTERVAL: '3600' },
      PROGRAM,
    );
    uids = await uidsIn(mill);
  }, 120_000);

  afterEach(async () => {
    mill.signal('SIGTERM');
    const code = await mill.ended;
    if (code !== 0) throw new Error(`the service ended with ${code}: ${mill.errors()}`);
  });

  /** Asks the supervisor for another version, and does something at its steps: at the last one nobody serves. */
  function upgrade(root: string, during: Partial<Record<UpgradeStep, () => void>> = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(join(box, 'data', 'upgrade.sock'));
      socket.on('error', reject);
      socket.write(`${JSON.stringify({ node: process.execPath, program: programFile(PROGRAM, root) })}\n`);
      createInterface({ input: socket }).on('line', (line) => {
        const report = JSON.parse(line) as UpgradeReport;
        if ('done' in report) resolve(report.done);
        else during[report.step as UpgradeStep]?.();
      });
    });
  }

  it.each<[of: string, outcome: string, root: () => string]>([
    ['the next version', 'upgraded', () => REPOSITORY],
    ['the version of before, which comes back', 'rolled-back', () => failing.root],
  ])(
    'passes the connections of senders to %s: what they send meanwhile is answered on them',
    async (_of, outcome, root) => {
      const connections = await used(mill.url, uids);
      const sent: SenderConnection[] = [];
      const send = (connection: SenderConnection): void => {
        connection.send(uids[sent.length % uids.length] ?? '', TOKEN, newId());
        sent.push(connection);
      };
      let unused: Promise<SenderConnection> | undefined;
      const done = await upgrade(root(), {
        'the new version is loaded': () => void (unused = opened(mill.url)),
        'the old version has stepped aside': () => connections.forEach(send),
      });
      // One that was opened before and used only now.
      if (unused !== undefined) send(await unused);
      const answers = await Promise.all(sent.map((connection) => connection.answer()));
      expect(answers).toHaveLength(CONNECTIONS + 1);
      expect(done).toBe(outcome);
      expect(answers).toEqual(answers.map(() => ({ status: 202, closes: false })));
      // They are as good as any other: the next request is answered, too.
      for (const connection of connections)
        expect(await connection.deliver(uids[0] ?? '', TOKEN, newId())).toMatchObject({ status: 202, closes: false });
      expect(stored()).toEqual({ all: ids, ids });
    },
    240_000,
  );

  it('never refuses senders that send again as soon as they were answered', async () => {
    const connections = (await used(mill.url, uids)).slice(0, 4);
    const over = new AbortController();
    const sending = connections.map(async (connection, at) => {
      const seen = new Set<string>();
      // Another webhook each time, so that none has its minute full.
      for (let count = 0; !over.signal.aborted || count < 5; count += 1) {
        const answer = await connection.deliver(uids[(at * 5 + count) % uids.length] ?? '', TOKEN, newId());
        if (answer.status !== 429) seen.add(JSON.stringify(answer));
      }
      return [...seen];
    });
    const done = await upgrade(REPOSITORY);
    over.abort();
    expect(await Promise.all(sending)).toEqual(connections.map(() => [JSON.stringify({ status: 202, closes: false })]));
    expect(done).toBe('upgraded');
  }, 240_000);

  function stored(): unknown {
    const database = new Sqlite(join(box, 'data', 'millwright.sqlite'), { readonly: true });
    try {
      const text = "SELECT count(*) AS 'all', count(DISTINCT delivery_id) AS ids FROM delivery";
      return database.prepare(text).get();
    } finally {
      database.close();
    }
  }
});

const server = await postgresServer();
const suite = server.ok ? describe : describe.skip;

suite(`a replica on PostgreSQL that stops${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  it('answers what comes on kept connections, and closes each behind its answer', async () => {
    if (!server.ok) return;
    const database = await freshDatabase(server.url);
    const installation = installationOn(database.url, { MILLWRIGHT_RUN_CONCURRENCY: '0' });
    const { MILLWRIGHT_ADMIN_KEY: _key, ...environment } = installation.environment;
    const mill = await startServiceProcess(join(box, 'data'), environment);
    try {
      const uids = await uidsIn(mill);
      const connections = (await used(mill.url, uids)).slice(0, 3);
      mill.signal('SIGTERM');
      while (await isListening(mill.url)) await pause(10);
      // One after the other: a process that closes what is idle would have closed the last of them by now.
      for (const connection of connections) {
        expect(connection.isClosed).toBe(false);
        const answer = await connection.deliver(uids[0] ?? '', TOKEN, newId());
        expect(answer).toEqual({ status: 202, closes: true });
        await pause(200);
      }
      expect(await mill.ended).toBe(0);
    } finally {
      mill.signal('SIGKILL');
      await mill.ended;
      await installation.close();
      await database.drop();
    }
  }, 120_000);
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function isListening(url: string): Promise<boolean> {
  return SenderConnection.open(url).then(
    (connection) => {
      connection.end();
      return true;
    },
    () => false,
  );
}
