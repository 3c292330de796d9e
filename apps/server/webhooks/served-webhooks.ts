/**
 * Webhooks as the ingress sees them: of tens of thousands only some are busy, so all are packed as bytes, and those
 * that are asked for are objects. contract §5.8 (Transaction).
 */
import { LRUCache } from 'lru-cache';
import { SIGNATURE_SCHEMES, type SignatureScheme } from '#authentication';
import type { AgentDefaults, AuthMode } from '#definitions';
import { type PackRange, type RecordPack, RecordPackWriter } from '#deliveries';
import type { CompiledFilter } from '#filters';
import type { ServingAutomation, ServingWebhook } from '../store/serving/serving.ts';
import type { CompiledFilters } from './definition-cache.ts';

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
  /** Of those that its trigger selects, the one that it is an automation of. */
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

/** What is packed of a factory: the credentials of each webhook are opened already. */
export interface FactoryContents {
  factory: ServedFactory;
  webhooks: readonly (Omit<ServingWebhook, 'secret' | 'previous'> &
    Pick<ServedWebhook, keyof Credential | 'previous'>)[];
  automations: readonly ServingAutomation[];
}

/** Webhooks kept as objects: a KiB each and their filters' texts. Unpacking one takes some microseconds. */
const UNPACKED_MAX = 4_000;
/** The same with a unit for each of their triggers. */
const UNPACKED_UNITS_MAX = 200_000;

export class ServedWebhooks {
  private readonly filters: CompiledFilters;
  private readonly packed = new Map<string, PackedWebhook>();
  private readonly uidsOf = new Map<string, readonly string[]>();
  private readonly unpacked = new LRUCache<string, ServedWebhook>({
    max: UNPACKED_MAX,
    maxSize: UNPACKED_UNITS_MAX,
    sizeCalculation: ({ automations }) => 1 + automations.length,
  });

  constructor(filters: CompiledFilters) {
    this.filters = filters;
  }

  of(uid: string): ServedWebhook | undefined {
    const known = this.unpacked.get(uid);
    if (known !== undefined) return known;
    const packed = this.packed.get(uid);
    if (packed === undefined) return undefined;
    const webhook = unpackWebhook(packed, this.filters);
    this.unpacked.set(webhook.uid, webhook);
    return webhook;
  }

  /** Whether this is still how the webhook is served. */
  has({ uid, factory }: ServedWebhook): boolean {
    return this.packed.get(uid)?.pack.factory === factory;
  }

  /** In place of what was known of the factory. */
  set(contents: FactoryContents): void {
    this.delete(contents.factory.uid);
    for (const [uid, packed] of packFactory(contents)) this.packed.set(uid, packed);
    this.uidsOf.set(
      contents.factory.uid,
      contents.webhooks.map(({ uid }) => uid),
    );
  }

  delete(factoryUid: string): void {
    for (const uid of this.uidsOf.get(factoryUid) ?? []) {
      this.packed.delete(uid);
      this.unpacked.delete(uid);
    }
    this.uidsOf.delete(factoryUid);
  }
}

interface FactoryPack {
  factory: ServedFactory;
  records: RecordPack;
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
  triggers: readonly PackRange[];
}

interface CredentialRecord {
  tokenDigest?: PackRange;
  signingKey?: PackRange;
}

/** The record of a trigger: one for all webhooks that it selects. */
interface TriggerRecord extends Pick<ServedAutomation, 'uid' | 'name' | 'enabled'> {
  filter?: PackRange;
}

/** Each webhook of the factory by its UID. */
function packFactory({ factory, webhooks, automations }: FactoryContents): Map<string, PackedWebhook> {
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
      triggers: triggers.get(uid) ?? [],
    };
    return [uid, writer.addRecord(record)];
  });
  const pack = { factory, records: writer.finish() };
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

function unpackWebhook({ uid, pack, start, end }: PackedWebhook, filters: CompiledFilters): ServedWebhook {
  const { records, factory } = pack;
  const record = records.record<WebhookRecord>([start, end]);
  const { slug, name, enabled, authMode, deliveryIdHeader, replayProtection, scheme, previous } = record;
  const webhookUids = [uid];
  return {
    uid,
    slug,
    name,
    enabled,
    authMode,
    deliveryIdHeader,
    replayProtection,
    scheme: scheme === undefined ? undefined : SIGNATURE_SCHEMES.get(scheme),
    automations: record.triggers.map((trigger) => new ServedTrigger(records, trigger, { webhookUids, filters })),
    factory,
    ...unpackCredential(records, record.credential),
    ...(previous && { previous: { ...unpackCredential(records, previous.credential), untilMs: previous.untilMs } }),
  };
}

function unpackCredential(records: RecordPack, { tokenDigest, signingKey }: CredentialRecord): Credential {
  return {
    ...(tokenDigest && { tokenDigest: records.bytes(tokenDigest) }),
    ...(signingKey && { signingKey: records.bytes(signingKey) }),
  };
}

/** Unpacked when it is first asked for: a webhook may have ten thousand, which are decided in slices. */
class ServedTrigger implements ServedAutomation {
  readonly webhookUids: readonly string[];
  private readonly records: RecordPack;
  private readonly place: PackRange;
  private readonly filters: CompiledFilters;
  private unpacked: TriggerRecord | undefined;
  /** What its filter is compiled by. */
  private filterText: string | undefined;

  constructor(
    records: RecordPack,
    place: PackRange,
    { webhookUids, filters }: { webhookUids: readonly string[]; filters: CompiledFilters },
  ) {
    this.webhookUids = webhookUids;
    this.records = records;
    this.place = place;
    this.filters = filters;
    this.unpacked = undefined;
    this.filterText = undefined;
  }

  get uid(): string {
    return this.record.uid;
  }

  get id(): string {
    return this.record.uid;
  }

  get name(): string {
    return this.record.name;
  }

  get enabled(): boolean {
    return this.record.enabled;
  }

  get filter(): CompiledFilter {
    const { filter } = this.record;
    if (filter === undefined) return this.filters.of(undefined);
    this.filterText ??= this.records.text(filter);
    return this.filters.of(this.filterText);
  }

  private get record(): TriggerRecord {
    this.unpacked ??= this.records.record<TriggerRecord>(this.place);
    return this.unpacked;
  }
}
