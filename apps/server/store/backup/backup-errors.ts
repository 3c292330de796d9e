/** What keeps a backup from being made or restored: one line with the way out, never a value of what is stored. */
export class BackupError extends Error {}

/** What a database holds to recognize its keys; `next`: while the master key rotates. */
export interface DatabaseKeyProofs {
  master: Uint8Array;
  uid: Uint8Array;
  next?: Uint8Array | null;
}

/** The row of `installation`, of whatever version, as that. */
export function toKeyProofs(found: object | undefined): DatabaseKeyProofs | undefined {
  if (found === undefined) return undefined;
  const row = found as Record<'master_key_proof' | 'uid_key_proof', Uint8Array> & {
    next_master_key_proof?: Uint8Array | null;
  };
  return { master: row.master_key_proof, uid: row.uid_key_proof, next: row.next_master_key_proof };
}

/** No space left, or the quota is used up. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL']);

/** A fault of the operating system as what it means here. `doing`: what could not be done, in words. */
export function toBackupError(doing: string, error: unknown): BackupError {
  if (error instanceof BackupError) return error;
  const { code } = error as { code?: string };
  const why = code !== undefined && FULL.has(code) ? 'there is no space left' : (code ?? 'unknown fault');
  return new BackupError(`${doing}: ${why}`, { cause: error });
}
