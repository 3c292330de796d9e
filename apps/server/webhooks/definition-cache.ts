/** What automations say of the runs that they start: looked up when they start some, and kept while they go on doing so. Prompts are most of what serving would have to remember. contract 5 (Transaction). */
import type { AutomationDefinition } from '#definitions';
import type { ServingStore } from '../store/serving/serving.ts';
import { LruCache } from './lru-cache.ts';

/** Characters of definitions kept: a few thousand automations with a page of prompt each. */
const CHARACTERS_MAX = 16_777_216;

export class DefinitionCache {
  private readonly store: Pick<ServingStore, 'definitions'>;
  private readonly kept = new LruCache<string, { version: number; definition: AutomationDefinition }>(CHARACTERS_MAX);

  constructor(store: Pick<ServingStore, 'definitions'>) {
    this.store = store;
  }

  /** Definitions of these automations of one factory, by UID; undefined where the factory has moved on since that version. Throws StoreError. */
  async of(
    { uid: factoryUid, version }: { uid: string; version: number },
    uids: readonly string[],
  ): Promise<ReadonlyMap<string, AutomationDefinition> | undefined> {
    const kept = new Map(uids.map((uid) => [uid, this.keptOf(uid, version)]));
    const texts = await this.textsOf(
      factoryUid,
      version,
      uids.filter((uid) => kept.get(uid) === undefined),
    );
    const found = new Map<string, AutomationDefinition>();
    for (const uid of uids) {
      const definition = kept.get(uid) ?? this.read(uid, version, texts.get(uid));
      if (definition === undefined) return undefined;
      found.set(uid, definition);
    }
    return found;
  }

  private keptOf(uid: string, version: number): AutomationDefinition | undefined {
    const kept = this.kept.get(uid);
    return kept?.version === version ? kept.definition : undefined;
  }

  private async textsOf(
    factoryUid: string,
    version: number,
    uids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    return uids.length === 0 ? NO_TEXTS : this.store.definitions(factoryUid, version, uids);
  }

  private read(uid: string, version: number, text: string | undefined): AutomationDefinition | undefined {
    if (text === undefined) return undefined;
    const definition = JSON.parse(text) as AutomationDefinition;
    return this.kept.keep(uid, { version, definition }, text.length).definition;
  }
}

const NO_TEXTS: ReadonlyMap<string, string> = new Map();
