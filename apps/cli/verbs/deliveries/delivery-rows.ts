/** Entries of a delivery log as rows: what they started, or why they did not. contract §4. */
import type { Delivery } from '#client';
import { CommandError } from '../../command.ts';
import type { Api } from '../../connection/api.ts';
import { all, PAGE_SIZE_MAX } from '../../connection/pages.ts';
import { toSeconds, type Cell } from '../../terminal/output.ts';

export const DELIVERY_COLUMNS = ['ENTRY', 'RECEIVED', 'OUTCOME', 'SIZE', 'FROM', 'DELIVERY ID', 'RESULT'] as const;

/** The column that a narrow terminal shortens. */
export const DELIVERY_COLUMN_SHRUNK = 5;

/** Names of automations by their UIDs. */
export type Names = ReadonlyMap<string, string>;
export const NO_NAMES: Names = new Map();

/**
 * Names of the factory's automations by their UIDs, where something was skipped; one that is gone, or may not be seen,
 * has none.
 */
export async function automationNames(api: Api, factoryUid: string, entries: readonly Delivery[]): Promise<Names> {
  if (entries.every(({ skipped = [] }) => skipped.length === 0)) return NO_NAMES;
  try {
    const found = await all(api.factories.automations.list(factoryUid, { limit: PAGE_SIZE_MAX }));
    return new Map(found.map(({ uid, slug }) => [uid, slug]));
  } catch (cause) {
    if (cause instanceof CommandError) return NO_NAMES; // the log is worth more than its names
    throw cause;
  }
}

/** All others are red. */
const OUTCOME_COLOURS: Readonly<Record<string, 'green' | 'dim' | 'yellow'>> = {
  Accepted: 'green',
  Duplicate: 'dim',
  Throttled: 'yellow',
};

export function deliveryRow(entry: Delivery, names: Names): Cell[] {
  const {
    entry_id: entryId,
    received_at: at,
    outcome,
    size,
    size_exact: isExact,
    client_address: from,
    delivery_id: id,
    count: entries,
  } = entry;
  const label = entries > 1 ? `${outcome} ×${entries}` : outcome;
  return [
    entryId,
    toSeconds(at),
    { text: label, colour: OUTCOME_COLOURS[outcome] ?? 'red' },
    `${isExact ? '' : '>='}${size}`,
    from ?? '-',
    id,
    resultOf(entry, names),
  ];
}

/** What it started, or why it did not. */
export function resultOf(
  { started = [], skipped = [], refused_because: reason, refusal, outcome }: Delivery,
  names: Names,
): string {
  if (reason !== undefined) return refusal?.hint === undefined ? reason : `${reason}, likely by ${refusal.hint}`;
  if (outcome !== 'Accepted') return '-';
  if (started.length > 0) return started.map(({ run_id: id }) => `run ${id}`).join(', ');
  const reasons = skipped.map((skip) => `${names.get(skip.automation_id) ?? skip.automation_id}: ${reasonOf(skip)}`);
  return reasons.length === 0 ? 'no automation selects it' : `no run: ${reasons.join('; ')}`;
}

function reasonOf({ reason, failed_pointer: pointer, operator }: NonNullable<Delivery['skipped']>[number]): string {
  if (reason !== 'filter') return reason;
  return `filter failed ${pointer === '' ? 'at the root' : `at ${pointer ?? '?'}`} (${operator})`;
}
