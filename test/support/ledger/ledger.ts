/**
 * A ledger of deliveries kept outside the service: what was sent and answered, compared afterwards with what is stored.
 * contract §5.6 (Slots), §5.7 (Identity), §5.8 (Transaction).
 */
import type { ServiceProcess } from '../services/service-process.ts';
import { askDatabase, brokenRuns, recordsOf, type Place, type Records } from '../runs/run-invariants.ts';

/** One attempt to deliver something, as its sender saw it. */
export interface Attempt {
  webhookUid: string;
  deliveryId: string;
  /** Undefined: the connection broke before an answer, so that nobody knows. */
  status: number | undefined;
}

/** Everything that was sent; a resend of the same delivery is a further attempt. */
export interface Sent {
  attempts: readonly Attempt[];
  /**
   * Slugs of the automations that a delivery has to start; undefined: it may start none, because it must be refused.
   */
  startsOf(deliveryId: string): readonly string[] | undefined;
}

export interface StoredEntry {
  entry_id: string;
  webhook_uid: string;
  delivery_id: string;
  outcome: string;
  entries: number;
  /** Database time of its slot, milliseconds; null: it took none. */
  slot_at: number | null;
}

export interface StartedRun {
  run_id: string;
  entry_id: string;
  automation: string;
}

/** What the database holds of deliveries, of the runs that they started, and of all runs. */
export interface Stored {
  entries: StoredEntry[];
  starts: StartedRun[];
  runs: Records;
}

const ENTRIES =
  'SELECT entry_id, webhook_uid, delivery_id, outcome, COALESCE(entries, 1) AS entries, slot_at FROM delivery ' +
  'ORDER BY entry_id';
const STARTS =
  'SELECT r.run_id, r.entry_id, a.slug AS automation FROM every_run r LEFT JOIN automation a ' +
  'ON a.uid = r.automation_uid WHERE r.entry_id IS NOT NULL ORDER BY r.run_id';
/** contract §5.2 (step 4). */
const SLOTS_A_MINUTE_MAX = 60;
const MINUTE_MS = 60_000;
/** Of the API's lists. */
const PAGE = 100;

/** Reads a database past the service. */
export async function storedIn(place: Place): Promise<Stored> {
  const { all, close } = await askDatabase(place);
  try {
    return {
      entries: (await all(ENTRIES)) as StoredEntry[],
      starts: (await all(STARTS)) as StartedRun[],
      runs: await recordsOf(place),
    };
  } finally {
    await close();
  }
}

/**
 * Every promise that is broken, in words; empty when every 202 is kept once and nothing else was started. `isOver`:
 * every run has ended.
 */
export function brokenLedger(sent: Sent, stored: Stored, { isOver }: { isOver: boolean }): string[] {
  return [
    ...brokenAnswers(sent, stored),
    ...brokenStarts(sent, stored),
    ...brokenWindows(stored),
    ...(isOver ? brokenRuns(stored.runs) : []),
  ];
}

/** Each delivery that was answered 202 is there once as accepted; what was refused for certain is not. */
function brokenAnswers({ attempts, startsOf }: Sent, { entries }: Stored): string[] {
  const stored = groupedBy(entries.filter(isRecorded), keyOf);
  const broken: string[] = [];
  const sent = groupedBy(
    attempts.map((attempt) => ({ ...attempt, webhook_uid: attempt.webhookUid, delivery_id: attempt.deliveryId })),
    keyOf,
  );
  for (const [key, tries] of sent) {
    const of = stored.get(key) ?? [];
    const promised = tries.filter(({ status }) => status === 202).length;
    const possible = tries.filter(({ status }) => status === 202 || isUncertain(status)).length;
    const accepted = of.filter(({ outcome }) => outcome === 'accepted').length;
    if (accepted > 1) broken.push(`${key} was accepted ${accepted} times`);
    if (promised > 0 && accepted === 0) broken.push(`${key} was answered 202 and is not accepted`);
    if (of.length < promised) broken.push(`${key} was answered 202 ${promised} times and has ${of.length} entries`);
    if (of.length > possible)
      broken.push(`${key} has ${of.length} entries, and ${possible} attempts that could have made one`);
    if (startsOf(tries[0]?.deliveryId ?? '') === undefined && of.length > 0)
      broken.push(`${key} must be refused and was taken`);
  }
  for (const key of stored.keys()) if (!sent.has(key)) broken.push(`${key} is stored and was never sent`);
  return broken;
}

/** Nobody knows whether it was stored: the connection broke, or the service was at fault. */
function isUncertain(status: number | undefined): boolean {
  return status === undefined || status >= 500;
}

function isRecorded({ outcome }: StoredEntry): boolean {
  return outcome === 'accepted' || outcome === 'duplicate';
}

/** An accepted delivery started exactly its automations, each once, and nothing else started anything. */
function brokenStarts({ startsOf }: Sent, { entries, starts }: Stored): string[] {
  const broken: string[] = [];
  const startedBy = groupedBy(starts, ({ entry_id: entryId }) => entryId);
  for (const entry of entries.filter(({ outcome }) => outcome === 'accepted')) {
    const wanted = [...(startsOf(entry.delivery_id) ?? [])].sort().join(', ');
    const made = (startedBy.get(entry.entry_id) ?? [])
      .map(({ automation }) => automation)
      .sort()
      .join(', ');
    if (made !== wanted) broken.push(`${keyOf(entry)} started [${made}] and not [${wanted}]`);
  }
  const accepted = new Set(
    entries.filter(({ outcome }) => outcome === 'accepted').map(({ entry_id: entryId }) => entryId),
  );
  for (const { run_id: runId, entry_id: entryId } of starts)
    if (!accepted.has(entryId)) broken.push(`the run ${runId} was started by ${entryId}, which was not accepted`);
  return broken;
}

/** No minute of the database's clock has more slots of a webhook than are allowed. */
function brokenWindows({ entries }: Stored): string[] {
  const slots = groupedBy(
    entries.filter(({ slot_at: at }) => at !== null),
    ({ webhook_uid: uid }) => uid,
  );
  return [...slots].flatMap(([uid, taken]) => {
    const times = taken.map(({ slot_at: at }) => at as number).sort((a, b) => a - b);
    const first = times.findIndex((at, index) => (times[index + SLOTS_A_MINUTE_MAX] ?? Infinity) - at < MINUTE_MS);
    return first === -1
      ? []
      : [`${uid} has more than ${SLOTS_A_MINUTE_MAX} slots in the minute from ${times[first]} on`];
  });
}

/**
 * What the API's pages of a webhook's log show besides what is stored, or in another order than newest first; read
 * through any process.
 */
export async function brokenPages(
  service: Pick<ServiceProcess, 'api'>,
  factoryUid: string,
  webhookUid: string,
  { entries }: Stored,
): Promise<string[]> {
  const shown: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await service.api(
      'GET',
      `/factory/${factoryUid}/webhooks/${webhookUid}/deliveries?limit=${PAGE}${after}`,
    );
    shown.push(...(page['deliveries'] as { entry_id: string }[]).map(({ entry_id: entryId }) => entryId));
    const { has_next_page: isMore, next_cursor: next } = page['page_info'] as {
      has_next_page: boolean;
      next_cursor?: string;
    };
    cursor = isMore ? next : undefined;
  }
  const stored = entries
    .filter(({ webhook_uid: uid }) => uid === webhookUid)
    .map(({ entry_id: entryId }) => entryId)
    .sort()
    .reverse();
  return shown.join() === stored.join()
    ? []
    : [
        `the pages of ${webhookUid} show ${shown.length} entries and not the ${stored.length} that are stored, ` +
          'newest first',
      ];
}

function keyOf({ webhook_uid: uid, delivery_id: id }: Pick<StoredEntry, 'webhook_uid' | 'delivery_id'>): string {
  return `${uid}/${id}`;
}

function groupedBy<T>(values: readonly T[], keyed: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyed(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
