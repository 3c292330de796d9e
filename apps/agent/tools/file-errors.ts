/** What the file system refuses, as an answer that the model can act on. */
import { OutsideWorkspaceError } from './workspace-paths.ts';
import { failed, type Outcome } from './types.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'must not be used (permission denied)',
  EPERM: 'must not be used (operation not permitted)',
  EROFS: 'lies on a read-only file system',
  EISDIR: 'is a folder',
  ENOTDIR: 'goes through something that is not a folder',
  ELOOP: 'goes in circles through links',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the quota is used up',
  EFBIG: 'cannot be written: it would become too large',
  ENAMETOOLONG: 'is too long a name',
};

/** Runs something on files; refusals of the file system and of the confinement become outcomes, faults are thrown. */
export async function onFiles(path: string, act: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof OutsideWorkspaceError) return failed(error.message);
    const words = WORDS[(error as NodeJS.ErrnoException).code ?? ''];
    if (words === undefined) throw error;
    return failed(`${JSON.stringify(path)} ${words}`);
  }
}
