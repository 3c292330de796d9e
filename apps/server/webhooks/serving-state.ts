/**
 * Webhooks and filters in memory, so that a delivery needs no query to be decided; guarded by version. contract §5.8
 * (Transaction).
 */
import { Injectable, Optional } from '@nestjs/common';
import { digestSecret, prepareSigningKey, SIGNATURE_SCHEMES, type SignatureScheme } from '#authentication';
import { SERVING_VERSION_FRESH_MS } from '#deliveries';
import { Vault } from '../secrets/vault.ts';
import { Notices } from '../store/database/notices.ts';
import { type ServingFactory, ServingStore, type ServingWebhook } from '../store/serving/serving.ts';
import type { SealedSecret } from '../store/secrets/secrets.ts';
import { Clock } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { CompiledFilters, DefinitionCache } from './definition-cache.ts';
import { type Credential, type FactoryContents, type ServedWebhook, ServedWebhooks } from './served-webhooks.ts';

/** What automations say, by UID; undefined: their factory has moved on. */
export type StartingDefinitions = Awaited<ReturnType<DefinitionCache['of']>>;

/** Factories taken in at once: between two such parts everything else goes on. */
const FACTORIES_PER_LOOK = 20;

/** Webhooks whose automations are read ahead: about as many as have room. */
const PREPARED_MAX = 4_000;

@Injectable()
export class Serving {
  private readonly webhooks = new ServedWebhooks(new CompiledFilters());
  private version = 0;
  /** Whose versions memory has taken in; undefined: not all of them. */
  private server: number | undefined;
  private confirmedAtMs = Number.NEGATIVE_INFINITY;
  /** Called when memory has taken in what changed. */
  whenLoaded: (() => void) | undefined;
  private running: Promise<void> | undefined;
  private waiting: Promise<void> | undefined;

  private readonly definitions: DefinitionCache;

  constructor(
    private readonly store: ServingStore,
    private readonly vault: Vault,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.definitions = new DefinitionCache(store);
  }

  /** The serving version that memory has taken in. */
  get loadedVersion(): number {
    return this.version;
  }

  /**
   * From memory, whatever its age: good enough to accept by, because acceptance checks the version in its transaction.
   */
  webhook(uid: string): ServedWebhook | undefined {
    return this.webhooks.find(uid);
  }

  /** Whether memory serves this webhook still as it is here. */
  isCurrent(webhook: ServedWebhook): boolean {
    return this.webhooks.isCurrent(webhook);
  }

  /**
   * What these of its automations say, by UID; undefined where the factory has moved on: decide again. To be waited
   * for only where it is not in memory. Throws StoreError.
   */
  definitionsOf(
    { factory }: ServedWebhook,
    automationUids: readonly string[],
  ): StartingDefinitions | Promise<StartingDefinitions> {
    return this.definitions.of(factory, automationUids);
  }

  /** Reads what the automations of these webhooks say, so that their next deliveries wait for nothing. */
  async prepare(webhookUids: readonly string[]): Promise<void> {
    for (const uid of webhookUids.slice(0, PREPARED_MAX)) {
      const webhook = this.webhooks.find(uid);
      if (webhook === undefined) continue;
      await this.definitionsOf(webhook, [...new Set(webhook.automations.map((automation) => automation.uid))]);
    }
  }

  /** Whether memory was confirmed recently enough for a refusal. */
  isConfirmed(): boolean {
    return this.clock.monotonicMs() - this.confirmedAtMs <= SERVING_VERSION_FRESH_MS;
  }

  /** Brings memory up to what is committed now. Throws StoreError when the database does not answer. */
  refresh(): Promise<void> {
    // One look runs and at most one waits: a look that began before our question may have been too early for it.
    if (this.waiting === undefined) {
      this.waiting = (this.running ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => {
          this.running = this.waiting;
          this.waiting = undefined;
          return this.load();
        });
    }
    return this.waiting;
  }

  /** Like `refresh`, but shares an answer that is younger than a second. */
  async confirm(): Promise<void> {
    if (!this.isConfirmed()) await this.refresh();
  }

  private async load(): Promise<void> {
    const askedAtMs = this.clock.monotonicMs();
    const { version, server } = await this.store.latest();
    const hasGoneOn = server === this.server && version >= this.version;
    if (!hasGoneOn || version !== this.version) {
      await (hasGoneOn ? this.takeChanged() : this.takeAll(server));
      this.whenLoaded?.();
    }
    this.confirmedAtMs = askedAtMs;
  }

  /**
   * Everything there is: at a start, and where the database may lack what memory has, because another server answers
   * than before, or one that has gone back.
   */
  private async takeAll(server: number): Promise<void> {
    this.server = undefined;
    this.version = 0;
    const present = await this.takeChanged();
    this.webhooks.keepOnly(present);
    this.server = server;
  }

  /** Everything that changed, a part at a time. Answers which factories that were. */
  private async takeChanged(): Promise<Set<string>> {
    const taken = new Set<string>();
    for (;;) {
      const changed = await this.store.changedSince(this.version, FACTORIES_PER_LOOK);
      for (const factory of changed) {
        this.take(factory);
        taken.add(factory.uid);
      }
      // Behind all of them: a fault between two factories loses none.
      this.version = Math.max(this.version, ...changed.map(({ foundAt }) => foundAt));
      if (changed.length < FACTORIES_PER_LOOK) return taken;
      await new Promise(setImmediate);
    }
  }

  private take(factory: ServingFactory): void {
    const { uid, slug, version, revision, serviceAccountUid, agentDefaults, automations } = factory;
    if (factory.deleted) return this.webhooks.delete(uid);
    this.webhooks.replace({
      factory: { uid, slug, version, revision, serviceAccountUid, agentDefaults },
      webhooks: factory.webhooks.map((webhook) => this.withCredentials(webhook)),
      automations,
    });
  }

  private withCredentials({ secret, previous, ...webhook }: ServingWebhook): FactoryContents['webhooks'][number] {
    const { signatureScheme: name } = webhook;
    const scheme = name === undefined ? undefined : SIGNATURE_SCHEMES.get(name);
    return {
      ...webhook,
      ...this.credential(secret, scheme),
      ...(previous && { previous: { ...this.credential(previous.secret, scheme), untilMs: previous.untilMs } }),
    };
  }

  private credential(secret: SealedSecret | undefined, scheme: SignatureScheme | undefined): Credential {
    if (secret === undefined) return {};
    const value = this.opened(secret);
    if (value === undefined) return {};
    if (scheme === undefined) return { tokenDigest: digestSecret(value) };
    const prepared = prepareSigningKey(scheme, value);
    return prepared.ok ? { signingKey: prepared.key } : {};
  }

  /** A value that was damaged at rest authenticates nobody, and takes no other webhook down with it. */
  private opened(secret: SealedSecret): Uint8Array | undefined {
    try {
      return this.vault.open(secret, secret.secretId, secret.version);
    } catch (error) {
      this.log.fault('secret decryption failed', error, { secret_id: secret.secretId });
      return undefined;
    }
  }
}

/** Publishes to every process that what serves has changed. contract §5.8 (Transaction), §9. */
@Injectable()
export class ServingPublisher {
  constructor(
    private readonly notices: Notices,
    private readonly log: Log,
    @Optional() private readonly serving?: Serving,
  ) {
    if (serving === undefined) return;
    notices.subscribe(
      'serving',
      () => void serving.refresh().catch((fault: unknown) => log.fault('serving state refresh failed', fault)),
    );
  }

  /** What was committed serves here when this ends, and elsewhere at once or at the next poll. */
  async publish(): Promise<void> {
    this.notices.publish('serving');
    await this.serving?.refresh();
  }

  /** The same for who has committed already: memory that could not follow is found out by the next delivery. */
  async publishCommitted(): Promise<void> {
    await this.publish().catch((fault: unknown) => this.log.fault('serving state refresh failed', fault));
  }
}
