/** Definitions are read once while they are used, and never of another version than the one asked for. */
import { describe, expect, it } from '@jest/globals';
import { CompiledFilters, DefinitionCache } from './definition-cache.ts';

const FACTORY = { uid: 'f', version: 1 };
/** Characters that fill the cache to a quarter and a little more. */
const QUARTER = 2_700_000;

/** A store whose automations say their own UID and version, and that records which were asked for. */
function cacheOver(promptCharacters = 1): { cache: DefinitionCache; asked: string[][] } {
  const asked: string[][] = [];
  const cache = new DefinitionCache({
    definitions: (_factory, version, uids) => {
      asked.push([...uids]);
      const text = (uid: string): string =>
        JSON.stringify({ name: `${uid}@${version}`, prompt: 'p'.repeat(promptCharacters) });
      return Promise.resolve(new Map(uids.map((uid) => [uid, text(uid)])));
    },
  });
  return { cache, asked };
}

async function namesOf(cache: DefinitionCache, factory: typeof FACTORY, ...uids: string[]): Promise<unknown[]> {
  const found = await cache.of(factory, uids);
  return (found ?? []).map(([, definition]) => (definition as unknown as { name: string }).name);
}

describe('definitions of automations', () => {
  it('are read from the store once, and then only those that are missing', async () => {
    const { cache, asked } = cacheOver();
    expect(await namesOf(cache, FACTORY, 'a')).toEqual(['a@1']);
    expect(await namesOf(cache, FACTORY, 'a', 'b')).toEqual(['a@1', 'b@1']);
    expect(cache.of(FACTORY, ['b', 'a'])).toBeInstanceOf(Array); // nothing to wait for
    expect(asked).toEqual([['a'], ['b']]);
  });

  it('of an older version are read again', async () => {
    const { cache, asked } = cacheOver();
    await namesOf(cache, FACTORY, 'a');
    expect(await namesOf(cache, { ...FACTORY, version: 2 }, 'a')).toEqual(['a@2']);
    expect(asked).toEqual([['a'], ['a']]);
  });

  it('leave the cache by their use, the least recent first, once their texts are too large together', async () => {
    const { cache, asked } = cacheOver(QUARTER);
    for (const uid of ['a', 'b', 'c', 'a', 'd']) await namesOf(cache, FACTORY, uid);
    await namesOf(cache, FACTORY, 'a');
    await namesOf(cache, FACTORY, 'b');
    expect(asked).toEqual([['a'], ['b'], ['c'], ['d'], ['b']]);
  });

  it('that are larger than the whole cache are answered and not cached', async () => {
    const { cache, asked } = cacheOver(5 * QUARTER);
    expect(await namesOf(cache, FACTORY, 'a')).toEqual(['a@1']);
    await namesOf(cache, FACTORY, 'a');
    expect(asked).toEqual([['a'], ['a']]);
  });

  it('are answered by none where the factory has moved on', async () => {
    const cache = new DefinitionCache({ definitions: () => Promise.resolve(new Map()) });
    expect(await cache.of(FACTORY, ['a'])).toBeUndefined();
  });
});

describe('compiled filters', () => {
  it('are compiled once for the same text; none matches everything, an unreadable one nothing', () => {
    const filters = new CompiledFilters();
    const text = '{"action":["opened"]}';
    expect(filters.of(text)).toBe(filters.of(text));
    expect(filters.of(text)).not.toBe(filters.of('{"action":["closed"]}'));
    expect(filters.of(undefined)).toBe(filters.of(undefined));
    expect(filters.of('{"action":{"nope":1}}')).toBe(filters.of('{"action":{"never":1}}'));
  });
});
