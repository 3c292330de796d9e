/**
 * Environments and skills as runs look for them, and the files that skills have beside their SKILL.md. contract §3.4
 * (AmbientAgentConfig), §8.
 */
import { createHash } from 'node:crypto';
import type { EnvironmentDefinition, SkillDefinition, SkillFile } from '#definitions';
import type { Database } from '../database/database.ts';
import { insertInto } from '../database/table.ts';
import { RESOURCE_FILE } from './definition.entities.ts';
import { change, placeholders, row, rows, type Transaction } from '../database/transactions.ts';

/** An applied resource, or the names of those that there are instead. */
export type ResourceLookup<Definition> = { uid: string; definition: Definition } | { names: readonly string[] };

/** Names told to somebody who looked for another one. */
const NAMES_MAX = 50;

export class ResourceStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** An environment of the factory by its name, else by its UID. */
  environment(factoryUid: string, nameOrUid: string): Promise<ResourceLookup<EnvironmentDefinition>> {
    return this.database.read(() => found<EnvironmentDefinition>('environment', factoryUid, nameOrUid));
  }

  /** A skill of the factory by its name, with the files beside its SKILL.md in order of their paths. */
  skill(factoryUid: string, name: string): Promise<ResourceLookup<SkillDefinition> & { files: readonly SkillFile[] }> {
    return this.database.read(function* () {
      const skill = yield* found<SkillDefinition>('skill', factoryUid, name);
      const stored =
        'uid' in skill
          ? yield* rows<{ path: string; content: Uint8Array; executable: number }>(
              'SELECT path, content, executable FROM resource_file WHERE resource_uid = ? ORDER BY path',
              skill.uid,
            )
          : [];
      return {
        ...skill,
        files: stored.map(({ path, content, executable }) => ({
          path,
          content: new Uint8Array(content),
          executable: executable === 1,
        })),
      };
    });
  }

  /** Remembers the commit that the skill of a run was read at, as long as the run is ours. */
  async noteSkillCommit({ runId, epoch }: { runId: string; epoch: number }, commit: string | undefined): Promise<void> {
    await this.database.run(() =>
      change('UPDATE run SET skill_commit = ? WHERE run_id = ? AND epoch = ?', commit ?? null, runId, epoch),
    );
  }
}

function* found<Definition>(
  kind: string,
  factoryUid: string,
  nameOrUid: string,
): Transaction<ResourceLookup<Definition>> {
  const resource = yield* row<{ uid: string; definition: string }>(
    'SELECT uid, definition FROM resource WHERE factory_uid = ? AND kind = ? AND deleted_at IS NULL ' +
      'AND (slug = ? OR uid = ?) ORDER BY CASE WHEN slug = ? THEN 0 ELSE 1 END LIMIT 1',
    factoryUid,
    kind,
    nameOrUid,
    nameOrUid,
    nameOrUid,
  );
  if (resource !== undefined) return { uid: resource.uid, definition: JSON.parse(resource.definition) as Definition };
  const others = yield* rows<{ slug: string }>(
    'SELECT slug FROM resource WHERE factory_uid = ? AND kind = ? AND deleted_at IS NULL ORDER BY slug LIMIT ?',
    factoryUid,
    kind,
    NAMES_MAX,
  );
  return { names: others.map(({ slug }) => slug) };
}

/** A file with what tells it from another one. */
interface ResourceFile extends SkillFile {
  digest: string;
}

/** Prepares the files of skills, by the paths of their SKILL.md, to be kept: no transaction waits for their digests. */
export function toResourceFiles(
  skills: ReadonlyMap<string, readonly SkillFile[]> = new Map(),
): ReadonlyMap<string, readonly ResourceFile[]> {
  return new Map(
    [...skills].map(([path, files]) => [
      path,
      files.map((file) => ({ ...file, digest: createHash('sha256').update(file.content).digest('hex') })),
    ]),
  );
}

/** Makes the stored files of these skills what they should be. Writes only what differs. */
export function* saveFiles(
  factoryUid: string,
  skills: ReadonlyMap<string, readonly ResourceFile[]>,
): Transaction<void> {
  if (skills.size === 0) return;
  const resources = yield* rows<{ uid: string; path: string }>(
    "SELECT uid, path FROM resource WHERE factory_uid = ? AND kind = 'skill' AND deleted_at IS NULL",
    factoryUid,
  );
  const stored = yield* rows<{ resource_uid: string; path: string; digest: string; executable: number }>(
    'SELECT f.resource_uid, f.path, f.digest, f.executable FROM resource_file f JOIN resource r ' +
      'ON r.uid = f.resource_uid WHERE r.factory_uid = ?',
    factoryUid,
  );
  for (const { uid, path } of resources) {
    const files = skills.get(path);
    if (files !== undefined)
      yield* saveFilesOf(
        uid,
        files,
        new Map(
          stored
            .filter((file) => file.resource_uid === uid)
            .map((file) => [file.path, identityOf(file.digest, file.executable === 1)]),
        ),
      );
  }
}

function* saveFilesOf(
  uid: string,
  files: readonly ResourceFile[],
  stored: ReadonlyMap<string, string>,
): Transaction<void> {
  const differing = files.filter(({ path, digest, executable }) => stored.get(path) !== identityOf(digest, executable));
  const wanted = new Set(files.map(({ path }) => path));
  const surplus = [...stored.keys()].filter((path) => !wanted.has(path));
  for (const path of [...surplus, ...differing.map((file) => file.path)])
    yield* change('DELETE FROM resource_file WHERE resource_uid = ? AND path = ?', uid, path);
  const rows = differing.map(({ path, content, digest, executable }) => ({
    resource_uid: uid,
    path,
    content,
    digest,
    executable: executable ? 1 : 0,
  }));
  yield* insertInto(RESOURCE_FILE, rows);
}

function identityOf(digest: string, executable: boolean): string {
  return `${digest} ${executable}`;
}

/** Forgets the files of deleted resources. */
export function* deleteFiles(resourceUids: readonly string[]): Transaction<void> {
  if (resourceUids.length > 0)
    yield* change(
      `DELETE FROM resource_file WHERE resource_uid IN (${placeholders(resourceUids.length)})`,
      ...resourceUids,
    );
}

/** Forgets the files of a deleted factory. */
export function* deleteFilesOfFactory(factoryUid: string): Transaction<void> {
  yield* change(
    'DELETE FROM resource_file WHERE resource_uid IN (SELECT uid FROM resource WHERE factory_uid = ?)',
    factoryUid,
  );
}
