/**
 * Replicas of the service as processes that can be killed, on one database, with a factory whose webhooks they serve.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { factoryFolder, type FactoryFolder, type FactoryTree } from '../factories/factory-folder.ts';
import { askDatabase, type Place } from '../runs/run-invariants.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

export const FIELD_TOKEN = 'bearer-token-of-the-tests';

export interface FieldOptions {
  /** PostgreSQL; without one SQLite in the data folder, of one replica. */
  databaseUrl?: string;
  replicas: number;
  tree: FactoryTree;
  /** Further files of the factory, by path. */
  files?: Readonly<Record<string, string>>;
  /** Of all; a replica's own come on top. */
  environment?: Readonly<Record<string, string>>;
  own?(index: number): Readonly<Record<string, string>>;
}

/** Runs that end by themselves in no time. */
const ENVIRONMENT = {
  MILLWRIGHT_RUN_COMMAND: '["/bin/true"]',
  MILLWRIGHT_RUN_CONCURRENCY: '3',
  MILLWRIGHT_DRAIN_SECONDS: '0',
  MILLWRIGHT_LOG_LEVEL: 'warn',
};
const OPEN = "('QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";

export class Field {
  private readonly options: FieldOptions;
  private readonly root: string;
  private readonly folder: FactoryFolder;
  private readonly running: (ServiceProcess | undefined)[];
  /** Every process that was started, for its end. */
  private readonly started: ServiceProcess[] = [];
  private readonly stopped = new Set<number>();
  private webhooks = new Map<string, string>();
  factoryUid = '';

  private constructor(options: FieldOptions, root: string, folder: FactoryFolder) {
    [this.options, this.root, this.folder] = [options, root, folder];
    this.running = Array.from({ length: options.replicas }, () => undefined);
  }

  /** Starts all replicas and waits until they serve the tree. Close it, also when a test fails. */
  static async open(options: FieldOptions): Promise<Field> {
    const root = await mkdtemp(join(tmpdir(), 'millwright-field-'));
    for (const key of ['master-key', 'uid-key'])
      await writeFile(join(root, key), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    const folder = await factoryFolder(options.tree);
    for (const [path, text] of Object.entries(options.files ?? {})) await folder.writeFile(path, text);
    const field = new Field(options, root, folder);
    try {
      await field.start(0);
      await field.makeFactory();
      await Promise.all(Array.from({ length: options.replicas - 1 }, (_, index) => field.start(index + 1)));
    } catch (error) {
      await field.close();
      throw error;
    }
    return field;
  }

  /** Where everything is stored. */
  get place(): Place {
    const { databaseUrl } = this.options;
    return databaseUrl === undefined ? { dataDir: this.dataDir(0) } : { url: databaseUrl };
  }

  dataDir(index: number): string {
    return join(this.root, `data-${index}`);
  }

  /** Base URLs of those that can be asked now, as a balancer knows them. */
  bases(): string[] {
    return this.living().map((index) => this.replica(index).url);
  }

  replica(index: number): ServiceProcess {
    const service = this.running[index];
    if (service === undefined) throw new Error(`replica ${index} does not run`);
    return service;
  }

  /** Those that can be killed now. */
  living(): number[] {
    return this.running.flatMap((service, index) => (service === undefined || this.stopped.has(index) ? [] : [index]));
  }

  webhook(slug: string): string {
    const uid = this.webhooks.get(slug);
    if (uid === undefined) throw new Error(`there is no webhook ${slug}`);
    return uid;
  }

  async start(index: number): Promise<void> {
    const { databaseUrl, environment, own } = this.options;
    const service = await startServiceProcess(this.dataDir(index), {
      ...ENVIRONMENT,
      MILLWRIGHT_MASTER_KEY_FILE: join(this.root, 'master-key'),
      MILLWRIGHT_UID_KEY_FILE: join(this.root, 'uid-key'),
      ...(databaseUrl === undefined ? {} : { MILLWRIGHT_DATABASE_URL: databaseUrl }),
      ...environment,
      ...own?.(index),
    });
    this.started.push(service);
    this.running[index] = service;
  }

  /** SIGKILL, awaited. */
  async kill(index: number): Promise<void> {
    const service = this.replica(index);
    this.running[index] = undefined;
    this.stopped.delete(index);
    service.signal('SIGKILL');
    await service.ended;
  }

  freeze(index: number): void {
    this.replica(index).signal('SIGSTOP');
    this.stopped.add(index);
  }

  thaw(index: number): void {
    this.replica(index).signal('SIGCONT');
    this.stopped.delete(index);
  }

  /** Waits until every run has ended. */
  async quiet(timeMsMax: number): Promise<void> {
    const until = performance.now() + timeMsMax;
    for (;;) {
      const open = await this.ask(
        `SELECT state, count(*) AS runs FROM every_run WHERE state IN ${OPEN} GROUP BY state`,
      );
      if (open.length === 0) return;
      if (performance.now() > until)
        throw new Error(`runs do not end: ${JSON.stringify(open)}; ${this.errors().slice(-2_000)}`);
      await sleep(200);
    }
  }

  /** Rows of the database, past every replica. */
  async ask(query: string): Promise<Record<string, unknown>[]> {
    const { all, close } = await askDatabase(this.place);
    try {
      return (await all(query)) as Record<string, unknown>[];
    } finally {
      await close();
    }
  }

  /** What all processes wrote to stderr. */
  errors(): string {
    return this.started.map((service) => service.errors()).join('');
  }

  async close(): Promise<void> {
    for (const service of this.started) service.signal('SIGKILL');
    await Promise.all(this.started.map(({ ended }) => ended));
    await this.folder.remove();
    await rm(this.root, { recursive: true, force: true });
  }

  private async makeFactory(): Promise<void> {
    const service = this.replica(0);
    await service.api('PUT', '/secrets/bearer', { value: FIELD_TOKEN });
    this.factoryUid = String(
      (await service.api('POST', '/factory', { slug: 'field', source: this.folder.source }))['uid'],
    );
    await service.api('POST', `/factory/${this.factoryUid}/sync?wait=true`);
    const made = (await service.api('GET', `/factory/${this.factoryUid}/webhooks`))['webhooks'] as {
      slug: string;
      uid: string;
    }[];
    this.webhooks = new Map(made.map(({ slug, uid }) => [slug, uid]));
    const wanted = Object.keys(this.options.tree.webhooks ?? {}).length;
    if (made.length !== wanted) throw new Error(`${made.length} webhooks were made of ${wanted}`);
  }
}
