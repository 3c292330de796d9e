/**
 * One machine, SQLite, TLS by the service itself: connections cannot be passed on, and yet no sender is refused while
 * one version follows another. contract §1.8 (Upgrades).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { upgrade } from '../../apps/cli/verbs/installation/upgrade.ts';
import type { FactoryFolder } from '../support/factories/factory-folder.ts';
import { makeCertificate } from '../support/git/git-server.ts';
import { TcpProxy } from '../support/network/tcp-proxy.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';
import { manyWebhooks, TOKEN } from '../support/services/services-on-postgres.ts';
import { programFile, REPOSITORY } from '../support/processes/node-arguments.ts';

const PROGRAM = 'test/support/services/supervised-program.ts';
const EVERY_MS = 30;
const CONNECTIONS = 12;
const UPGRADES = 2;

let box: string;
let folder: FactoryFolder;
let mill: ServiceProcess;
let ca: Buffer;
let uids: string[];

beforeEach(async () => {
  box = mkdtempSync(join(tmpdir(), 'mw-tls-'));
  folder = await manyWebhooks();
  const { caFile } = await makeCertificate(box);
  ca = readFileSync(caFile);
  uids = await madeReady(join(box, 'data'));
  mill = await startServiceProcess(
    join(box, 'data'),
    {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_TLS_CERT_FILE: join(box, 'server.pem'),
      MILLWRIGHT_TLS_KEY_FILE: join(box, 'server.key'),
    },
    PROGRAM,
  );
}, 120_000);

afterEach(async () => {
  mill.signal('SIGTERM');
  const code = await mill.ended;
  rmSync(box, { recursive: true, force: true });
  await folder.remove();
  if (code !== 0) throw new Error(`the service ended with ${code}: ${mill.errors()}`);
});

/** A factory, made over a service without TLS. UIDs of its webhooks. */
async function madeReady(dataDir: string): Promise<string[]> {
  const plain = await startServiceProcess(dataDir, { MILLWRIGHT_RUN_CONCURRENCY: '0' });
  await plain.api('PUT', '/secrets/bearer', { value: TOKEN });
  const source = { kind: 'directory', path: folder.path };
  const { uid } = await plain.api('POST', '/factory', { slug: 'shop', name: 'shop', source });
  await plain.api('POST', `/factory/${String(uid)}/sync?wait=true`);
  const { webhooks } = await plain.api('GET', `/factory/${String(uid)}/webhooks`);
  plain.signal('SIGTERM');
  await plain.ended;
  return (webhooks as { uid: string }[]).map((webhook) => webhook.uid);
}

/** One delivery over TLS to a port: 202, what else it was answered, or how its connection failed. */
function deliver(port: number, agent: Agent | false, id: number): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(`https://127.0.0.1:${port}/webhooks/w/${uids[id % uids.length] ?? ''}`, {
      method: 'POST',
      agent,
      ca,
      headers: {
        host: new URL(mill.url).host,
        authorization: `Bearer ${TOKEN}`,
        'x-millwright-delivery-id': `d-${id}`,
        'content-type': 'application/json',
      },
    });
    sent.on('response', (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.on('end', () => resolve(answer.statusCode === 202 ? 202 : `${answer.statusCode} ${body}`));
    });
    sent.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    sent.end('{}');
  });
}

async function upgraded(): Promise<number> {
  const io = { stdin: Readable.from([]), stdout: new PassThrough(), stderr: new PassThrough(), cwd: REPOSITORY };
  const environment = { PATH: process.env['PATH'], MILLWRIGHT_DATA_DIR: join(box, 'data') };
  return upgrade(['--program', programFile(PROGRAM)], { ...io, environment });
}

function storedIds(): { all: number; ids: number } {
  const database = new Sqlite(join(box, 'data', 'millwright.sqlite'), { readonly: true });
  try {
    return database
      .prepare("SELECT count(*) AS 'all', count(DISTINCT delivery_id) AS ids FROM delivery")
      .get() as ReturnType<typeof storedIds>;
  } finally {
    database.close();
  }
}

describe('an upgrade of a service that speaks TLS itself', () => {
  // Far away, a handshake takes so long that one is always under way.
  it.each([
    { where: 'beside it', delayMs: 0 },
    { where: 'far away', delayMs: 60 },
  ])(
    'refuses no sender $where, on new connections and on kept ones, and loses nothing',
    async ({ delayMs }) => {
      const link = await TcpProxy.open(Number(new URL(mill.url).port));
      link.delayMs = delayMs;
      const kept = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
      const answers: Promise<number | string>[] = [];
      const sending = setInterval(() => {
        const id = answers.length;
        answers.push(deliver(link.port, id % 3 === 0 ? false : kept, id));
      }, EVERY_MS);
      try {
        for (let at = 0; at < UPGRADES; at += 1) expect(await upgraded()).toBe(0);
      } finally {
        clearInterval(sending);
      }
      const statuses = await Promise.all(answers);
      kept.destroy();
      await link.close();
      const bad = statuses.filter((status) => status !== 202);
      expect({ bad, said: bad.length === 0 ? '' : mill.errors() }).toEqual({ bad: [], said: '' });
      expect(storedIds()).toEqual({ all: statuses.length, ids: statuses.length });
      expect(statuses.length).toBeGreaterThan(UPGRADES * CONNECTIONS);
    },
    300_000,
  );
});
