/**
 * Public keys of issuers as this process has read them: again when they grow old or lack a key, seldom enough that
 * nobody makes us ask all day, and for some hours while their issuer is away. contract §2.4 (Issuers).
 */
import { LRUCache } from 'lru-cache';
import { discoveryUrlOf, keysUrlOf, readIssuerKeys, type IssuerKeys } from '#authentication/federation';
import { IssuerDocumentError, type ReadIssuerDocument } from './issuer-documents.ts';

/** Keys that an issuer has taken back are believed this long at most while it answers. */
const FRESH_MS = 600_000;
/** And this long while it does not. */
const STALE_MS_MAX = 6 * 3_600_000;
/** Between two attempts because of a key that is not there. */
const UNKNOWN_KEY_MS = 60_000;
/** Between two attempts while an issuer does not answer. */
const RETRY_MS = 10_000;
const ISSUERS_MAX = 100;

interface Entry {
  keys?: IssuerKeys;
  readAtMs: number;
  attemptedAtMs: number;
  /** Why the last attempt brought nothing. */
  failure?: string;
  pending?: Promise<void>;
}

/** Keys of an issuer, or why there are none. */
export type FoundKeys = { ok: true; keys: IssuerKeys } | { ok: false; reason: string };

export class IssuerKeyCache {
  private readonly entries = new LRUCache<string, Entry>({ max: ISSUERS_MAX });
  private readonly read: ReadIssuerDocument;
  private readonly monotonicMs: () => number;

  constructor(read: ReadIssuerDocument, monotonicMs: () => number) {
    this.read = read;
    this.monotonicMs = monotonicMs;
  }

  /** To be asked for issuers that an admin named, and no others. */
  async keysOf(issuer: string, keyId: string): Promise<FoundKeys> {
    const entry = this.entries.get(issuer) ?? { readAtMs: -Infinity, attemptedAtMs: -Infinity };
    this.entries.set(issuer, entry);
    if (entry.pending === undefined && this.isDue(entry, keyId)) {
      entry.attemptedAtMs = this.monotonicMs();
      entry.pending = this.refresh(issuer, entry).finally(() => (entry.pending = undefined));
    }
    // Who has the key already does not wait for an issuer that may be slow.
    if (entry.pending !== undefined && !this.isUsable(entry, keyId)) await entry.pending;
    const { keys, failure } = entry;
    if (keys !== undefined && this.monotonicMs() - entry.readAtMs <= STALE_MS_MAX) return { ok: true, keys };
    return { ok: false, reason: failure ?? 'its keys are too old' };
  }

  private isDue(entry: Entry, keyId: string): boolean {
    const [ageMs, sinceMs] = [entry.readAtMs, entry.attemptedAtMs].map((atMs) => this.monotonicMs() - atMs);
    if (entry.keys === undefined || (ageMs ?? 0) > FRESH_MS) return (sinceMs ?? 0) >= RETRY_MS;
    return !hasKey(entry.keys, keyId) && (sinceMs ?? 0) >= UNKNOWN_KEY_MS;
  }

  private isUsable({ keys, readAtMs }: Entry, keyId: string): boolean {
    return keys !== undefined && hasKey(keys, keyId) && this.monotonicMs() - readAtMs <= FRESH_MS;
  }

  /** Never rejects. */
  private async refresh(issuer: string, entry: Entry): Promise<void> {
    try {
      const keysUrl = keysUrlOf(await this.read(discoveryUrlOf(issuer)), issuer);
      if (keysUrl === undefined) throw new IssuerDocumentError('it describes another issuer, or none');
      const keys = readIssuerKeys(await this.read(keysUrl));
      if (keys === undefined) throw new IssuerDocumentError('its keys cannot be read');
      Object.assign(entry, { keys, readAtMs: this.monotonicMs(), failure: undefined });
    } catch (error) {
      entry.failure = error instanceof IssuerDocumentError ? error.message : 'its keys cannot be read';
    }
  }
}

function hasKey({ keys }: IssuerKeys, keyId: string): boolean {
  return keys.some(({ kid }) => kid === keyId);
}
