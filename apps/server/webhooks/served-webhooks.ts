/**
 * Webhooks as the ingress sees them: of tens of thousands only some are busy, so all are packed as bytes, and those
 * that are asked for are objects. contract §5.8 (Transaction).
 */
import { LRUCache } from 'lru-cache';
import { SIGNATURE_SCHEMES, type SignatureScheme } from '#authentication';
import type { AgentDefaults, AuthMode } from '#definitions';
import { type PackRange, type RecordPack, RecordPackWriter } from '#deliveries';
import type { ServingAutomation, ServingWebhook } from '../store/serving/serving.ts';
import {
  type CompiledFilters,
  FactoryTriggers,
  type ServedAutomation,
  type TriggerRecord,
} from './definition-cache.ts';

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

export interface ServedFactory {
  uid: string;
  slug: string;
  version: number;
  revision: string;
  serviceAccountUid: string;
  agentDefaults?: AgentDefaults;
}

/** What is packed of a factory: the credentials of each webhook are opened already. */
export interface FactoryContents {
  factory: ServedFactory;
  webhooks: readonly (Omit<ServingWebhook, 'secret' | 'previous'> &
    Pick<ServedWebhook, keyof Credential | 'previous'>)[];
  automations: readonly ServingAutomation[];
}

/**
 * Webhooks kept as objects: half a KiB each, and as much with its filter's text for each of their triggers. Unpacking
 * one takes some microseconds, and one more for each of its triggers that is asked for.
 */
const UNPACKED_MAX = 4_000;
/** The same with a unit for each of their triggers: what they hold of them, for those are shared. */
const UNPACKED_UNITS_MAX = 1_000_000;

export class ServedWebhooks {
  private readonly filters: CompiledFilters;
  private readonly packed = new Map<string, PackedWebhook>();
  private readonly uidsOf = new Map<string, readonly string[]>();
  private readonly unpacked = new LRUCache<string, UnpackedWebhook>({
    max: UNPACKED_MAX,
    maxSize: UNPACKED_UNITS_MAX,
    sizeCalculation: ({ triggerCount }) => 1 + triggerCount,
    dispose: ({ pack }) => pack.triggers.release(),
  });

  constructor(filters: CompiledFilters) {
    this.filters = filters;
  }

  find(uid: string): ServedWebhook | undefined {
    const known = this.unpacked.get(uid);
    if (known !== undefined) return known;
    const packed = this.packed.get(uid);
    if (packed === undefined) return undefined;
    const webhook = new UnpackedWebhook(packed);
    this.unpacked.set(webhook.uid, webhook);
    // One that has more than all together may have is not kept.
    if (this.unpacked.has(webhook.uid)) webhook.pack.triggers.keep();
    return webhook;
  }

  /** Whether this is still how the webhook is served. */
  isCurrent({ uid, factory }: ServedWebhook): boolean {
    return this.packed.get(uid)?.pack.factory === factory;
  }

  /** In place of what was known of the factory. */
  replace(contents: FactoryContents): void {
    const packed = packFactory(contents, this.filters);
    this.delete(contents.factory.uid);
    for (const [uid, one] of packed) {
      this.packed.set(uid, one);
      this.unpacked.delete(uid);
    }
    this.uidsOf.set(contents.factory.uid, [...packed.keys()]);
  }

  delete(factoryUid: string): void {
    for (const uid of this.uidsOf.get(factoryUid) ?? []) {
      this.packed.delete(uid);
      this.unpacked.delete(uid);
    }
    this.uidsOf.delete(factoryUid);
  }

  /** Forgets all factories but these. */
  keepOnly(factoryUids: ReadonlySet<string>): void {
    for (const uid of this.uidsOf.keys()) if (!factoryUids.has(uid)) this.delete(uid);
  }
}

interface FactoryPack {
  factory: ServedFactory;
  records: RecordPack;
  triggers: FactoryTriggers;
}

/** Where a webhook lies: all that one costs of the heap which is not asked for. */
interface PackedWebhook {
  /** The one copy of it: who asks may hold a part of a request's path, and must not keep all of that in memory. */
  uid: string;
  pack: FactoryPack;
  start: number;
  end: number;
}

/** The record of a webhook. */
interface WebhookRecord extends Pick<
  ServedWebhook,
  'slug' | 'name' | 'enabled' | 'authMode' | 'deliveryIdHeader' | 'replayProtection'
> {
  scheme?: string;
  credential: CredentialRecord;
  previous?: { credential: CredentialRecord; untilMs: number };
  /** Ranges of their records. */
  triggers: PackRange;
}

interface CredentialRecord {
  tokenDigest?: PackRange;
  signingKey?: PackRange;
}

/** Each webhook of the factory by its UID. */
function packFactory(
  { factory, webhooks, automations }: FactoryContents,
  filters: CompiledFilters,
): Map<string, PackedWebhook> {
  const writer = new RecordPackWriter();
  const triggers = new Map<string, PackRange[]>(webhooks.map(({ uid }) => [uid, []]));
  for (const automation of automations) packTriggers(automation, writer, triggers);
  const places = webhooks.map((webhook): [string, PackRange] => {
    const { uid, slug, name, enabled, authMode, deliveryIdHeader, replayProtection, previous } = webhook;
    const record: WebhookRecord = {
      slug,
      name,
      enabled,
      authMode,
      deliveryIdHeader,
      replayProtection,
      scheme: webhook.signatureScheme,
      credential: packCredential(webhook, writer),
      previous: previous && { credential: packCredential(previous, writer), untilMs: previous.untilMs },
      triggers: writer.addRanges(triggers.get(uid) ?? []),
    };
    return [uid, writer.addRecord(record)];
  });
  const records = writer.finish();
  const pack = { factory, records, triggers: new FactoryTriggers(records, filters) };
  return new Map(places.map(([uid, [start, end]]) => [uid, { uid, pack, start, end }]));
}

function packTriggers(
  { uid, name, definition }: ServingAutomation,
  writer: RecordPackWriter,
  triggers: ReadonlyMap<string, PackRange[]>,
): void {
  for (const trigger of definition.triggers) {
    if (trigger.provider !== 'webhook') continue;
    const filter = trigger.payload === undefined ? undefined : writer.addRecord(trigger.payload);
    const record: TriggerRecord = { uid, name, enabled: definition.enabled, filter };
    const place = writer.addRecord(record);
    for (const webhookUid of trigger.webhookUids) triggers.get(webhookUid)?.push(place);
  }
}

function packCredential({ tokenDigest, signingKey }: Credential, writer: RecordPackWriter): CredentialRecord {
  return {
    tokenDigest: tokenDigest && writer.addBytes(tokenDigest),
    signingKey: signingKey && writer.addBytes(signingKey),
  };
}

class UnpackedWebhook implements ServedWebhook {
  readonly uid: string;
  readonly slug: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly authMode: AuthMode;
  readonly deliveryIdHeader: string | undefined;
  readonly replayProtection: 'body' | undefined;
  readonly scheme: SignatureScheme | undefined;
  readonly tokenDigest: Uint8Array | undefined;
  readonly signingKey: Uint8Array | undefined;
  readonly previous: ServedWebhook['previous'];
  readonly factory: ServedFactory;
  readonly pack: FactoryPack;
  readonly triggerCount: number;
  private readonly triggers: PackRange;
  private unpacked: readonly ServedAutomation[] | undefined;

  constructor({ uid, pack, start, end }: PackedWebhook) {
    const { records, factory } = pack;
    const record = records.record<WebhookRecord>([start, end]);
    const { tokenDigest, signingKey } = unpackCredential(record.credential, records);
    this.uid = uid;
    this.slug = record.slug;
    this.name = record.name;
    this.enabled = record.enabled;
    this.authMode = record.authMode;
    this.deliveryIdHeader = record.deliveryIdHeader;
    this.replayProtection = record.replayProtection;
    this.scheme = record.scheme === undefined ? undefined : SIGNATURE_SCHEMES.get(record.scheme);
    this.tokenDigest = tokenDigest;
    this.signingKey = signingKey;
    this.previous = record.previous && {
      ...unpackCredential(record.previous.credential, records),
      untilMs: record.previous.untilMs,
    };
    this.factory = factory;
    this.pack = pack;
    this.triggers = record.triggers;
    this.triggerCount = records.rangeCount(record.triggers);
    this.unpacked = undefined;
  }

  /** Asked for when the sender is known: there may be many. */
  get automations(): readonly ServedAutomation[] {
    this.unpacked ??= this.pack.triggers.of(this.triggers);
    return this.unpacked;
  }
}

function unpackCredential({ tokenDigest, signingKey }: CredentialRecord, records: RecordPack): Credential {
  return {
    tokenDigest: tokenDigest && records.bytes(tokenDigest),
    signingKey: signingKey && records.bytes(signingKey),
  };
}
