/** Which commit of a followed repository somebody means: branch, tag, commit or pull request. contract §12.6. */

/** What a repository is asked for. */
export type WantedRef =
  | { kind: 'commit'; commit: string }
  /** Full names of refs of which one is meant; where several are there, the text was ambiguous. */
  | { kind: 'named'; text: string; names: readonly string[]; isPullRequest: boolean };

export type ParsedRef = { ok: true; ref: WantedRef } | { ok: false; reason: string };

/** Bytes of a ref that is asked for: what file systems take as a name. */
export const REF_BYTES_MAX = 255;

const BRANCHES = 'refs/heads/';
const TAGS = 'refs/tags/';
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
const PULL_REQUEST = /^(?:pull|pulls|pr|merge-requests|mr|pull-requests)\/([1-9][0-9]{0,9})$/;
/** Where forges have the commits of pull requests: GitHub and Gitea, GitLab, Bitbucket. */
const PULL_REQUEST_REF =
  /^refs\/(?:(?:pull|merge-requests)\/[1-9][0-9]{0,9}\/(?:head|merge)|pull-requests\/[1-9][0-9]{0,9}\/from)$/;

const FORMS =
  'a branch or a tag (main, refs/heads/main, refs/tags/v1), a whole commit ID, HEAD, or a pull request (pull/12)';

/** Reads what somebody typed or a program sent; total. What it accepts is no option, no pattern and no path. */
export function parseRef(text: string): ParsedRef {
  if (Buffer.byteLength(text) > REF_BYTES_MAX)
    return { ok: false, reason: `must be ${FORMS}, of at most ${REF_BYTES_MAX} bytes` };
  if (COMMIT.test(text)) return { ok: true, ref: { kind: 'commit', commit: text.toLowerCase() } };
  const names = namesOf(text);
  if (names === undefined) return { ok: false, reason: `must be ${FORMS}` };
  return {
    ok: true,
    ref: { kind: 'named', text, names, isPullRequest: names.every((name) => PULL_REQUEST_REF.test(name)) },
  };
}

/** Whether a name can be a branch: the rules of `git check-ref-format`, without wildcards. */
export function isBranchName(name: string): boolean {
  if (name === '' || Buffer.byteLength(name) > REF_BYTES_MAX || name === '@' || name.startsWith('-')) return false;
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) || name.includes('..') || name.includes('@{')) return false;
  return name
    .split('/')
    .every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.') && !part.endsWith('.lock'));
}

/** The branch that a full name of a ref is, if it is one. */
export function branchOfRef(name: string): string | undefined {
  return name.startsWith(BRANCHES) ? name.slice(BRANCHES.length) : undefined;
}

/** What a commit is called when it is not a sync that reads it: of a branch as a sync of it would. */
export function revisionAtRef(name: string | undefined, commit: string): string {
  const id = `${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`;
  return name === undefined ? id : `${branchOfRef(name) ?? name}@${id}`;
}

/** In the order in which they are looked for. Undefined: no form of a ref. */
function namesOf(text: string): string[] | undefined {
  if (text === 'HEAD') return [text];
  const number = PULL_REQUEST.exec(text)?.[1];
  if (number !== undefined)
    return [`refs/pull/${number}/head`, `refs/merge-requests/${number}/head`, `refs/pull-requests/${number}/from`];
  if (!isBranchName(text)) return undefined;
  if (!text.startsWith('refs/')) return [BRANCHES + text, TAGS + text];
  const isKnown =
    [BRANCHES, TAGS].some((folder) => text.length > folder.length && text.startsWith(folder)) ||
    PULL_REQUEST_REF.test(text);
  return isKnown ? [text] : undefined;
}
