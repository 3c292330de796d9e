/** When keys were last used: gathered, written together, and not lost by a database that is away. */
import type { KeyStore } from '../store/access/keys.ts';
import { KeyUses } from './keys.service.ts';

describe('the uses of keys', () => {
  let written: [string, number][][];
  let isAway: boolean;
  let nowMs: number;
  let uses: KeyUses;

  beforeEach(() => {
    [written, isAway, nowMs] = [[], false, 1_000];
    const store: Pick<KeyStore, 'noteUses'> = {
      noteUses: async (noted) => {
        if (isAway) throw new Error('the database is away');
        written.push([...noted]);
      },
    };
    uses = new KeyUses(store as KeyStore, { nowMs: () => nowMs, monotonicMs: () => nowMs });
  });

  function use(keyId: string, atMs: number): void {
    nowMs = atMs;
    uses.note(keyId);
  }

  it('are written once, the latest of each key, and only when there are any', async () => {
    await uses.write();
    use('a', 1_000);
    use('b', 2_000);
    use('a', 3_000);
    await uses.write();
    await uses.write();
    expect(written).toEqual([
      [
        ['a', 3_000],
        ['b', 2_000],
      ],
    ]);
  });

  it('that could not be written are written later, unless the key was used again', async () => {
    use('a', 1_000);
    use('b', 1_000);
    isAway = true;
    const writing = uses.write();
    use('b', 2_000);
    await expect(writing).rejects.toThrow('away');
    isAway = false;
    await uses.write();
    expect(written).toEqual([
      [
        ['a', 1_000],
        ['b', 2_000],
      ],
    ]);
  });
});
