/**
 * The built service with as many factories and webhooks as are asked for, each of which starts a run with every
 * delivery.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../../apps/server/store/open-database.ts';
import type { Database } from '../../../apps/server/store/database/database.ts';
import type { Backend, Bench, Server } from '../bench.ts';
import { copyFactory } from './factory-seeds.ts';
import { ACCEPTED_SENDERS, type AcceptedSender, type Target } from '../loads/senders.ts';
import { startAlone, type StartedAs } from '../peers/service-alone.ts';

export interface Wanted {
  backend: Backend;
  senders: readonly AcceptedSender[];
  /** Of each sender. */
  factories: number;
  /** Of each factory. */
  webhooks: number;
}

/** A service that is not running, and what it is started with. */
export interface EmptyService {
  backend: Backend;
  folder: string;
  /** Where SQLite is. */
  dataDir: string;
  /** Where PostgreSQL is. */
  databaseUrl: string | undefined;
  masterKey: Buffer;
  uidKey: Buffer;
  /** Starts it, or one more on the same PostgreSQL. It ends with the stage, or when it is told to. */
  start(environment?: Readonly<Record<string, string>>, as?: StartedAs): Promise<RunningService>;
  /** Its database, while it does not run (SQLite). Close it. */
  open(): Promise<Database>;
}

/** The same with webhooks. */
export interface SeededService extends EmptyService {
  /** Webhooks by sender; neighbours belong to different factories. */
  targets: Readonly<Record<AcceptedSender, readonly Target[]>>;
  factoryUids: readonly string[];
  /** The one that was applied from files, of the first sender. */
  model: { uid: string; path: string };
}

export interface RunningService extends Server {
  url: string;
  /** Of an admin. */
  key: string;
  /** Milliseconds from the start of its process until it was ready. */
  readyMs: number;
  /** Calls the API. Throws where the answer is not a success. */
  api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** Accepting is measured, not running: another process would work on the runs. Nothing is reconciled meanwhile. */
const ENVIRONMENT = {
  MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'true',
  MILLWRIGHT_RUN_CONCURRENCY: '0',
  MILLWRIGHT_SYNC_INTERVAL: '3600',
};
/** A pass or a list on a busy machine. */
const ANSWER_MS_MAX = 120_000;

/** A service that has nothing in it yet. A reason where there is no such database. */
export async function emptyService(bench: Bench, backend: Backend): Promise<EmptyService | { reason: string }> {
  const database = await bench.database(backend);
  if (!database.ok) return { reason: database.reason };
  const folder = bench.folder('service');
  const [masterKey, uidKey] = [randomBytes(32), randomBytes(32)];
  const key = `mw_${randomBytes(32).toString('base64url')}`;
  const environment = {
    ...ENVIRONMENT,
    MILLWRIGHT_MASTER_KEY_FILE: await keyFile(folder, 'master', masterKey),
    MILLWRIGHT_UID_KEY_FILE: await keyFile(folder, 'uid', uidKey),
    ...(database.url === undefined ? {} : { MILLWRIGHT_DATABASE_URL: database.url }),
  };
  const dataDir = join(folder, 'data');
  return {
    backend,
    dataDir,
    databaseUrl: database.url,
    folder,
    masterKey,
    uidKey,
    start: (more = {}, as = {}) => {
      const folder = backend === 'SQLite' ? dataDir : bench.folder('replica');
      return running(bench, { dataDir: folder, key, as }, { ...environment, ...more });
    },
    open: () => openDatabase({ url: database.url, dataDir, nowMs: Date.now }),
  };
}

/**
 * Seeds one: a factory for each sender is applied from files, the others are its copies. A reason where there is no
 * such database.
 */
export async function seededService(
  bench: Bench,
  { backend, senders, factories, webhooks }: Wanted,
): Promise<SeededService | { reason: string }> {
  const service = await emptyService(bench, backend);
  if ('reason' in service) return service;
  const secrets = secretsOf();
  const [model = { uid: '', path: '' }] = await applied(
    await service.start(),
    service.folder,
    senders,
    webhooks,
    secrets,
  );
  return { ...service, model, ...(await copied(service, senders, factories, secrets)) };
}

/** No webhooks of any sender. */
export const NO_TARGETS = Object.fromEntries(
  ACCEPTED_SENDERS.map((sender) => [sender, []]),
) as unknown as SeededService['targets'];

async function keyFile(folder: string, name: string, key: Buffer): Promise<string> {
  const path = join(folder, `${name}-key`);
  await writeFile(path, key.toString('hex'), { mode: 0o600 });
  return path;
}

function secretsOf(): Record<AcceptedSender, string> {
  const plain = (): string => randomBytes(24).toString('hex');
  return {
    token: plain(),
    url_token: plain(),
    github: plain(),
    stripe: `whsec_${plain()}`,
    standard_webhooks: `whsec_${randomBytes(24).toString('base64')}`,
  };
}

async function applied(
  service: RunningService,
  folder: string,
  senders: readonly AcceptedSender[],
  webhooks: number,
  secrets: Readonly<Record<AcceptedSender, string>>,
): Promise<SeededService['model'][]> {
  const models: SeededService['model'][] = [];
  for (const sender of senders) {
    await service.api('PUT', `/secrets/${secretName(sender)}`, { value: secrets[sender] });
    const path = join(folder, slugOf(sender));
    await writeFactory(path, sender, webhooks);
    const { uid } = await service.api('POST', '/factory', {
      slug: slugOf(sender),
      source: { kind: 'directory', path },
    });
    await service.api('POST', `/factory/${String(uid)}/sync?wait=true`);
    const served = (await service.api('GET', `/factory/${String(uid)}/webhooks`)) as { webhooks: unknown[] };
    if (served.webhooks.length !== webhooks)
      throw new Error(`the factory of ${sender} serves ${served.webhooks.length} webhooks`);
    models.push({ uid: String(uid), path });
  }
  await service.stop();
  return models;
}

async function copied(
  service: EmptyService,
  senders: readonly AcceptedSender[],
  factories: number,
  secrets: Readonly<Record<AcceptedSender, string>>,
): Promise<Pick<SeededService, 'targets' | 'factoryUids'>> {
  const targets = { ...NO_TARGETS };
  const factoryUids: string[] = [];
  const database = await service.open();
  try {
    for (const sender of senders) {
      const twins = await copyFactory(database, service.uidKey, slugOf(sender), factories);
      factoryUids.push(...twins.map(({ factoryUid }) => factoryUid));
      targets[sender] = inTurnOf(twins.map(({ webhookUids }) => webhookUids)).map((uid) => ({
        path: `/webhooks/w/${uid}`,
        secret: secrets[sender],
      }));
    }
  } finally {
    await database.close();
  }
  return { targets, factoryUids };
}

/** The first of each, then the second of each, and so on; all have as many. */
export function inTurnOf<T>(lists: readonly (readonly T[])[]): T[] {
  return Array.from({ length: lists[0]?.length ?? 0 }, (_, at) => lists.map((list) => list[at] as T)).flat();
}

const secretName = (sender: AcceptedSender): string => `bench-${slugOf(sender)}`;
const slugOf = (sender: AcceptedSender): string => sender.replaceAll('_', '-');

async function writeFactory(path: string, sender: AcceptedSender, webhooks: number): Promise<void> {
  await mkdir(join(path, 'webhooks'), { recursive: true });
  await mkdir(join(path, 'automations/on-failure'), { recursive: true });
  const names = Array.from({ length: webhooks }, (_, n) => `hook-${n}`);
  const mode =
    sender === 'token' || sender === 'url_token'
      ? `authMode: ${sender}\n`
      : `authMode: signature\nsignatureScheme: ${sender}\n`;
  for (const name of names)
    await writeFile(join(path, `webhooks/${name}.yaml`), `${mode}secretName: ${secretName(sender)}\n`);
  await writeFile(
    join(path, 'automations/on-failure/automation.md'),
    `---\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhooks: ` +
      `[${names.join(', ')}]\n      payload:\n        status: [failed]\n---\nLook at the failure.\n`,
  );
}

async function running(
  bench: Bench,
  { dataDir, key, as }: { dataDir: string; key: string; as: StartedAs },
  environment: Readonly<Record<string, string>>,
): Promise<RunningService> {
  const beganAtMs = performance.now();
  const { url, process: child, stop } = await startAlone(dataDir, key, environment, as);
  bench.atEnd(stop);
  const readyMs = performance.now() - beganAtMs;
  const api: RunningService['api'] = async (method, path, body) => {
    const request: RequestInit = {
      method,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    };
    if (body !== undefined) request.body = JSON.stringify(body);
    const answer = await fetch(`${url}/api/v1${path}`, request);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  return { url, key, port: Number(new URL(url).port), pid: child.pid ?? 0, readyMs, api, stop };
}
