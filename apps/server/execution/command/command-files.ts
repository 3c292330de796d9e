/**
 * The few files of /etc that are made for one run: who it is, and what localhost is, where the machine's own would tell
 * too much or nothing.
 */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Confinement } from '../sandbox/sandboxes.ts';
import { removeEntry } from '../workspace/folder-trees.ts';
import type { Owner, Workspace } from '../workspace/workspaces.ts';

/**
 * The files, and where the run sees them. Without the machine's network its names mean nothing; a user of its own is in
 * none of its lists.
 */
export async function ownFiles(
  workspace: Workspace,
  network: Confinement['network'],
): Promise<NonNullable<Confinement['shown']>> {
  const { owner } = workspace;
  const files = [
    ...(network === 'none' ? [{ name: 'hosts', text: '127.0.0.1 localhost\n::1 localhost\n' }] : []),
    ...(owner === undefined
      ? []
      : [
          { name: 'passwd', text: usersOf(owner, workspace.home) },
          { name: 'group', text: groupsOf(owner) },
        ]),
  ];
  return Promise.all(
    files.map(async ({ name, text }) => ({
      from: await written(join(workspace.folder, name), text),
      at: `/etc/${name}`,
    })),
  );
}

async function written(path: string, text: string): Promise<string> {
  await removeEntry(path);
  await writeFile(path, text);
  // Whatever the service's own mask is.
  await chmod(path, 0o444);
  return path;
}

/** Programs ask for the name and home of their user, and some fall over one that has none. */
function usersOf({ uid, gid }: Owner, home: string): string {
  return (
    `root:x:0:0:root:/root:/bin/sh\nrun:x:${uid}:${gid}:run:${home}` +
    `:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`
  );
}

function groupsOf({ gid }: Owner): string {
  return `root:x:0:\nrun:x:${gid}:\nnogroup:x:65534:\n`;
}
