/**
 * Puts a whole service together and has it take deliveries, before connections have to wait for the one that takes
 * over: what is loaded and compiled for the first time is loaded and compiled by then. contract §1.8 (Upgrades).
 */
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveUid } from '#reconcile';
import type { BuiltInAgent } from './execution/agent/agents.ts';
import { createService, type Service } from './bootstrap.ts';
import type { Config } from './config/config.ts';
import { serviceAccountOf } from './factories/factories.service.ts';
import { Log } from './process/log.ts';

/** Deliveries until what takes them is compiled; fewer where they take longer than this. */
const DELIVERIES = 2_000;
const DELIVERIES_MS_MAX = 8_000;
/** Connections that they come on, so that few commits take all of them. */
const CONNECTIONS = 32;
/** By so much its clock is ahead with each delivery: no webhook has its minute full. */
const STEP_MS = 2_000;
const FIRST_PASS_MS = 10_000;
const SLUG = 'rehearsal';
const HOST = '127.0.0.1';

/**
 * Over an empty database in a folder of its own, with keys and a factory of its own; it listens on a port of this
 * machine that nobody knows. What fails here fails again, and is said, when the service begins.
 */
export async function rehearse(config: Config, builtInAgent: BuiltInAgent | undefined): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millwright-rehearsal-'));
  try {
    const aheadMs = { by: 0 };
    const nowMs = (): number => Date.now() + aheadMs.by;
    const options = { builtInAgent, log: SILENT, isTrusted: () => true, nowMs };
    const service = await createService(alone(config, join(folder, 'data')), options);
    try {
      if (service.serving === undefined) return;
      const targets = await startServing(service, join(folder, SLUG));
      await deliver(service, targets, () => (aheadMs.by += STEP_MS));
    } finally {
      await service.stop();
    }
  } catch {
    // The start says it.
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const SILENT = new Log(() => undefined, Date.now, 'error');

/** The same roles, and what reconciles a folder; and nothing that others use. */
function alone(config: Config, dataDir: string): Config {
  return {
    ...config,
    dataDir,
    roles: new Set([...config.roles, 'sync']),
    engine: 'embedded',
    databaseUrl: undefined,
    databaseDirectUrl: undefined,
    redisUrl: undefined,
    masterKeyFile: undefined,
    uidKeyFile: undefined,
    adminKey: undefined,
    metricsListen: undefined,
    traces: undefined,
    host: HOST,
    port: 0,
    publicUrl: `http://${HOST}`,
    ingressUrl: `http://${HOST}`,
    tls: undefined,
    trustedProxies: [],
    runConcurrency: 0,
  };
}

/** A webhook, and how a delivery of it is authenticated. */
interface Target {
  path: string;
  header(body: string): string;
}

/** Starts the service with a factory of one webhook of each kind, whose deliveries start runs that nobody executes. */
async function startServing(service: Service, folder: string): Promise<readonly Target[]> {
  const { uidKey } = service.installation;
  const secret = randomBytes(24).toString('hex');
  await writeFactory(folder);
  await service.secrets.ensure(SLUG, Buffer.from(secret));
  await service.installation.firstAdminKey();
  const uid = deriveUid(uidKey, 'factory', SLUG);
  const source = { kind: 'directory', path: folder } as const;
  const made = { uid, slug: SLUG, name: SLUG, description: '', source, serviceAccountUid: serviceAccountOf(uid) };
  await service.factories.create(made, service.installation.author());
  const generation = await service.factories.requestSync(uid);
  await service.start();
  await service.loops.waitForGeneration(uid, generation, FIRST_PASS_MS);
  await service.serving?.refresh();
  const pathOf = (slug: string): string => `/webhooks/w/${deriveUid(uidKey, 'webhook', SLUG, slug)}`;
  return [
    { path: pathOf('token'), header: () => `Authorization: Bearer ${secret}` },
    {
      path: pathOf('signed'),
      header: (body) => `X-Hub-Signature-256: sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    { path: pathOf('token'), header: () => 'Authorization: Bearer wrong' },
  ];
}

async function writeFactory(folder: string): Promise<void> {
  await mkdir(join(folder, 'webhooks'), { recursive: true });
  await mkdir(join(folder, 'automations/all'), { recursive: true });
  await writeFile(join(folder, 'webhooks/token.yaml'), `secretName: ${SLUG}\n`);
  await writeFile(
    join(folder, 'webhooks/signed.yaml'),
    `authMode: signature\nsignatureScheme: github\nsecretName: ${SLUG}\n`,
  );
  await writeFile(
    join(folder, 'automations/all/automation.md'),
    '---\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhooks: [token, signed]\n' +
      '      payload:\n        status: [failed]\n---\nLook at it.\n',
  );
}

/** One after the other on each connection. */
async function deliver(service: Service, targets: readonly Target[], tick: () => void): Promise<void> {
  const { port } = service.app.getHttpServer().address() as AddressInfo;
  const untilMs = performance.now() + DELIVERIES_MS_MAX;
  let count = 0;
  const run = async (): Promise<void> => {
    const socket = connect(port, HOST);
    try {
      await once(socket, 'connect');
      while (count < DELIVERIES && performance.now() < untilMs) {
        count += 1;
        tick();
        await exchange(socket, requestOf(targets, count));
      }
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, run));
}

/** Most are new and accepted; some are repeated, some of nobody whom the webhook knows. */
function requestOf(targets: readonly Target[], count: number): string {
  const [token, signed, refused] = targets;
  const target = (count % 20 === 0 ? refused : count % 4 === 0 ? signed : token) as Target;
  const id = count % 16 === 1 ? count - 1 : count;
  const body = JSON.stringify({ status: count % 2 === 0 ? 'failed' : 'passed', id, text: 'x'.repeat(512) });
  return (
    `POST ${target.path} HTTP/1.1\r\nHost: ${HOST}\r\nContent-Type: application/json\r\n` +
    `X-Millwright-Delivery-Id: ${SLUG}-${id}\r\nX-GitHub-Delivery: ${SLUG}-${id}\r\n${target.header(body)}\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Its answers are short: they come whole. Rejects when the connection ends. */
async function exchange(socket: Socket, request: string): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  socket.once('close', end);
  socket.write(request);
  try {
    await once(socket, 'data', { signal: ended.signal });
  } finally {
    socket.off('close', end);
  }
}
