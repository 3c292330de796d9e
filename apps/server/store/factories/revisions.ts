/**
 * Revisions that passes have accepted, as rows: which came when, which the branch lost, and what serves. contract §9.
 */
import { type DeltaCommits, revisionId, type SeenRevision } from '#reconcile';
import { PULL_COLUMNS, toPull, type StoredPullRequest } from './feedback-rows.ts';
import type { PullRequestRow } from './feedback.entities.ts';
import { REVISION } from './factory.entities.ts';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { change, placeholders, row, rows, type Transaction } from '../database/transactions.ts';

/** Revisions of one factory that are kept: years of most branches. */
export const REVISIONS_RETAINED_MAX = 10_000;

/** Pull requests that one commit is said to come from. */
const MERGED_TOGETHER_MAX = 20;

/** Pull requests that became part of the branch together with a commit. */
export interface MergedTogether {
  pulls: StoredPullRequest[];
  /** False while the forge may have more to say of it: it was not listed since the commit came. */
  isForgeListed: boolean;
}

/** Matches of a prefix that are looked at: two are too many already. */
const MATCHES_MAX = 2;

/** Notes what a tip brought and what it lost, under a number of its own. */
export function* acceptRevision(
  factoryUid: string,
  revision: string,
  { commits, lost, isReset: anew, forgetsOthers = false }: DeltaCommits,
  atMs: number,
  passId?: string,
): Transaction<void> {
  const tip = revisionId(revision);
  const highest = yield* row<{ top: number | null }>(
    'SELECT max(CASE WHEN tip > ordinal THEN tip ELSE ordinal END) AS top FROM revision WHERE factory_uid = ?',
    factoryUid,
  );
  const number = (highest?.top ?? 0) + 1;
  const brought = [...new Set([...commits, tip])];
  // What comes back begins anew: what was applied meanwhile did not hold it.
  yield* change(
    'UPDATE revision SET lost = 0, ordinal = ?, seen_at = ?, pass_id = ? WHERE factory_uid = ? AND lost > 0 ' +
      `AND revision IN (${placeholders(brought.length)})`,
    number,
    atMs,
    passId ?? null,
    factoryUid,
    ...brought,
  );
  const added = { factory_uid: factoryUid, ordinal: number, seen_at: atMs, lost: 0, tip: 0, pass_id: passId ?? null };
  yield* insertInto(
    REVISION,
    brought.map((id) => ({ ...added, revision: id })),
    { ignoreConflicts: true },
  );
  yield* change('UPDATE revision SET tip = ? WHERE factory_uid = ? AND revision = ?', number, factoryUid, tip);
  // Nobody can tell whether the tip holds the others: said to be lost, they would wake people; said to serve, they
  // would lie.
  if (forgetsOthers)
    yield* change(
      'DELETE FROM revision WHERE factory_uid = ? AND lost = 0 ' +
        `AND revision NOT IN (${placeholders(brought.length + lost.length)})`,
      factoryUid,
      ...brought,
      ...lost,
    );
  if (anew)
    yield* change(
      'UPDATE revision SET lost = ? WHERE factory_uid = ? AND lost = 0 ' +
        `AND revision NOT IN (${placeholders(brought.length)})`,
      number,
      factoryUid,
      ...brought,
    );
  else if (lost.length > 0)
    yield* change(
      `UPDATE revision SET lost = ? WHERE factory_uid = ? AND lost = 0 AND revision IN (${placeholders(lost.length)})`,
      number,
      factoryUid,
      ...lost,
    );
  yield* change(
    'DELETE FROM revision WHERE factory_uid = ? AND tip < ? AND ordinal < (SELECT ordinal FROM revision ' +
      'WHERE factory_uid = ? ORDER BY ordinal DESC LIMIT 1 OFFSET ?)',
    factoryUid,
    number,
    factoryUid,
    REVISIONS_RETAINED_MAX - 1,
  );
}

/** Forgets the revisions of a factory: another repository has others. */
export function* forgetRevisions(factoryUid: string): Transaction<void> {
  yield* change('DELETE FROM revision WHERE factory_uid = ?', factoryUid);
}

export class RevisionStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** What is kept of these revisions, by their IDs. */
  async find(factoryUid: string, ids: readonly string[]): Promise<Map<string, SeenRevision>> {
    if (ids.length === 0) return new Map();
    const found = await this.database.read(() =>
      rows<SeenRevision>(
        `${SELECT} WHERE factory_uid = ? AND revision IN (${placeholders(ids.length)})`,
        factoryUid,
        ...ids,
      ),
    );
    return new Map(found.map((one) => [one.id, one]));
  }

  /** IDs that begin like this, at most two of them. */
  async beginningWith(factoryUid: string, prefix: string): Promise<string[]> {
    // `g` follows every hexadecimal digit.
    const found = await this.database.read(() =>
      rows<SeenRevision>(
        `${SELECT} WHERE factory_uid = ? AND revision >= ? AND revision < ? ORDER BY revision LIMIT ?`,
        factoryUid,
        prefix,
        `${prefix}g`,
        MATCHES_MAX,
      ),
    );
    return found.map(({ id }) => id);
  }

  /** Of the tip that brought this commit, lowest number first. */
  mergedTogether(factoryUid: string, id: string): Promise<MergedTogether> {
    return this.database.longRead(function* () {
      const pulls = yield* rows<PullRequestRow>(
        `SELECT ${PULL_COLUMNS} FROM pull_request WHERE factory_uid = ? AND (merge_commit = ? OR merge_commit IN ` +
          '(SELECT came.revision FROM revision known JOIN revision came ON came.factory_uid = known.factory_uid ' +
          'AND came.ordinal = known.ordinal WHERE known.factory_uid = ? AND known.revision = ?)) ' +
          'ORDER BY number LIMIT ?',
        factoryUid,
        id,
        factoryUid,
        id,
        MERGED_TOGETHER_MAX,
      );
      const unlisted = yield* row<{ seen_at: number }>(
        'SELECT r.seen_at FROM revision r JOIN forge f ON f.factory_uid = r.factory_uid WHERE r.factory_uid = ? ' +
          'AND r.revision = ? AND r.seen_at > COALESCE(f.polled_at, 0)',
        factoryUid,
        id,
      );
      return { pulls: pulls.map(toPull), isForgeListed: unlisted === undefined };
    });
  }

  /** The last recorded pass that judged a revision: of the revision itself, else the one that saw it come. */
  async passOf(factoryUid: string, id: string): Promise<string | undefined> {
    const found = await this.database.read(() =>
      row<{ id: string | null }>(
        `SELECT COALESCE(
          (SELECT p.id FROM sync_pass p WHERE p.factory_uid = ? AND p.revision_id = ? ORDER BY p.id DESC LIMIT 1),
          (SELECT p.id FROM revision r JOIN sync_pass came ON came.id = r.pass_id JOIN sync_pass p
          ON p.factory_uid = r.factory_uid AND p.revision_id = came.revision_id
           WHERE r.factory_uid = ? AND r.revision = ? ORDER BY p.id DESC LIMIT 1)) AS id`,
        factoryUid,
        id,
        factoryUid,
        id,
      ),
    );
    return found?.id ?? undefined;
  }
}

const SELECT = 'SELECT revision AS id, ordinal, tip, lost FROM revision';
