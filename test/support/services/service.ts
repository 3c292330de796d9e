/** Boots the real service inside a test: own data folder, own port, real HTTP. */
export { freePort } from '../network/ports.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LaunchProfile } from '#agents';
import type { ServiceOptions, Service } from '../../../apps/server/bootstrap.ts';
import { SUITE_AGENT } from '../agents/suite-agent.ts';
import { watchAnswers } from './conforming.ts';
import { freePort } from '../network/ports.ts';
import { createService, deriveUid, EXAMPLE_COMMAND, Log, readConfig, serviceAccountOf } from './built-service.ts';
import type { SourceSettings } from '#reconcile';

/** A service of all roles; one of some roles lacks the parts of the others. */
export type WholeService = Service & Required<Pick<Service, 'serving' | 'engine' | 'scheduler'>>;

export interface TestService {
  service: WholeService;
  url: string;
  adminKey: string;
  dataDir: string;
  /** Every log line so far. */
  logged: string[];
  /** Calls the API; answers status, headers and parsed body. */
  api(method: string, path: string, body?: unknown, key?: string): Promise<ApiAnswer>;
  /** Makes a factory with a trusted local source and waits for its first pass. */
  factory(slug: string, source: SourceSettings): Promise<string>;
  /** Sets a team secret. */
  secret(name: string, value: string): Promise<void>;
  /** Asks for a pass and waits for its end; answers the factory's status. */
  sync(factoryUid: string): Promise<Record<string, unknown>>;
  ingressUrl(factorySlug: string, webhookSlug: string): string;
  webhookUid(factorySlug: string, webhookSlug: string): string;
  stop(options?: { keepData?: boolean }): Promise<void>;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  // Tests look into many shapes of JSON.
  body: Record<string, unknown> & { [key: string]: unknown };
}

export interface BootOptions {
  environment?: Record<string, string>;
  dataDir?: string;
  nowMs?: () => number;
  /** Agents that runs may name; the built-in profiles if not said. */
  profiles?: readonly LaunchProfile[];
  /** Folder of the built web page; where the build puts it, if not said. */
  pageFolder?: string;
  /** How long it looks away, should nobody tell. */
  pollIntervals?: ServiceOptions['pollIntervals'];
  /** Factories whose sources may be local; all, if not said. */
  isTrusted?: ServiceOptions['isTrusted'];
  /** Sees the service before it starts. */
  composed?: (service: WholeService) => void;
}

/** Starts a service on a free port. Stop it in `afterAll`/`afterEach`. */
export async function bootService(options: BootOptions = {}): Promise<TestService> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'millwright-test-')));
  const adminKey = `mw_${randomBytes(32).toString('base64url')}`;
  const environment: Record<string, string | undefined> = {
    PATH: process.env['PATH'],
    MILLWRIGHT_PORT: String(await freePort()),
    MILLWRIGHT_DATA_DIR: dataDir,
    MILLWRIGHT_ADMIN_KEY: adminKey,
    MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'true',
    MILLWRIGHT_DISK_RESERVE_MB: '1',
    // Most tests want runs that end at once; those about agents name the harness.
    MILLWRIGHT_RUN_COMMAND: JSON.stringify(EXAMPLE_COMMAND),
    ...options.environment,
  };
  const config = readConfig(environment);
  const logged: string[] = [];
  const nowMs = options.nowMs ?? Date.now;
  const service = (await createService(config, {
    builtInAgent: SUITE_AGENT,
    profiles: options.profiles,
    pageFolder: options.pageFolder,
    pollIntervals: options.pollIntervals,
    log: new Log((line) => void logged.push(line), nowMs, config.logLevel),
    nowMs,
    isTrusted: options.isTrusted ?? (() => true),
    othersAnswer: false, // the connections of the tests' own client are idle, and nobody waits for them
  })) as WholeService;
  await service.installation.firstAdminKey();
  options.composed?.(service);
  await service.start();
  const url = config.publicUrl;
  watchAnswers(url);
  const key = environment['MILLWRIGHT_ADMIN_KEY'] ?? adminKey;

  const api = async (method: string, path: string, body?: unknown, withKey = key): Promise<ApiAnswer> => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${withKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? {} : (JSON.parse(text) as ApiAnswer['body']),
    };
  };
  const webhookUid = (factorySlug: string, webhookSlug: string): string =>
    deriveUid(service.installation.uidKey, 'webhook', factorySlug, webhookSlug);

  return {
    service,
    url,
    adminKey: key,
    dataDir,
    logged,
    api,
    webhookUid,
    ingressUrl: (factorySlug, webhookSlug) => `${config.ingressUrl}/webhooks/w/${webhookUid(factorySlug, webhookSlug)}`,
    async factory(slug, source) {
      const uid = deriveUid(service.installation.uidKey, 'factory', slug);
      await service.factories.create({
        uid,
        slug,
        name: slug,
        description: '',
        source,
        serviceAccountUid: serviceAccountOf(uid),
      });
      const made = await service.factories.find(uid);
      if (made === undefined) throw new Error('the factory was not made');
      await service.loops.add(made);
      const passed = await service.loops.waitForGeneration(uid, 1, AWAITED_MS_MAX);
      if (passed === undefined) throw new Error(`the first pass of ${slug} did not end`);
      return uid;
    },
    async secret(name, value) {
      const answer = await api('PUT', `/secrets/${name}`, { value });
      if (answer.status !== 200) throw new Error(`the secret ${name} was refused: ${answer.status}`);
    },
    async sync(factoryUid) {
      const answer = await api('POST', `/factory/${factoryUid}/sync?wait=true`);
      if (answer.status !== 200) throw new Error(`the sync was refused: ${answer.status}`);
      return answer.body;
    },
    async stop({ keepData = false } = {}) {
      await service.stop();
      // A sandbox that is tried at the start may still be there.
      if (!keepData) await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** Below what a test may take, so that the failure says what was awaited; a busy machine needs most of it. */
const AWAITED_MS_MAX = 110_000;

/** Waits until a condition holds, looking often; fails with `what` when it never does. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  timeoutMs = AWAITED_MS_MAX,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
