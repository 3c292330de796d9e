/**
 * The private folders of a run: what is put into them before an execution, and how they go away. spec: What a
 * webhook-started run receives (event-payload.json); contract §10.
 */
import { constants } from 'node:fs';
import { chmod, lchown, lstat, mkdir, open, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ARTIFACTS_FOLDER,
  ATTACHMENTS_FOLDER,
  isAttachmentName,
  isUuid,
  PAYLOAD_FILE_NAME,
  PROMPT_FILE_NAME,
} from '#runs';
import { entriesBelow, emptyFolder, namesIn, removeEntry } from './folder-trees.ts';

/** Who the run's processes are; the folders they may write belong to them. */
export interface Owner {
  uid: number;
  gid: number;
}

/** The folders of one run, as absolute paths without links. */
export interface Workspace {
  runId: string;
  /** Number of the execution; grows with every one of the run. */
  epoch: number;
  /** The run's own folder; belongs to the service, the others are inside it. */
  folder: string;
  /** Working directory: prompt.md, event-payload.json and what the agent makes. Kept between executions. */
  workspace: string;
  /**
   * Folder inside it with the files of requests, those of earlier executions included; what it shows lies in `inputs`.
   */
  attachments: string;
  /** Folder of the service with what the run may read and not change: it sees it in its workspace. See `inputsOf`. */
  inputs: string;
  /** Folder inside it for what the agent wants to be stored. */
  artifacts: string;
  /** HOME, kept between executions: session files live there. */
  home: string;
  /** TMPDIR, emptied before each execution. */
  tmp: string;
  /** An empty folder of the service on which a sandbox can build its root. */
  mountPoint: string;
  /** Who the writable folders belong to and the run's processes are; the service's own user when absent. */
  owner?: Owner;
}

/** What a run is given to read; what is absent is left as it is. */
export interface WorkspaceInputs {
  prompt?: string;
  /** Exact bytes of the delivery's body. */
  payload?: Uint8Array;
  /** Read one after the other, as they are written: together they may be large. */
  attachments?: readonly { fileName: string; content: () => Promise<Uint8Array> }[];
}

export interface WorkspaceContents extends WorkspaceInputs {
  /** Folder that holds the folders of all runs; created when missing. */
  root: string;
  runId: string;
  epoch: number;
  /** Owner of the writable folders; the service's own user when absent. */
  owner?: Owner;
}

/**
 * Makes the folders of a run ready for its next execution. Links planted by an earlier execution are replaced, never
 * followed.
 */
export async function prepareWorkspace(contents: WorkspaceContents): Promise<Workspace> {
  const made = await workspaceAt(contents);
  const { folder } = made;
  for (const path of [folder, made.mountPoint, made.inputs]) await privateFolder(path);
  await readableFolder(join(made.inputs, ATTACHMENTS_FOLDER));
  for (const path of [made.workspace, made.attachments, made.artifacts, made.home, made.tmp])
    await ownedFolder(path, contents.owner);
  await emptyFolder(made.tmp);
  await putInputs(made, contents);
  return made;
}

/** Where the folders of a run are; only the one that holds them all is made. */
export async function workspaceAt({
  root,
  runId,
  epoch,
  owner,
}: Pick<WorkspaceContents, 'root' | 'runId' | 'epoch' | 'owner'>): Promise<Workspace> {
  const folder = runFolder(await folderAt(root), runId);
  const workspace = join(folder, 'workspace');
  return {
    runId,
    epoch,
    folder,
    workspace,
    attachments: join(workspace, ATTACHMENTS_FOLDER),
    inputs: join(folder, 'inputs'),
    artifacts: join(workspace, ARTIFACTS_FOLDER),
    home: join(folder, 'home'),
    tmp: join(folder, 'tmp'),
    mountPoint: join(folder, 'root'),
    owner,
  };
}

/**
 * Writes what a run is given, over what it had been given before. Prompt and payload only while nothing of the run is
 * alive; attachments at any time: they go into a folder of the service, for whatever is in a run's own folders may be a
 * link to anywhere the next moment.
 */
export async function putInputs(
  workspace: Workspace,
  { prompt, payload, attachments = [] }: WorkspaceInputs,
): Promise<void> {
  if (!attachments.every(({ fileName }) => isAttachmentName(fileName)))
    throw new Error('attachment name cannot be a file in a workspace');
  if (prompt !== undefined) await writeInput(join(workspace.workspace, PROMPT_FILE_NAME), prompt);
  for (const folder of payload === undefined ? [] : [workspace.inputs, workspace.workspace])
    await writeInput(join(folder, PAYLOAD_FILE_NAME), payload as Uint8Array);
  for (const { fileName, content } of attachments)
    await writeInput(join(workspace.inputs, ATTACHMENTS_FOLDER, fileName), await content());
}

/** A file or folder of the service, and where the run sees it. */
export interface ShownInput {
  from: string;
  at: string;
  folder: boolean;
}

/**
 * Makes the places at which a run sees its inputs, and answers what has to be mounted there, read-only. Where nothing
 * can be mounted (`mounts` false) the attachments are a link. Only while nothing of the run is alive.
 */
export async function inputsOf(
  { workspace, attachments, inputs, owner }: Workspace,
  mounts: boolean,
): Promise<ShownInput[]> {
  const files = join(inputs, ATTACHMENTS_FOLDER);
  if (!mounts) {
    await removeEntry(attachments);
    await symlink(files, attachments);
    return [];
  }
  await ownedFolder(attachments, owner);
  const shown: ShownInput[] = [{ from: files, at: attachments, folder: true }];
  const payload = join(inputs, PAYLOAD_FILE_NAME);
  const hasPayload = (await lstat(payload).catch(() => undefined))?.isFile() === true;
  if (!hasPayload) return shown;
  const at = join(workspace, PAYLOAD_FILE_NAME);
  if ((await lstat(at).catch(() => undefined))?.isFile() !== true) await writeInput(at, '');
  return [...shown, { from: payload, at, folder: false }];
}

/** Removes everything of a run. Nothing of the run may be alive. */
export async function removeWorkspace(root: string, runId: string): Promise<void> {
  await removeEntry(runFolder(root, runId));
}

function runFolder(root: string, runId: string): string {
  // The id becomes part of a path: nothing but a canonical UUID may.
  if (!isUuid(runId)) throw new Error('run id is not a UUID');
  return join(root, runId);
}

async function folderAt(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  return realpath(root);
}

/** A folder of the service at the path; anything else at the path is removed. */
async function privateFolder(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    await removeEntry(path);
    await mkdir(path, { mode: 0o700 });
  }
  await chmod(path, 0o700);
}

/** A folder of the service that a run may read where it is shown. */
async function readableFolder(path: string): Promise<void> {
  await privateFolder(path);
  await chmod(path, 0o755);
}

/** A folder of the run's at the path, private to it; anything else at the path is removed. */
export async function ownedFolder(path: string, owner: Owner | undefined): Promise<void> {
  await privateFolder(path);
  if (owner === undefined || (await lstat(path)).uid === owner.uid) return;
  await giveAway(path, owner);
}

/** Changes the owner of a whole tree; needed once, or when the means of isolation changed between two executions. */
async function giveAway(folder: string, owner: Owner): Promise<void> {
  for (const waiting: (string | Buffer)[] = [folder]; waiting.length > 0;) {
    const current = waiting.pop() ?? folder;
    for (const name of await namesIn(current)) {
      const path = entriesBelow(current, name);
      const found = await lstat(path);
      if (found.isDirectory()) waiting.push(path);
      // A second name of a file may be a file of somebody else.
      else if (found.nlink === 1) await lchown(path, owner.uid, owner.gid);
    }
    await lchown(current, owner.uid, owner.gid);
  }
}

/** Writes an input under a fresh name, read-only: what the agent put in its place goes away, a link is not followed. */
export async function writeInput(path: string, content: Uint8Array | string, mode = 0o444): Promise<void> {
  await removeEntry(path);
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode);
  try {
    await file.writeFile(content);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}
