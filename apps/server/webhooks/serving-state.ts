/**
 * Webhooks and filters in memory, so that a delivery needs no query to be decided; guarded by version. contract §5.8
 * (Transaction).
 */
import { Injectable } from '@nestjs/common';
import { digestSecret, prepareSigningKey, SIGNATURE_SCHEMES, type SignatureScheme } from '#authentication';
import { SERVING_VERSION_FRESH_MS } from '#deliveries';
import type { AgentDefaults, AuthMode } from '#definitions';
import type { CompiledFilter } from '#filters';
import { Vault } from '../secrets/vault.ts';
import { type ServingFactory, ServingStore, type ServingWebhook } from '../store/serving/serving.ts';
import type { SealedSecret } from '../store/secrets/secrets.ts';
import { Clock } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { CompiledFilters, DefinitionCache } from './definition-cache.ts';

/** One webhook as the ingress sees it. A credential that is undefined never authenticates. */
export interface ServedWebhook extends Credential {
  uid: string;
  slug: string;
  name: string;
  enabled: boolean;
  authMode: AuthMode;
  deliveryIdHeader?: string;
  replayProtection?: 'body';
  scheme?: SignatureScheme;
  /** The value of before, while it is accepted too; absent as a rule. */
  previous?: Credential & { untilMs: number };
  /** Automations that select this webhook. */
  automations: readonly ServedAutomation[];
  factory: ServedFactory;
}

/** What a secret's value comes to; neither of them where it authenticates nobody. */
export interface Credential {
  /** SHA-256 of the token, for token and url_token. */
  tokenDigest?: Uint8Array;
  signingKey?: Uint8Array;
}

/** An automation as the decision sees it: what it starts is looked up when it does. */
export interface ServedAutomation {
  uid: string;
  /** Same as `uid`: what `decideRuns` calls it. */
  id: string;
  name: string;
  enabled: boolean;
  webhookUids: readonly string[];
  /** The filter of the trigger that selects the webhook; several triggers of one automation are one entry each. */
  filter: CompiledFilter;
}

export interface ServedFactory {
  uid: string;
  slug: string;
  version: number;
  revision: string;
  serviceAccountUid: string;
  agentDefaults?: AgentDefaults;
}

/** Factories taken in at once: between two such parts everything else goes on. */
const FACTORIES_PER_LOOK = 20;

/** Webhooks whose automations are read ahead: about as many as have room. */
const PREPARED_MAX = 4_000;

@Injectable()
export class Serving {
  private readonly webhooks = new Map<string, ServedWebhook>();
  private readonly webhooksOf = new Map<string, string[]>();
  private readonly filters = new CompiledFilters();
  private version = 0;
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
    return this.webhooks.get(uid);
  }

  /**
   * What these of its automations say, by UID; undefined where the factory has moved on: decide again. To be waited
   * for only where it is not in memory. Throws StoreError.
   */
  definitionsOf({ factory }: ServedWebhook, automationUids: readonly string[]): ReturnType<DefinitionCache['of']> {
    return this.definitions.of(factory, automationUids);
  }

  /** Reads what the automations of these webhooks say, so that their next deliveries wait for nothing. */
  async prepare(webhookUids: readonly string[]): Promise<void> {
    for (const uid of webhookUids.slice(0, PREPARED_MAX)) {
      const webhook = this.webhooks.get(uid);
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
    if ((await this.store.version()) !== this.version) {
      await this.takeChanged();
      this.whenLoaded?.();
    }
    this.confirmedAtMs = askedAtMs;
  }

  /** Everything that changed, a part at a time: at a start that is everything there is. */
  private async takeChanged(): Promise<void> {
    for (;;) {
      const changed = await this.store.changedSince(this.version, FACTORIES_PER_LOOK);
      for (const factory of changed) this.take(factory);
      // Behind all of them: a fault between two factories loses none.
      this.version = Math.max(this.version, ...changed.map(({ foundAt }) => foundAt));
      if (changed.length < FACTORIES_PER_LOOK) return;
      await new Promise(setImmediate);
    }
  }

  private take(factory: ServingFactory): void {
    for (const uid of this.webhooksOf.get(factory.uid) ?? []) this.webhooks.delete(uid);
    this.webhooksOf.delete(factory.uid);
    if (factory.deleted) return;
    const served: ServedFactory = {
      uid: factory.uid,
      slug: factory.slug,
      version: factory.version,
      revision: factory.revision,
      serviceAccountUid: factory.serviceAccountUid,
      agentDefaults: factory.agentDefaults,
    };
    const automations = byWebhook(factory, this.filters);
    for (const webhook of factory.webhooks)
      this.webhooks.set(webhook.uid, this.serve(webhook, served, automations.get(webhook.uid) ?? []));
    this.webhooksOf.set(
      factory.uid,
      factory.webhooks.map(({ uid }) => uid),
    );
  }

  private serve(
    webhook: ServingWebhook,
    factory: ServedFactory,
    automations: readonly ServedAutomation[],
  ): ServedWebhook {
    const { uid, slug, name, enabled, authMode, deliveryIdHeader, replayProtection } = webhook;
    const scheme = webhook.signatureScheme === undefined ? undefined : SIGNATURE_SCHEMES.get(webhook.signatureScheme);
    return {
      uid,
      slug,
      name,
      enabled,
      authMode,
      deliveryIdHeader,
      replayProtection,
      scheme,
      automations,
      factory,
      ...this.credential(webhook.secret, scheme),
      ...(webhook.previous === undefined ? {} : { previous: this.previous(webhook.previous, scheme) }),
    };
  }

  private previous(
    { secret, untilMs }: NonNullable<ServingWebhook['previous']>,
    scheme: SignatureScheme | undefined,
  ): ServedWebhook['previous'] {
    return { ...this.credential(secret, scheme), untilMs };
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

/** One entry for each trigger. Texts that are the same are kept once. */
function byWebhook(
  { webhooks, automations }: ServingFactory,
  filters: CompiledFilters,
): Map<string, ServedAutomation[]> {
  const selected = new Map<string, ServedAutomation[]>(webhooks.map(({ uid }) => [uid, []]));
  const known = new Map(webhooks.map(({ uid }) => [uid, uid]));
  for (const { uid, name, definition } of automations) {
    for (const trigger of definition.triggers) {
      if (trigger.provider !== 'webhook') continue;
      const webhookUids = trigger.webhookUids.map((webhookUid) => known.get(webhookUid) ?? webhookUid);
      const served = new ServedTrigger(
        { uid, name, enabled: definition.enabled, webhookUids },
        trigger.payload === undefined ? undefined : JSON.stringify(trigger.payload),
        filters,
      );
      for (const webhookUid of webhookUids) selected.get(webhookUid)?.push(served);
    }
  }
  return selected;
}

class ServedTrigger implements ServedAutomation {
  readonly uid: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly webhookUids: readonly string[];
  private readonly filterText: string | undefined;
  private readonly filters: CompiledFilters;

  constructor(
    { uid, name, enabled, webhookUids }: Pick<ServedAutomation, 'uid' | 'name' | 'enabled' | 'webhookUids'>,
    filterText: string | undefined,
    filters: CompiledFilters,
  ) {
    this.uid = uid;
    this.name = name;
    this.enabled = enabled;
    this.webhookUids = webhookUids;
    this.filterText = filterText;
    this.filters = filters;
  }

  get id(): string {
    return this.uid;
  }

  get filter(): CompiledFilter {
    return this.filters.of(this.filterText);
  }
}
