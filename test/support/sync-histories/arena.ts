/** Two databases for histories, and the loop that plays many of them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { openDatabase } from '../../../apps/server/store/open-database.ts';
import { emptyTables } from './database-snapshot.ts';
import { newTally, play, type Arena, type Tally } from './play.ts';
import { histories } from './steps.ts';
import type { HistoryDatabase } from './world.ts';

const BEGIN_MS = 1_800_000_000_000;

/** Plays `count` histories; throws with seed, path and the shortest one that fails. Answers what they came to. */
export async function playHistories({
  count,
  seed,
  urls = [],
}: {
  count: number;
  seed: number;
  urls?: readonly string[];
}): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), 'millwright-histories-'));
  const closings: (() => Promise<void>)[] = [];
  const opened = async (name: string, url?: string): Promise<HistoryDatabase> => {
    const clock = { nowMs: BEGIN_MS };
    const database = await openDatabase({ url, dataDir: join(folder, name), nowMs: () => clock.nowMs });
    closings.push(() => database.close());
    // What a power cut leaves is not what these are about; hundreds of thousands of commits are.
    if (url === undefined) await database.source.query('PRAGMA synchronous = OFF');
    return { database, clock, tables: await emptyTables(database) };
  };
  try {
    const arena: Arena = {
      real: await opened('real', urls[0]),
      twin: await opened('twin', urls[1]),
      tally: newTally(),
    };
    await fc.assert(
      fc.asyncProperty(histories(), (history) => play(history, arena)),
      { numRuns: count, seed, path: process.env['SYNC_PATH'] },
    );
    return arena.tally;
  } finally {
    for (const close of closings) await close();
    await rm(folder, { recursive: true, force: true });
  }
}
