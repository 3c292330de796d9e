/**
 * What is remembered of definitions while it is used: automations and compiled filters, each within a bound. contract
 * §5.8 (Transaction), §7.
 */
import type { AutomationDefinition } from '#definitions';
import { compileFilter, MATCH_EVERYTHING, UNREADABLE_FILTER, type CompiledFilter } from '#filters';
import type { ServingStore } from '../store/serving/serving.ts';

/** Characters of definitions kept: a few thousand automations with a page of prompt each. */
const CHARACTERS_MAX = 16_777_216;

type Definitions = ReadonlyMap<string, AutomationDefinition>;

/** A factory as it is served. */
interface Served {
  uid: string;
  version: number;
}

export class DefinitionCache {
  private readonly store: Pick<ServingStore, 'definitions'>;
  private readonly kept = new LruCache<string, { version: number; definition: AutomationDefinition }>(CHARACTERS_MAX);

  constructor(store: Pick<ServingStore, 'definitions'>) {
    this.store = store;
  }

  /**
   * Definitions of these automations of one factory, by UID; undefined where the factory has moved on since that
   * version. To be waited for only where one is not in memory. Throws StoreError.
   */
  of(factory: Served, uids: readonly string[]): Definitions | undefined | Promise<Definitions | undefined> {
    const kept = new Map<string, AutomationDefinition>();
    for (const uid of uids) {
      const definition = this.keptOf(uid, factory.version);
      if (definition !== undefined) kept.set(uid, definition);
    }
    return kept.size === uids.length ? kept : this.read(factory, uids, kept);
  }

  private async read(
    { uid: factoryUid, version }: Served,
    uids: readonly string[],
    kept: ReadonlyMap<string, AutomationDefinition>,
  ): Promise<Definitions | undefined> {
    const texts = await this.store.definitions(
      factoryUid,
      version,
      uids.filter((uid) => !kept.has(uid)),
    );
    const found = new Map<string, AutomationDefinition>();
    for (const uid of uids) {
      const definition = kept.get(uid) ?? this.parse(uid, version, texts.get(uid));
      if (definition === undefined) return undefined;
      found.set(uid, definition);
    }
    return found;
  }

  private keptOf(uid: string, version: number): AutomationDefinition | undefined {
    const kept = this.kept.get(uid);
    return kept?.version === version ? kept.definition : undefined;
  }

  private parse(uid: string, version: number, text: string | undefined): AutomationDefinition | undefined {
    if (text === undefined) return undefined;
    const definition = JSON.parse(text) as AutomationDefinition;
    return this.kept.keep(uid, { version, definition }, text.length).definition;
  }
}

/** Evicted in batches: finding a Map's first key is linear in the entries deleted before it. */
const SHARE_FORGOTTEN = 1 / 16;

export class LruCache<Key, Value> {
  private readonly weightMax: number;
  /** In order of their use. */
  private readonly kept = new Map<Key, { value: Value; weight: number }>();
  private weight = 0;

  constructor(weightMax: number) {
    this.weightMax = weightMax;
  }

  get(key: Key): Value | undefined {
    const found = this.kept.get(key);
    if (found === undefined) return undefined;
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.value;
  }

  /** Answers the value, which is not kept where it is heavier than everything may be. */
  keep(key: Key, value: Value, weight: number): Value {
    this.forget(key);
    if (weight > this.weightMax) return value;
    this.kept.set(key, { value, weight });
    this.weight += weight;
    if (this.weight > this.weightMax) this.makeRoom();
    return value;
  }

  private makeRoom(): void {
    const wanted = this.weightMax - Math.floor(this.weightMax * SHARE_FORGOTTEN);
    for (const oldest of this.kept.keys()) {
      if (this.weight <= wanted) break;
      this.forget(oldest);
    }
  }

  private forget(key: Key): void {
    this.weight -= this.kept.get(key)?.weight ?? 0;
    this.kept.delete(key);
  }
}

/** Compiled filters kept: a few KiB each. Compiling one takes some microseconds. */
const COMPILED_MAX = 4_000;

export class CompiledFilters {
  private readonly compiled = new LruCache<string, CompiledFilter>(COMPILED_MAX);

  /** The filter of a trigger, as JSON; undefined: none. One that cannot be read never matches. */
  of(text: string | undefined): CompiledFilter {
    if (text === undefined) return MATCH_EVERYTHING;
    return this.compiled.get(text) ?? this.compiled.keep(text, compiledFrom(text), 1);
  }
}

function compiledFrom(text: string): CompiledFilter {
  const compilation = compileFilter(JSON.parse(text));
  return compilation.ok ? compilation.filter : UNREADABLE_FILTER;
}
