/**
 * Caches of what is used of definitions: automations, their triggers and compiled filters, each within a bound.
 * contract §5.8 (Transaction), §7.
 */
import { LRUCache } from 'lru-cache';
import type { AutomationDefinition } from '#definitions';
import type { PackRange, RecordPack } from '#deliveries';
import { compileFilter, MATCH_EVERYTHING, UNREADABLE_FILTER, type CompiledFilter } from '#filters';
import type { StartingDefinition } from '#runs';
import type { ServingStore } from '../store/serving/serving.ts';

/** Characters of definitions kept: four thousand automations with a page of prompt each. */
const CHARACTERS_MAX = 10_485_760;

/** By UID, in the order in which they were asked for. */
type Definitions = readonly (readonly [string, StartingDefinition])[];

/** A factory as it is served. */
interface Served {
  uid: string;
  version: number;
}

export class DefinitionCache {
  private readonly store: Pick<ServingStore, 'definitions'>;
  private readonly cached = new LRUCache<string, { version: number; definition: StartingDefinition }>({
    maxSize: CHARACTERS_MAX,
  });

  constructor(store: Pick<ServingStore, 'definitions'>) {
    this.store = store;
  }

  /**
   * Definitions of these automations of one factory, by UID; undefined where the factory has moved on since that
   * version. To be waited for only where one is not in memory. Throws StoreError.
   */
  of(factory: Served, uids: readonly string[]): Definitions | undefined | Promise<Definitions | undefined> {
    const cached: [string, StartingDefinition][] = [];
    for (const uid of uids) {
      const definition = this.cachedOf(uid, factory.version);
      if (definition !== undefined) cached.push([uid, definition]);
    }
    return cached.length === uids.length ? cached : this.read(factory, uids, new Map(cached));
  }

  private async read(
    { uid: factoryUid, version }: Served,
    uids: readonly string[],
    cached: ReadonlyMap<string, StartingDefinition>,
  ): Promise<Definitions | undefined> {
    const texts = await this.store.definitions(
      factoryUid,
      version,
      uids.filter((uid) => !cached.has(uid)),
    );
    const found: [string, StartingDefinition][] = [];
    for (const uid of uids) {
      const definition = cached.get(uid) ?? this.parse(uid, version, texts.get(uid));
      if (definition === undefined) return undefined;
      found.push([uid, definition]);
    }
    return found;
  }

  private cachedOf(uid: string, version: number): StartingDefinition | undefined {
    const cached = this.cached.get(uid);
    return cached?.version === version ? cached.definition : undefined;
  }

  private parse(uid: string, version: number, text: string | undefined): StartingDefinition | undefined {
    if (text === undefined) return undefined;
    const { triggers: _triggers, ...definition } = JSON.parse(text) as AutomationDefinition;
    this.cached.set(uid, { version, definition }, { size: text.length });
    return definition;
  }
}

/** Compiled filters kept: a few KiB each. Compiling one takes some microseconds. */
const COMPILED_MAX = 4_000;

export class CompiledFilters {
  private readonly compiled = new LRUCache<string, CompiledFilter>({ max: COMPILED_MAX });

  /** The filter of a trigger, as JSON; undefined: none. One that cannot be read never matches. */
  of(text: string | undefined): CompiledFilter {
    if (text === undefined) return MATCH_EVERYTHING;
    const cached = this.compiled.get(text);
    if (cached !== undefined) return cached;
    const filter = compiledFrom(text);
    this.compiled.set(text, filter);
    return filter;
  }
}

function compiledFrom(text: string): CompiledFilter {
  const compilation = compileFilter(JSON.parse(text));
  return compilation.ok ? compilation.filter : UNREADABLE_FILTER;
}

/** An automation as the decision sees it: what it starts is looked up when it does. */
export interface ServedAutomation {
  uid: string;
  /** Same as `uid`: what `decideRuns` calls it. */
  id: string;
  name: string;
  enabled: boolean;
  /** The filter of the trigger that selects the webhook; several triggers of one automation are one entry each. */
  filter: CompiledFilter;
}

/** The record of a trigger: one for all webhooks that it selects. */
export interface TriggerRecord extends Pick<ServedAutomation, 'uid' | 'name' | 'enabled'> {
  filter?: PackRange;
}

/** Triggers of a factory as objects, each once for all webhooks that it selects, while one of those is an object. */
export class FactoryTriggers {
  private readonly records: RecordPack;
  private readonly filters: CompiledFilters;
  /** By where their records begin. */
  private byStart: Map<number, ServedTrigger> | undefined;
  private holders = 0;

  constructor(records: RecordPack, filters: CompiledFilters) {
    this.records = records;
    this.filters = filters;
  }

  /** `list`: ranges of their records. */
  of(list: PackRange): ServedTrigger[] {
    const known = (this.byStart ??= new Map());
    return this.records.ranges(list).map((place) => {
      let trigger = known.get(place[0]);
      if (trigger === undefined) known.set(place[0], (trigger = new ServedTrigger(this.records, place, this.filters)));
      return trigger;
    });
  }

  /** One more of its webhooks is kept as an object. */
  keep(): void {
    this.holders += 1;
  }

  /** One less. */
  release(): void {
    this.holders -= 1;
    if (this.holders === 0) this.byStart = undefined;
  }
}

/** Unpacked when it is first asked for: a webhook may have ten thousand, which are decided in slices. */
class ServedTrigger implements ServedAutomation {
  private readonly records: RecordPack;
  private readonly place: PackRange;
  private readonly filters: CompiledFilters;
  private unpacked: TriggerRecord | undefined;
  /** What its filter is compiled by. */
  private filterText: string | undefined;

  constructor(records: RecordPack, place: PackRange, filters: CompiledFilters) {
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
