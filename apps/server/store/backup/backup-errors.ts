/** What keeps a backup from being made or restored: one line with the way out, never a value of what is stored. */
export class BackupError extends Error {}

/** No space left, or the quota is used up. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL']);

/** A fault of the operating system as what it means here. `doing`: what could not be done, in words. */
export function toBackupError(doing: string, error: unknown): BackupError {
  if (error instanceof BackupError) return error;
  const { code } = error as { code?: string };
  const why = code !== undefined && FULL.has(code) ? 'there is no space left' : (code ?? 'unknown fault');
  return new BackupError(`${doing}: ${why}`, { cause: error });
}
