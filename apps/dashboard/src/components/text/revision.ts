/** Revisions as the page names them: short, and where to read about them. */

/** `main@1a2b3c4d5e6f` of `main@sha1:1a2b…`, and the same of a bare commit; other texts as they are. */
export function shortRevision(revision: string): string {
  if (/^[0-9a-f]{40,64}$/.test(revision)) return revision.slice(0, 12);
  const [, branch = '', kind, digits = ''] = /^(.*@)?(sha1|sha256):([0-9a-f]{12})[0-9a-f]+$/s.exec(revision) ?? [];
  if (kind === undefined) return revision;
  return branch === '' ? `${kind}:${digits}` : `${branch}${digits}`;
}

/**
 * The page of a revision; undefined for one of the page itself (`dashboard@3`), which no source has and no pass has
 * judged.
 */
export function revisionPath(factoryUid: string, revision: string): string | undefined {
  return /^dashboard@\d+$/.test(revision)
    ? undefined
    : `/factories/${factoryUid}/sync/revisions/${encodeURIComponent(revision)}`;
}
