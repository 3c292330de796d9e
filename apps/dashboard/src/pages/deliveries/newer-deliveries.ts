/** A delivery log from pages that were read at different times. Entry IDs grow with time. */
import type { components } from '#client/generated';

type Delivery = components['schemas']['Delivery'];

export interface LogPage {
  /** Newest first. */
  entries: Delivery[];
  /** Where the next page begins; undefined on the last one. */
  next: string | undefined;
}

/** What has come while somebody looked. */
export interface NewerDeliveries {
  /** Newest first, back to something that the pages have. */
  entries: Delivery[];
  /** Those that came last, for who listens. */
  arrived: Delivery[];
}

/** All entries once, newest first. Of those that are in several parts the first part's: its count is newest. */
export function newestFirst(...parts: readonly (readonly Delivery[])[]): Delivery[] {
  const entries = new Map<string, Delivery>();
  for (const entry of parts.flat()) if (!entries.has(entry.entry_id)) entries.set(entry.entry_id, entry);
  return [...entries.values()].sort((a, b) => (a.entry_id < b.entry_id ? 1 : -1));
}

/** Whether nothing can be missing between the newest page and what is known already. `known`: its newest entry. */
export function reaches(newest: LogPage, known: string | undefined): boolean {
  return newest.next === undefined || known === undefined || newest.entries.some(({ entry_id: id }) => id <= known);
}

/** The news with what the newest page tells; `known`: the newest entry of all that was shown before. */
export function withNewest(
  before: NewerDeliveries | undefined,
  newest: LogPage,
  known: string | undefined,
): NewerDeliveries {
  const arrived = newest.entries.filter(({ entry_id: id }) => known === undefined || id > known);
  const older = reaches(newest, known) ? (before?.entries ?? []) : [];
  return {
    entries: newestFirst(newest.entries, older),
    arrived: arrived.length > 0 ? arrived : (before?.arrived ?? []),
  };
}
