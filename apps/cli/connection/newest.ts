/** A list that grows at its head, followed: what there is, then what comes, until somebody interrupts. contract §11. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PagePromise } from '#client';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Output } from '../terminal/output.ts';

/** Entries of one page: what comes between two looks is most often on the first. */
const PAGE_SIZE = 100;
/** Entries that are shown at first, where nobody says how many. */
const FIRST_SHOWN = 20;
/** Keys that are remembered: many pages, so that what is committed late is not taken for shown. */
const KEYS_MAX = 10_000;
/** Pause between two looks. */
const POLL_MS = 1_000;
/** A restart of the service or a short loss of the network does not end the watching. */
const OUTAGE_MS_MAX = 60_000;

export interface GrowingList<Entry> {
  /** A page, newest first. */
  list(page: { limit: number; cursor?: string }): PagePromise<Entry>;
  /** What makes an entry worth printing: another key, another line. */
  keyOf(entry: Entry): string;
  /** Prints entries, oldest first. */
  print(entries: readonly Entry[]): Promise<void>;
}

/** Prints until SIGINT; answers 0 then. Throws CommandError when the server stays away. */
export async function followNewest<Entry>(
  source: GrowingList<Entry>,
  { output, first = FIRST_SHOWN }: { output: Output; first?: number },
): Promise<number> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    const seen = new Set<string>();
    const look = (): Promise<Entry[]> => duringOutages(() => newEntries(source, seen), output, stop.signal);
    await source.print((await look()).slice(-first));
    while (!stop.signal.aborted) {
      await sleep(POLL_MS, undefined, { signal: stop.signal });
      await source.print(await look());
    }
    return EXIT.ok;
  } catch (cause) {
    if (stop.signal.aborted) return EXIT.ok;
    throw cause;
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

/** Entries that were not seen, oldest first. The first look takes one page; later ones go on while all is new. */
async function newEntries<Entry>({ list, keyOf }: GrowingList<Entry>, seen: Set<string>): Promise<Entry[]> {
  const isFirst = seen.size === 0;
  const found: Entry[] = [];
  for (let cursor: string | undefined, isLast = false; !isLast;) {
    const { items, page_info: page } = await list({ limit: PAGE_SIZE, cursor });
    const fresh = items.filter((entry) => !seen.has(keyOf(entry)));
    found.push(...fresh);
    cursor = page.next_cursor;
    isLast = isFirst || fresh.length < items.length || !page.has_next_page || cursor === undefined;
  }
  // An empty list has been looked at, too: what comes next is new, however much it is.
  if (isFirst) seen.add('');
  for (const entry of found) remember(seen, keyOf(entry));
  return found.reverse();
}

function remember(seen: Set<string>, key: string): void {
  seen.add(key);
  const [oldest] = seen;
  if (seen.size > KEYS_MAX && oldest !== undefined) seen.delete(oldest);
}

async function duringOutages<T>(look: () => Promise<T>, output: Output, signal: AbortSignal): Promise<T> {
  const deadline = performance.now() + OUTAGE_MS_MAX;
  for (let isNoted = false; ; isNoted = true) {
    try {
      return await look();
    } catch (cause) {
      if (!(cause instanceof CommandError) || cause.code !== EXIT.internal || performance.now() > deadline) throw cause;
      if (!isNoted) output.note(cause.message);
      await sleep(POLL_MS, undefined, { signal });
    }
  }
}
