/** `millwright runs artifacts`: what a run has made, and copies of its files in a folder. contract §3.1 (artifacts). */
import { lstat, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ArtifactItem } from '#client';
import { apiVerb, type Api } from '../connection/api.ts';
import { CommandError, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { runId } from '../connection/name-resolution.ts';
import { makeFolders } from '../terminal/folders.ts';
import { grouped, type Cell } from '../terminal/output.ts';

/** A file may be large and the way to it slow. */
const DOWNLOAD_MS_MAX = 600_000;

/** The verb `runs artifacts`. */
export const artifacts = apiVerb({
  name: 'runs artifacts',
  arguments: 'ID',
  summary: 'Lists what a run has made (the latest 100); with --save its files are copied into a folder.',
  details: [
    'Files that a run made are foreign: look before you open or start one. Of two files of the same name the ' +
      'later one is saved as NAME-2.',
  ],
  positionals: [1, 1],
  options: {
    save: { type: 'string', value: 'DIR', help: 'folder to copy the files into; it is made when it is missing' },
    force: { type: 'boolean', help: 'with --save: replace files that are there' },
  },
  async run({ values: { save, force = false }, positionals: [id] }, { api, output, io }) {
    if (force && save === undefined) throw new UsageError('--force needs --save DIR');
    const { artifacts: found = [] } = await api.agent.runs.retrieve(runId(id));
    const saved = save === undefined ? [] : await saveAll(api, found, { folder: resolve(io.cwd, save), force });
    output.result({ artifacts: found }, () => {
      if (found.length === 0) return output.note('the run has made nothing that was kept');
      output.table(['NAME', 'TYPE', 'SIZE', 'TITLE'], found.map(rowOf), 3);
    });
    for (const path of saved) output.note(`saved ${path}`);
    return EXIT.ok;
  },
});

/** One artifact in a few words, for the page of its run. */
export function artifactText({ artifact_type: type, data }: ArtifactItem): string {
  const { filename, size_bytes: size, url, title } = data;
  const words = filename === undefined ? [url, title] : [filename, `${grouped(size ?? 0)} bytes`, title];
  return `${type}  ${words.filter((word) => word !== undefined).join(', ')}`;
}

function rowOf({ artifact_type: type, data: { filename, size_bytes: size, title, url } }: ArtifactItem): Cell[] {
  return [
    filename ?? '-',
    type,
    size === undefined ? '-' : String(size),
    [title, url].filter((word) => word !== undefined).join('  ') || '-',
  ];
}

/** Where files go, and whether others may be lost for them. */
interface Place {
  folder: string;
  force: boolean;
}

interface Copy {
  uid: string;
  path: string;
}

/** Paths of the copies. Nothing is written unless all of them can be. */
async function saveAll(api: Api, found: readonly ArtifactItem[], { folder, force }: Place): Promise<string[]> {
  const copies = copiesOf(found, folder);
  const there = force
    ? []
    : (await Promise.all(copies.map(async ({ path }) => ((await isThere(path)) ? [path] : [])))).flat();
  if (there.length > 0)
    throw new CommandError(
      'nothing was saved, because there are files of these names; name another folder, or give --force',
      EXIT.problems,
      there,
    );
  await writing(folder, () => makeFolders(folder));
  for (const { uid, path } of copies) {
    const bytes = await api.agent.artifacts.download(uid, { timeout: DOWNLOAD_MS_MAX });
    await writing(path, async () => {
      if (force) await rm(path, { force: true }); // a link goes away, and what it leads to stays
      await writeFile(path, bytes, { flag: 'wx' });
    });
  }
  return copies.map(({ path }) => path);
}

/** Names and IDs as the service gives them: of any other nothing may become part of a path or an address. */
const FILE_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,255}$/;
const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function copiesOf(found: readonly ArtifactItem[], folder: string): Copy[] {
  const usedNames = new Set<string>();
  return found.flatMap(({ artifact_uid: uid, data: { filename: name } }) => {
    if (name === undefined) return [];
    if (!FILE_NAME.test(name) || !UID.test(uid))
      throw new CommandError(
        'the server names an artifact in a way that cannot be a file here; nothing was saved',
        EXIT.internal,
      );
    return [{ uid, path: join(folder, freeName(name, usedNames)) }];
  });
}

/**
 * The name, with a number before its extension where it is taken: some file systems take large and small letters for
 * the same.
 */
function freeName(name: string, taken: Set<string>): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let free = name;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${stem}-${number}${extension}`;
  taken.add(free.toLowerCase());
  return free;
}

/** Also a link that leads nowhere. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR',
  );
}

async function writing(path: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new CommandError(
      `${path} cannot be written (${code})`,
      code === 'EEXIST' || code === 'ENOTDIR' || code === 'EACCES' ? EXIT.usage : EXIT.internal,
      [],
      { cause },
    );
  }
}
