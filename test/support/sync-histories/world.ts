/** One factory with a scripted repository and clock, and real stores, reconciled and served by two replicas. */
import { randomBytes } from 'node:crypto';
import { deriveUid, judge, type Evaluation } from '#reconcile';
import { readDefinitions } from '#definitions';
import { storesOf, type Stores } from '../../conformance/backends.ts';
import { sealing } from '../../conformance/seeds.ts';
import type { Database } from '../../../apps/server/store/database/database.ts';
import type { Factory } from '../../../apps/server/store/factories/factory-rows.ts';
import type { SecretUsage } from '../../../apps/server/store/secrets/secrets.ts';
import { ServingStore, type ServingFactory } from '../../../apps/server/store/serving/serving.ts';
import { change } from '../../../apps/server/store/database/transactions.ts';
import { loadReconcileInput } from '../../../apps/server/sync/reconcile-input.ts';
import { Metrics } from '../../../apps/server/process/metrics.ts';
import type { PassContext, PassResult } from '../../../apps/server/sync/pass-context.ts';
import { FactoryPass } from '../../../apps/server/sync/pass.ts';
import { emptied, snapshotOf, type DatabaseSnapshot } from './database-snapshot.ts';
import { FaultInjector, mortal } from './fault-injector.ts';
import type { HistoryRepository } from './repository.ts';
import { SECRET_NAMES } from './steps.ts';

export const FACTORY_SLUG = 'acme';
const UID_KEY = new Uint8Array(32).fill(7);
export const FACTORY_UID = deriveUid(UID_KEY, 'factory', FACTORY_SLUG);
const TEAM = 'team';

/** A database and its tables, used by one history after the other. */
export interface HistoryDatabase {
  database: Database;
  tables: readonly string[];
  clock: { nowMs: number };
}

/** A process that reconciles and serves. */
export interface Replica {
  fate: FaultInjector;
  pass: FactoryPass;
  /** What it serves. */
  served: ServingFactory | undefined;
  /** Takes over what others have committed, as every process does within a second. */
  poll(): Promise<void>;
}

export class HistoryWorld {
  readonly stores: Stores;
  readonly replicas: Replica[] = [];
  readonly approved = new Set<string>();
  /** Everything that was reported, as a log would have it. */
  readonly reported: string[] = [];
  /** What a pass recorded as applied that it did not serve. */
  readonly unserved: string[] = [];
  /** Runs once while the source is read. */
  meanwhile: (() => Promise<void>) | undefined;
  private readonly historyDatabase: HistoryDatabase;
  private readonly database: Database;
  private readonly repository: HistoryRepository;
  private readonly serving: ServingStore;
  /** What was seen last, while nothing has been written since. */
  private seen: Promise<DatabaseSnapshot> | undefined;
  private ids = 0;
  private secretIds = 0;

  constructor(ground: HistoryDatabase, repository: HistoryRepository) {
    this.historyDatabase = ground;
    this.repository = repository;
    this.serving = new ServingStore(ground.database); // reading changes nothing
    this.database = { ...ground.database, run: (body) => this.written(() => ground.database.run(body)) };
    this.stores = storesOf(this.database);
  }

  /** An empty database with the factory, its secrets and two processes. */
  async begin(fastForwardOnly: boolean): Promise<void> {
    await emptied(this.historyDatabase.database, this.historyDatabase.tables);
    const made = await this.stores.factories.create({
      uid: FACTORY_UID,
      slug: FACTORY_SLUG,
      name: FACTORY_SLUG,
      description: '',
      source: {
        kind: 'git',
        url: 'https://git.example.com/x',
        branch: 'main',
        credentialSecret: 'git-token',
        pushSecret: 'push-token',
      },
      syncPolicy: fastForwardOnly ? { fastForwardOnly } : {},
      serviceAccountUid: `sa_${FACTORY_UID}`,
    });
    if (!made) throw new Error('the database was not empty');
    for (const name of SECRET_NAMES) await this.makeSecret(name, markerOf(name, 0));
    for (const [name, use] of [
      ['git-token', 'git'],
      ['push-token', 'forge'],
    ] as const)
      await this.makeSecret(name, markerOf(name, 0), [use]);
    for (const n of SECRET_NAMES.keys()) await this.restart(n);
  }

  /** Another process in the place of one that ended; leases run out meanwhile. */
  async restart(n: number): Promise<void> {
    const fate = new FaultInjector();
    const stores = storesOf(mortal(this.database, fate));
    const replica: Replica = {
      fate,
      served: undefined,
      poll: () => this.poll(replica),
      pass: undefined as unknown as FactoryPass,
    };
    replica.pass = new FactoryPass(this.contextOf(`process-${n}-${this.nextId()}`, stores, replica), {
      snapshot: (known) => fate.call(() => this.read(known)),
      cached: (revision) => fate.call(() => Promise.resolve(this.repository.cached(revision))),
      close: async () => undefined,
    });
    this.replicas[n] = replica;
    await this.endLeases();
    await this.poll(replica);
  }

  async endLeases(): Promise<void> {
    await this.database.run(() => change('UPDATE factory SET lease_until = 0'));
  }

  readSnapshot(): Promise<DatabaseSnapshot> {
    this.seen ??= snapshotOf(this.database, this.historyDatabase.tables);
    return this.seen;
  }

  /** One pass of one process. */
  run(n: number): Promise<PassResult | undefined> {
    return (this.replicas[n] as Replica).pass.run(FACTORY_UID, ['api'], new AbortController().signal);
  }

  ask(): Promise<number> {
    return this.stores.factories.requestSync(FACTORY_UID);
  }

  /** What would be done now, made from outside of a pass as the plan of the API is. */
  async plan(): Promise<Evaluation | undefined> {
    const factory = (await this.stores.factories.find(FACTORY_UID)) as Factory;
    const snapshot = this.repository.outage === undefined ? this.repository.snapshot({}) : undefined;
    if (snapshot?.ok !== true || snapshot.unchanged) return undefined;
    const ground = await loadReconcileInput(factory, {
      uidKey: UID_KEY,
      ...this.stores,
      nowMs: () => this.historyDatabase.clock.nowMs,
    });
    return judge({ revision: snapshot.revision, reading: readDefinitions(snapshot.files) }, ground);
  }

  async makeSecret(name: string, value: string, uses: SecretUsage[] = ['webhook']): Promise<void> {
    await this.stores.secrets.put(
      { id: this.nextSecretId(), owner: TEAM, name, value: sealing(value), grants: { factories: [FACTORY_UID], uses } },
      undefined,
    );
  }

  async rotate(name: string, value: string): Promise<void> {
    await this.stores.secrets.put({ id: this.nextSecretId(), owner: TEAM, name, value: sealing(value) }, undefined);
  }

  async grant(name: string, granted: boolean): Promise<void> {
    await this.stores.secrets.put(
      { id: this.nextSecretId(), owner: TEAM, name, grants: { factories: granted ? [FACTORY_UID] : [] } },
      undefined,
    );
  }

  async drop(name: string): Promise<void> {
    await this.stores.secrets.remove({ owner: TEAM, name, force: true }, undefined);
  }

  async approve(digest: string): Promise<void> {
    this.approved.add(digest);
    await this.stores.factories.approve(FACTORY_UID, { digest, principalUid: 'somebody', isAdmin: true });
  }

  private async read(known: Parameters<HistoryRepository['snapshot']>[0]) {
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    return this.repository.snapshot(known);
  }

  private contextOf(owner: string, stores: Stores, replica: Replica): PassContext {
    const recordPass = stores.factories.recordPass.bind(stores.factories);
    stores.factories.recordPass = async (...given) => {
      const { condition, revisionAttempted } = given[2];
      const served = replica.served?.revision;
      await recordPass(...given); // a stale pass is refused
      if (condition.ending === 'applied' && revisionAttempted !== undefined && served !== revisionAttempted)
        this.unserved.push(`${revisionAttempted} was recorded as applied while ${served ?? 'nothing'} was served`);
    };
    return {
      owner,
      metrics: new Metrics(),
      uidKey: UID_KEY,
      factories: stores.factories,
      definitions: stores.definitions,
      secrets: stores.secrets,
      publish: () => replica.fate.call(() => this.poll(replica)),
      nowMs: () => this.historyDatabase.clock.nowMs,
      newId: () => this.nextId(),
      logEnd: () => undefined,
      report: (fault) =>
        void this.reported.push(
          fault instanceof Error ? `${fault.message} ${fault.stack ?? ''}` : JSON.stringify(fault),
        ),
    };
  }

  private async written<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      this.seen = undefined;
    }
  }

  private async poll(replica: Replica): Promise<void> {
    const [changed] = await this.serving.changedSince(replica.served?.version ?? 0);
    if (changed !== undefined) replica.served = changed;
  }

  /** Counted by themselves: how many passes there were must not tell in them. */
  private nextSecretId(): string {
    this.secretIds += 1;
    return `01800000-0000-7000-8000-${this.secretIds.toString(16).padStart(12, '0')}`;
  }

  /** Ascending, and the same for the same history. */
  private nextId(): string {
    this.ids += 1;
    return `01900000-0000-7000-8000-${this.ids.toString(16).padStart(12, '0')}`;
  }
}

/** This run's word: no value of a secret is in the program's text. */
const WORD = randomBytes(6).toString('hex');

/** The value of a secret: nothing but its own table may ever hold it. */
export function markerOf(name: string, version: number): string {
  return `${SECRET_MARKER}-${name}-${version}`;
}

export const SECRET_MARKER = `marker-${WORD}-of-a-secret`;
