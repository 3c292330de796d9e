/** Compiled payload filters, as many as are in use: the others wait as text, which takes a tenth of the memory. contract 7. */
import { compileFilter, MATCH_EVERYTHING, UNREADABLE_FILTER, type CompiledFilter } from '#filters';
import { LruCache } from './lru-cache.ts';

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
