/** Lanes: one key's items stay in order in one lane; lanes do not wait for each other. */
import { GroupCommit, ShardedGroupCommit } from './group-commit.ts';

interface Item {
  key: string;
  n: number;
}

/** Commits whose end the test decides. */
function held(count: number) {
  const open: { items: readonly Item[]; finish(): void }[] = [];
  const lanes = new ShardedGroupCommit<Item, string>(
    count,
    ({ key }) => key,
    () =>
      new GroupCommit({
        commit: (items) =>
          new Promise((resolve) =>
            open.push({ items, finish: () => resolve(items.map(({ key, n }) => `${key}${n}`)) }),
          ),
        concernsAll: () => true,
      }),
  );
  return { lanes, open };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** The round in which items came, and the next, which brings none. */
const gathered = () => turn().then(turn);
const keys = Array.from({ length: 64 }, (_, at) => `wh_${String(at).padStart(6, '0')}`);

describe('lanes', () => {
  it('keep the items of a key in one lane, in order, and never in two commits at a time', async () => {
    const { lanes, open } = held(4);
    const first = lanes.add({ key: 'wh_a', n: 1 });
    await turn();
    const second = lanes.add({ key: 'wh_a', n: 2 });
    await turn();
    expect(open.map(({ items }) => items)).toEqual([[{ key: 'wh_a', n: 1 }]]);
    open[0]?.finish();
    expect(await first).toBe('wh_a1');
    await turn();
    await turn();
    expect(open.map(({ items }) => items)).toEqual([[{ key: 'wh_a', n: 1 }], [{ key: 'wh_a', n: 2 }]]);
    open[1]?.finish();
    expect(await second).toBe('wh_a2');
  });

  it('commit side by side, as many at a time as there are lanes', async () => {
    const { lanes, open } = held(4);
    const answers = keys.map((key, n) => lanes.add({ key, n }));
    await gathered();
    expect(open).toHaveLength(4);
    // The last to begin ends first: nobody waits for the others.
    open.at(-1)?.finish();
    const [some] = open.at(-1)?.items ?? [];
    expect(await answers[some?.n ?? -1]).toBe(`${some?.key}${some?.n}`);
    for (const { finish } of open) finish();
    expect(await Promise.all(answers)).toEqual(keys.map((key, n) => `${key}${n}`));
  });

  it('are one group commit where there is one lane', async () => {
    const { lanes, open } = held(1);
    const answers = keys.map((key, n) => lanes.add({ key, n }));
    await gathered();
    expect(open.map(({ items }) => items.length)).toEqual([keys.length]);
    open[0]?.finish();
    await Promise.all(answers);
  });
});
