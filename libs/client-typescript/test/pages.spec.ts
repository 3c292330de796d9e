/** Lists in pages: what is asked for next, and lists that never end. */
import { APIResponseValidationError, Millwright, MillwrightError, type PagePromise } from '../src/index.ts';
import { World, type Step } from './wire-world.ts';

function page(ids: readonly string[], next?: string, members: Record<string, unknown> = {}): Step {
  const secrets = ids.map((name) => ({ name }));
  return {
    status: 200,
    json: {
      secrets,
      page_info: { has_next_page: next !== undefined, ...(next === undefined ? {} : { next_cursor: next }) },
      ...members,
    },
  };
}

/** Pages of what has few promises, so that the test is about pages. */
function listIn(
  world: World,
  options?: Parameters<Millwright['audit']['list']>[1],
): PagePromise<{ name: string }, unknown, 'secrets'> {
  const client = new Millwright(
    { baseURL: 'http://127.0.0.1:9', apiKey: 'k'.repeat(20), fetch: world.fetch, logLevel: 'off' },
    world.clock,
  );
  return client.page(
    { method: 'GET', template: '/secrets', query: { limit: 2 }, answer: 'unchecked', options },
    'secrets',
  );
}

async function namesOf(list: AsyncIterable<{ name: string }>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of list) names.push(name);
  return names;
}

it('the options of the first page apply to all, only the cursor moves', async () => {
  const world = new World([page(['a'], 'c1'), page([], 'c2'), page(['b'])]);
  expect(await namesOf(listIn(world, { query: { more: 'x', cursor: 'c0' }, headers: { 'x-a': '1' } }))).toEqual([
    'a',
    'b',
  ]);
  expect(world.sent.map(({ url }) => url.search)).toEqual([
    '?limit=2&more=x&cursor=c0',
    '?limit=2&more=x&cursor=c1',
    '?limit=2&more=x&cursor=c2',
  ]);
  expect(world.sent.every(({ headers }) => headers['x-a'] === '1')).toBe(true);
});

it('page by page', async () => {
  const world = new World([page(['a', 'b'], 'c1', { total: 3 }), page(['c'])]);
  const sizes: number[] = [];
  for await (const { items } of listIn(world).pages()) sizes.push(items.length);
  expect(sizes).toEqual([2, 1]);
  const again = new World([page(['a', 'b'], 'c1', { total: 3 }), page(['c'])]);
  const named: string[][] = [];
  for await (const each of listIn(again).iterPages()) named.push(each.secrets.map(({ name }) => name));
  expect(named).toEqual([['a', 'b'], ['c']]);
});

it('one page when it is awaited', async () => {
  const world = new World([page(['a'], 'c1', { total: 3 }), page(['b'])]);
  const first = await listIn(world);
  expect([first.items, first.hasNextPage(), first.page_info, first.body]).toEqual([
    [{ name: 'a' }],
    true,
    { has_next_page: true, next_cursor: 'c1' },
    expect.objectContaining({ total: 3 }),
  ]);
  const last = await first.getNextPage();
  expect(last.hasNextPage()).toBe(false);
  expect(() => last.getNextPage()).toThrow(MillwrightError);
});

it('a page without a cursor, or with an empty one, is the last', async () => {
  for (const pageInfo of [
    { has_next_page: true },
    { has_next_page: true, next_cursor: '' },
    { has_next_page: false, next_cursor: 'c' },
  ]) {
    const world = new World([{ status: 200, json: { secrets: [], page_info: pageInfo } }]);
    expect((await listIn(world)).hasNextPage()).toBe(false);
  }
});

it('the same page can be asked for twice', async () => {
  const world = new World([page(['a'], 'c1'), page(['b'], 'c2'), page(['b'], 'c2'), page(['c'])]);
  const first = await listIn(world);
  await first.getNextPage();
  expect(await namesOf(await first.getNextPage())).toEqual(['b', 'c']);
});

it.each([
  ['the same again', ['c1', 'c1']],
  ['a circle', ['c1', 'c2', 'c3', 'c1']],
])('%s: every item is told, then an error', async (_, cursors) => {
  const world = new World(cursors.map((cursor, index) => page([String(index)], cursor)));
  const names: string[] = [];
  const reading = (async () => {
    for await (const { name } of listIn(world)) names.push(name);
  })();
  const failure: unknown = await reading.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(APIResponseValidationError);
  expect(failure).toMatchObject({ pointer: '/page_info/next_cursor', status: 200 });
  expect(names).toEqual(cursors.map((_, index) => String(index)));
});

it.each<[unknown, string]>([
  [{}, '/secrets'],
  [{ secrets: {} }, '/secrets'],
  [{ secrets: [] }, '/page_info'],
  [{ secrets: [], page_info: { has_next_page: 1 } }, '/page_info/has_next_page'],
  [[], '/secrets'],
  [null, '/secrets'],
])('%j is no page', async (json, pointer) => {
  await expect(listIn(new World([{ status: 200, json }]))).rejects.toMatchObject({
    name: 'APIResponseValidationError',
    pointer,
  });
});

it('many pages are gone through in one go', async () => {
  const count = 2_000;
  const world = new World(
    Array.from({ length: count }, (_, index) => page([String(index)], index === count - 1 ? undefined : `c${index}`)),
  );
  expect(await namesOf(listIn(world))).toHaveLength(count);
});
