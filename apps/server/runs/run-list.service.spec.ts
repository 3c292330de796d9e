/** A list that no index serves reads on until it has a run to show, for a bounded time. contract §3.7 (List). */
import type { Access } from '../store/access/access.ts';
import type { RunListKey, RunPage } from '../store/runs/run-lists.ts';
import type { RunRow } from '../store/runs/run.entities.ts';
import { RunListing } from './run-list.service.ts';

const ADMIN = { keyId: 'key', role: 'admin', principal: { uid: 'user_1' } } as unknown as Access;
const FOUND = { run_id: 'found' } as RunRow;

/** A listing over pages that are read one after the other; each takes so long. */
function listingOver(pages: readonly RunPage[], pageMs: number): { listing: RunListing; asked: unknown[] } {
  let nowMs = 0;
  const asked: unknown[] = [];
  const lists = {
    page: (_filter: unknown, _order: unknown, _limit: number, after?: RunListKey) => {
      nowMs += pageMs;
      asked.push(after?.runId);
      return Promise.resolve(pages[asked.length - 1] ?? { runs: [], next: { value: 1, runId: 'on and on' } });
    },
  };
  const items = { of: (runs: readonly RunRow[]) => Promise.resolve(runs) };
  const deps = [lists, {}, items, { monotonicMs: () => nowMs, nowMs: () => nowMs }] as unknown as ConstructorParameters<
    typeof RunListing
  >;
  return { listing: new RunListing(...deps), asked };
}

it('reads on over pages without a run', async () => {
  const empty = (runId: string): RunPage => ({ runs: [], next: { value: 1, runId } });
  const { listing, asked } = listingOver([empty('a'), empty('b'), { runs: [FOUND] }], 1_000);
  expect(await listing.list({ q: 'rare' }, ADMIN)).toEqual({ runs: [FOUND], page_info: { has_next_page: false } });
  expect(asked).toEqual([undefined, 'a', 'b']);
});

it('answers an empty page as the last one', async () => {
  const { listing } = listingOver([{ runs: [] }], 1_000);
  expect(await listing.list({ q: 'none' }, ADMIN)).toEqual({ runs: [], page_info: { has_next_page: false } });
});

it('refuses what has found nothing after ten seconds, and asks to narrow it', async () => {
  const { listing, asked } = listingOver([], 4_000);
  await expect(listing.list({ q: 'none' }, ADMIN)).rejects.toMatchObject({
    status: 422,
    code: 'operation_not_supported',
    message: expect.stringContaining('created_after'),
  });
  expect(asked).toHaveLength(3);
});
