/** How often a filter may look into a delivery, reckoned once for each filter. contract §7.3 (looks). */
import { compileFilter, PAYLOAD_BYTES_MAX, type FilterCompilation, type JsonValue } from '#filters';

/** What a filter costs at most; filters of an unchanged file are the same objects. */
const known = new WeakMap<object, number>();

/** Compiles a filter, and keeps what it costs for `readsOf`. */
export function compiledWithReads(filter: JsonValue): FilterCompilation {
  const compilation = compileFilter(filter);
  if (typeof filter === 'object' && filter !== null)
    known.set(filter, compilation.ok ? compilation.filter.readsMax(PAYLOAD_BYTES_MAX) : 1);
  return compilation;
}

/** Of no filter: one. */
export function readsOf(payload: JsonValue | undefined): number {
  if (typeof payload !== 'object' || payload === null) return 1;
  if (!known.has(payload)) compiledWithReads(payload);
  return known.get(payload) ?? 1;
}
