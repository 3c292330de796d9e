/** Reads the argument of `--factory`: a directory, or a repository with an optional branch and folder. contract §11 */
import { resolve } from 'node:path';
import { isBranchName } from '#reconcile';
import { checkGitUrl, normalizeSubfolder } from './git/git-urls.ts';

/** Where a factory's files come from, as an operator or an administrator says it. contract §4.1 (source) */
export type SourceSpec =
  | {
      kind: 'git';
      url: string;
      branch?: string;
      path?: string;
      /** Seconds between two readings. */
      interval?: number;
      /** Name of a secret granted for git. */
      credentialSecret?: string;
    }
  | { kind: 'directory'; path: string };

/** The argument cannot be followed; the message says why and what is expected, and repeats no address. */
export class FactoryArgumentError extends Error {
  constructor(problem: string) {
    super(`--factory: ${problem}; expected DIR or URL[#branch[:path]]`);
    this.name = 'FactoryArgumentError';
  }
}

/** The source that the argument says; a directory is found from the working folder. Throws `FactoryArgumentError`. */
export function sourceOfArgument(text: string, cwd: string): SourceSpec {
  const spec = parseFactoryArgument(text);
  return spec.kind === 'directory' ? { kind: 'directory', path: resolve(cwd, spec.path) } : spec;
}

/**
 * `DIR | URL[#branch[:path]]`; local repositories (file:///…) are allowed: the operator types. Throws
 * `FactoryArgumentError`.
 */
export function parseFactoryArgument(text: string): SourceSpec {
  if (text.trim() === '') throw new FactoryArgumentError('the value is empty');
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new FactoryArgumentError('the value holds a control character');
  if (text.startsWith('-')) throw new FactoryArgumentError('the value must not start with "-"');
  return isRepository(text) ? parseRepository(text) : parseDirectory(text);
}

function isRepository(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text) || /^[^/\s]+@[^/\s]+:/.test(text);
}

function parseDirectory(text: string): SourceSpec {
  if (!text.includes('#')) return { kind: 'directory', path: text };
  throw new FactoryArgumentError('a directory has no branch; write a local repository as file:///absolute/path#branch');
}

function parseRepository(text: string): SourceSpec {
  const hash = text.indexOf('#');
  const url = hash < 0 ? text : text.slice(0, hash);
  const verdict = checkGitUrl(url, true);
  if (!verdict.ok) throw new FactoryArgumentError(verdict.reason);
  return { kind: 'git', url, ...(hash < 0 ? {} : parseFragment(text.slice(hash + 1))) };
}

/** `branch[:path]`: a branch name holds no colon, so the first one ends it. */
function parseFragment(fragment: string): { branch: string; path?: string } {
  const colon = fragment.indexOf(':');
  const branch = colon < 0 ? fragment : fragment.slice(0, colon);
  if (branch === '') throw new FactoryArgumentError('the branch after "#" is empty');
  if (!isBranchName(branch)) throw new FactoryArgumentError('the branch after "#" is not a valid branch name');
  if (colon < 0) return { branch };
  const path = normalizeSubfolder(fragment.slice(colon + 1));
  if (path === undefined)
    throw new FactoryArgumentError('the path after ":" must be a plain relative path inside the repository');
  if (path === '') throw new FactoryArgumentError('the path after ":" is empty');
  return { branch, path };
}
