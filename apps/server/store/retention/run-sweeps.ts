/**
 * What goes of runs that ended long ago: their events and answered questions, and the files that they made or were
 * given; the run itself stays. And what no run that waits refers to. contract §3.1 (events, artifacts).
 */
import { retentionCutoffMs } from '#deliveries';
import type { Database } from '../database/database.ts';
import { change, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import { isAnyWaitingOf } from '../runs/waiting-runs.ts';
import type { SweepBatch, Sweep, WeightedTarget } from './sweeps.ts';

/** Ended runs scanned in one statement. */
const RUNS_PER_SCAN = 200;

/** Events removed at once: at most 16 KiB each. */
const EVENTS_PER_TARGET = 100;

/** Targets of one scan. A run with more events is scanned again. */
const TARGETS_PER_SCAN = 50;

/** Bytes whose removal costs about what a small row does. */
const BYTES_PER_WEIGHT = 16_384;
const ROUND_MS = 3_600_000;

/** Entries of the log from one number to another, of one run. */
interface OldEvents {
  runId: string;
  fromSeq: number;
  untilSeq: number;
}

/** One file of a run. */
type OldFile = { runId: string } & ({ artifactUid: string } | { followupId: string; fileName: string });

/**
 * Events of runs that ended longer ago than this. The last one stays, so that no number is given twice, and with it
 * what the timeline is made of.
 */
export function eventSweep(days: number, dialect: Database['dialect']): Sweep<OldEvents> {
  return {
    name: 'run events',
    everyMs: ROUND_MS,
    scan: (place, nowMs) => scanRuns(place, retentionCutoffMs(nowMs, days), dialect, oldEvents),
    remove: (targets, nowMs) => removeEvents(targets, retentionCutoffMs(nowMs, days)),
  };
}

/** Artifacts and attachments of runs that ended longer ago than this, with their bytes. */
export function artifactSweep(days: number, dialect: Database['dialect']): Sweep<OldFile> {
  return {
    name: 'artifacts',
    everyMs: ROUND_MS,
    scan: (place, nowMs) => scanRuns(place, retentionCutoffMs(nowMs, days), dialect, oldFiles),
    remove: (targets, nowMs) => removeFiles(targets, retentionCutoffMs(nowMs, days)),
  };
}

const SNAPSHOT_ROUND_MS = 21_600_000;
const SNAPSHOTS_PER_SCAN = 200;

/** A snapshot and whose it is. */
interface OldSnapshot {
  digest: Uint8Array;
  factory_uid: string;
  automation_uid: string;
  worker_host: string | null;
  definition_revision: string;
}

/**
 * Snapshots of revisions that their factory serves no longer, once no run of their automation waits. What a factory
 * serves stays, also unused: whoever starts a run remembers that it is stored.
 */
export function snapshotSweep(): Sweep<OldSnapshot> {
  return { name: 'run snapshots', everyMs: SNAPSHOT_ROUND_MS, scan: scanSnapshots, remove: removeSnapshots };
}

function* scanSnapshots(place: string): Transaction<SweepBatch<OldSnapshot>> {
  const found = yield* rows<OldSnapshot>(
    'SELECT digest, factory_uid, automation_uid, worker_host, definition_revision FROM run_snapshot ' +
      'WHERE digest > ? ORDER BY digest LIMIT ?',
    Buffer.from(place, 'hex'),
    SNAPSHOTS_PER_SCAN,
  );
  const targets: WeightedTarget<OldSnapshot>[] = [];
  for (const target of found) if (yield* isUnneeded(target, '')) targets.push({ target, weight: 1 });
  const last = found.length === SNAPSHOTS_PER_SCAN ? found.at(-1) : undefined;
  return {
    targets,
    place: last === undefined ? '' : Buffer.from(last.digest).toString('hex'),
    isOver: last === undefined,
  };
}

function* removeSnapshots(targets: readonly OldSnapshot[]): Transaction<number> {
  let removed = 0;
  for (const target of targets) {
    // Shared: a pass that serves the old revision again waits for us, and whoever starts runs of it stores it again.
    if (!(yield* isUnneeded(target, ' FOR SHARE'))) continue;
    removed += yield* change('DELETE FROM run_snapshot WHERE digest = ?', target.digest);
  }
  return removed;
}

function* isUnneeded(snapshot: OldSnapshot, tail: '' | ' FOR SHARE'): Transaction<boolean> {
  const { factory_uid: factoryUid, automation_uid: automationUid, worker_host: host } = snapshot;
  const factory = yield* row<{ revision_applied: string | null; deleted_at: number | null }>(
    `SELECT revision_applied, deleted_at FROM factory WHERE uid = ?${tail}`,
    factoryUid,
  );
  if (factory?.deleted_at === null && factory.revision_applied === snapshot.definition_revision) return false;
  return !(yield* isAnyWaitingOf(factoryUid, automationUid, host ?? ''));
}

interface EndedRun {
  run_id: string;
  settled_at: number;
}

/**
 * Targets of some runs; `rest`: of which run, and from which entry of its log on, there are more. Of the first run only
 * what comes from `fromSeq` on.
 */
type OldOf<T> = (
  runs: readonly EndedRun[],
  fromSeq: number,
) => Transaction<{ targets: WeightedTarget<T>[]; rest?: { run: EndedRun; fromSeq: number } }>;

/** Along the ends of runs, each once: a run that ended again since has a later place. */
function* scanRuns<T>(
  text: string,
  cutoffMs: number,
  dialect: Database['dialect'],
  oldOf: OldOf<T>,
): Transaction<SweepBatch<T>> {
  const place = parseCursor(text, cutoffMs);
  const runs = yield* rows<EndedRun>(
    `SELECT run_id, settled_at FROM run${dialect === 'sqlite' ? ' INDEXED BY run_settled' : ''}
     WHERE settled_at IS NOT NULL AND settled_at < ?
     AND (settled_at, run_id) ${place.fromSeq === undefined ? '>' : '>='} (?, ?) ORDER BY settled_at, run_id LIMIT ?`,
    cutoffMs,
    place.endedAtMs,
    place.runId,
    RUNS_PER_SCAN,
  );
  const { targets, rest } = yield* oldOf(runs, place.fromSeq ?? 0);
  if (rest !== undefined)
    return {
      targets,
      place: formatCursor({ endedAtMs: rest.run.settled_at, runId: rest.run.run_id, fromSeq: rest.fromSeq }),
      isOver: false,
    };
  const last = runs.at(-1);
  return {
    targets,
    place: formatCursor(last === undefined ? place : { endedAtMs: last.settled_at, runId: last.run_id }),
    isOver: runs.length < RUNS_PER_SCAN,
  };
}

/** Behind a run, or in it where an entry of its log is named. */
interface RunCursor {
  endedAtMs: number;
  runId: string;
  fromSeq?: number;
}

function formatCursor({ endedAtMs: settledAtMs, runId, fromSeq }: RunCursor): string {
  return [settledAtMs, runId, ...(fromSeq === undefined ? [] : [fromSeq])].join(' ');
}

/**
 * A place beyond the cutoff was reached by a clock that was wrong, or while less was kept: everything before the cutoff
 * is done.
 */
function parseCursor(text: string, cutoffMs: number): RunCursor {
  const [settledAt, runId = '', fromSeq] = text.split(' ');
  const settledAtMs = Number(settledAt);
  if (settledAtMs > cutoffMs) return { endedAtMs: cutoffMs, runId: '' };
  return { endedAtMs: settledAtMs, runId, fromSeq: fromSeq === undefined ? undefined : Number(fromSeq) };
}

function* oldEvents(
  runs: readonly EndedRun[],
  fromSeq: number,
): Transaction<{ targets: WeightedTarget<OldEvents>[]; rest?: { run: EndedRun; fromSeq: number } }> {
  const spans = yield* ofRuns<{ run_id: string; first: number | null; last: number | null }>(runs, SPANS);
  const spanOf = new Map(spans.map((span) => [span.run_id, span]));
  const targets: WeightedTarget<OldEvents>[] = [];
  for (const [index, run] of runs.entries()) {
    const span = spanOf.get(run.run_id);
    const [first, last] = [span?.first ?? 0, span?.last ?? 0];
    for (let seq = index === 0 ? Math.max(first, fromSeq) : first; seq < last; seq += EVENTS_PER_TARGET) {
      if (targets.length >= TARGETS_PER_SCAN) return { targets, rest: { run, fromSeq: seq } };
      const untilSeq = Math.min(last, seq + EVENTS_PER_TARGET);
      targets.push({ target: { runId: run.run_id, fromSeq: seq, untilSeq }, weight: untilSeq - seq });
    }
  }
  return { targets };
}

/** The ends of a log, however long it is. */
const SPANS =
  `SELECT r.run_id, (SELECT min(e.seq) FROM run_event e ` +
  `WHERE e.run_id = r.run_id) AS first, (SELECT max(e.seq) FROM run_event e ` +
  `WHERE e.run_id = r.run_id) AS last FROM run r`;

/** An end that belongs to no execution is the timeline's: those are few. */
function* removeEvents(targets: readonly OldEvents[], cutoffMs: number): Transaction<number> {
  let removed = 0;
  for (const { runId, fromSeq, untilSeq } of targets) {
    if (!(yield* isStillOld(runId, cutoffMs))) continue;
    removed += yield* change(
      'DELETE FROM run_event WHERE run_id = ? AND seq >= ? AND seq < ? AND NOT (execution_id IS NULL ' +
        "AND kind = 'status')",
      runId,
      fromSeq,
      untilSeq,
    );
    removed += yield* change('DELETE FROM permission WHERE run_id = ? AND answered_at IS NOT NULL', runId);
  }
  return removed;
}

function* oldFiles(runs: readonly EndedRun[]): Transaction<{ targets: WeightedTarget<OldFile>[] }> {
  const artifacts = yield* ofRuns<{ run_id: string; artifact_uid: string; bytes: number | null }>(
    runs,
    'SELECT run_id, artifact_uid, octet_length(bytes) AS bytes FROM artifact',
  );
  const attachments = yield* ofRuns<{ run_id: string; followup_id: string; file_name: string; size: number }>(
    runs,
    'SELECT run_id, followup_id, file_name, size FROM attachment',
  );
  const weight = (bytes: number | null) => 1 + Math.floor((bytes ?? 0) / BYTES_PER_WEIGHT);
  return {
    targets: [
      ...artifacts.map(({ run_id: runId, artifact_uid: artifactUid, bytes }) => ({
        target: { runId, artifactUid },
        weight: weight(bytes),
      })),
      ...attachments.map(({ run_id: runId, followup_id: followupId, file_name: fileName, size }) => ({
        target: { runId, followupId, fileName },
        weight: weight(size),
      })),
    ],
  };
}

function* removeFiles(targets: readonly OldFile[], cutoffMs: number): Transaction<number> {
  let removed = 0;
  for (const target of targets) {
    if (!(yield* isStillOld(target.runId, cutoffMs))) continue;
    removed +=
      'artifactUid' in target
        ? yield* change('DELETE FROM artifact WHERE artifact_uid = ?', target.artifactUid)
        : yield* change(
            'DELETE FROM attachment WHERE run_id = ? AND followup_id = ? AND file_name = ?',
            target.runId,
            target.followupId,
            target.fileName,
          );
  }
  return removed;
}

/** Locks the run: a follow-up may have queued it again since it was found. */
function* isStillOld(runId: string, cutoffMs: number): Transaction<boolean> {
  return (
    (yield* row(
      'SELECT 1 AS old FROM run WHERE run_id = ? AND settled_at IS NOT NULL AND settled_at < ? FOR UPDATE',
      runId,
      cutoffMs,
    )) !== undefined
  );
}

function* ofRuns<R>(runs: readonly EndedRun[], select: string): Transaction<R[]> {
  if (runs.length === 0) return [];
  return yield* rows<R>(
    `${select} WHERE run_id IN (${placeholders(runs.length)})`,
    ...runs.map(({ run_id: runId }) => runId),
  );
}
