/** Passes as rows: what each leaves behind on its factory, and the record of those that had news. contract §9. */
import { LessThan } from 'typeorm';
import { type PassOutcome, type PassRecord, revisionId } from '#reconcile';
import { change, databaseNow, type Transaction } from '../database/transactions.ts';
import { insertInto } from '../database/table.ts';
import { FenceLostError, withStoreErrors } from '../database/store-errors.ts';
import type { Database } from '../database/database.ts';
import { recordEvents } from './events.ts';
import { PASS, type PassRow } from './factory.entities.ts';
import { acceptRevision } from './revisions.ts';

/**
 * Problems and changes on one page of passes, but for its last pass: some megabytes of JSON, which a process holds
 * several times at once.
 */
export const PAGE_ENTRIES_MAX = 10_000;

/** Passes read in one go: each may have hundreds of problems. */
export const PASSES_AT_ONCE = 50;

/** Whether there is more to write of a pass than where the factory stands. */
export function isNews({ record, delta: brought, events = [] }: PassOutcome): boolean {
  return record !== undefined || brought !== undefined || events.length > 0;
}

/** Writes the end of a pass, whatever path it took. Throws FenceLostError. */
export function* recordPass(uid: string, fence: number, outcome: PassOutcome): Transaction<void> {
  const {
    generationHandled,
    condition,
    conditions,
    failures,
    revisionSeen,
    revisionAttempted,
    delta: brought,
    rewrite,
    events = [],
    record,
  } = outcome;
  const written = yield* change(
    `UPDATE factory SET generation_handled = ?, condition = ?, conditions = COALESCE(?, conditions), failures = ?,
      revision_seen = COALESCE(?, revision_seen),
    revision_attempted = COALESCE(?, revision_attempted), rewrite = CASE WHEN ? = 1 THEN ? ELSE rewrite END
    WHERE uid = ? AND fence = ?`,
    generationHandled,
    JSON.stringify(condition),
    conditions === undefined ? null : JSON.stringify(conditions),
    failures,
    revisionSeen ?? null,
    revisionAttempted ?? null,
    rewrite === undefined ? 0 : 1,
    rewrite ? JSON.stringify(rewrite) : null,
    uid,
    fence,
  );
  if (written !== 1) throw new FenceLostError('the lease of this pass was taken over');
  if (!isNews(outcome)) return; // a pass without news costs one statement
  const nowMs = yield* databaseNow();
  if (revisionAttempted !== undefined && brought !== undefined)
    yield* acceptRevision(uid, revisionAttempted, brought, nowMs, record?.id);
  if (brought?.spent !== undefined)
    yield* change('DELETE FROM approval WHERE factory_uid = ? AND digest = ?', uid, brought.spent);
  if (record !== undefined) yield* insertInto(PASS, [toPassRow(uid, record)]);
  yield* recordEvents(uid, events, nowMs, record?.id);
}

/** Some recorded passes of a factory. */
export interface PassPage {
  passes: PassRecord[];
  hasMore: boolean;
}

/** Recorded passes, newest first, from before `before`. */
export async function readPasses(
  { source }: Database,
  factoryUid: string,
  limit: number,
  before?: string,
): Promise<PassRecord[]> {
  const where = { factory_uid: factoryUid, ...(before === undefined ? {} : { id: LessThan(before) }) };
  const found = source.getRepository(PASS).find({ where, order: { id: 'DESC' }, take: limit });
  return (await withStoreErrors(found)).map(toPassRecord);
}

/** The same as a page: at most `limit` of them, fewer where they say a lot. */
export async function readPassPage(
  database: Database,
  factoryUid: string,
  limit: number,
  before?: string,
): Promise<PassPage> {
  const passes: PassRecord[] = [];
  let entries = 0;
  for (;;) {
    const wanted = Math.min(PASSES_AT_ONCE, limit + 1 - passes.length);
    const found = await readPasses(database, factoryUid, wanted, passes.at(-1)?.id ?? before);
    for (const pass of found) {
      if (passes.length === limit || entries > PAGE_ENTRIES_MAX) return { passes, hasMore: true };
      passes.push(pass);
      entries += pass.problems.length + pass.changes.length + pass.held.length;
    }
    if (found.length < wanted) return { passes, hasMore: false };
  }
}

/** One recorded pass. */
export async function readPass({ source }: Database, factoryUid: string, id: string): Promise<PassRecord | undefined> {
  const found = await withStoreErrors(source.getRepository(PASS).findOneBy({ factory_uid: factoryUid, id }));
  return found === null ? undefined : toPassRecord(found);
}

/** The newest recorded pass that held something under this digest. */
export async function readHeldPass(
  { source }: Database,
  factoryUid: string,
  digest: string,
): Promise<PassRecord | undefined> {
  const where = { factory_uid: factoryUid, digest };
  const [found] = await withStoreErrors(source.getRepository(PASS).find({ where, order: { id: 'DESC' }, take: 1 }));
  return found === undefined ? undefined : toPassRecord(found);
}

export function toPassRow(uid: string, record: PassRecord): PassRow {
  return {
    id: record.id,
    factory_uid: uid,
    triggers: JSON.stringify(record.triggers),
    started_at: record.startedAtMs,
    finished_at: record.finishedAtMs,
    ending: record.ending,
    reason: record.reason ?? null,
    message: record.message ?? null,
    revision: record.revision ?? null,
    problems: JSON.stringify(record.problems),
    changes: JSON.stringify(record.changes),
    held: JSON.stringify(record.held),
    digest: record.digest ?? null,
    timings: JSON.stringify(record.timings),
    rewritten_from: record.rewrittenFrom ?? null,
    superseded: record.superseded,
    revision_id: record.revision === undefined ? null : revisionId(record.revision),
  };
}

export function toPassRecord(found: PassRow): PassRecord {
  return {
    id: found.id,
    triggers: JSON.parse(found.triggers) as string[],
    startedAtMs: found.started_at,
    finishedAtMs: found.finished_at,
    ending: found.ending as PassRecord['ending'],
    reason: found.reason ?? undefined,
    message: found.message ?? undefined,
    revision: found.revision ?? undefined,
    problems: JSON.parse(found.problems) as unknown[],
    changes: JSON.parse(found.changes) as unknown[],
    held: JSON.parse(found.held) as unknown[],
    digest: found.digest ?? undefined,
    rewrittenFrom: found.rewritten_from ?? undefined,
    superseded: found.superseded,
    timings: JSON.parse(found.timings) as Record<string, number>,
  };
}
