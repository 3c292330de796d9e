/**
 * What git's exit codes and messages (in the C locale) mean for a factory, without a word that could hold a secret.
 * contract §9
 */
import { FETCH_BYTES_MAX, PROCESS_MEMORY_BYTES_MAX, type GitOutput } from './git-process.ts';
import { maskUserinfo } from './git-urls.ts';
import { SourceUnavailableError, type SourceFailureReason } from '../source.ts';

/** Length of git's own words in a message, in characters: one line of a status page. */
const DETAIL_CHARACTERS_MAX = 300;

interface Meaning {
  reason: SourceFailureReason;
  /** What to say instead of git's own words, where those do not tell people what to do. */
  words?: string;
}

type Meanings = readonly (readonly [RegExp, SourceFailureReason, string?])[];

const KNOWN_HOSTS = 'the file that MILLWRIGHT_GIT_KNOWN_HOSTS_FILE names';

/** What git says when it comes to the bounds of one process (git-process.ts). */
const BOUNDS: Meanings = [
  [
    /died of signal 25|File too large/,
    'refused',
    `the repository sends more than ${bytes(FETCH_BYTES_MAX)} at once, which is not read; take large files out ` +
      'of its history, or follow a repository of its own for the definitions',
  ],
  [
    /Out of memory|Cannot allocate memory|mmap failed/,
    'refused',
    `the repository holds something that git cannot read within ${bytes(PROCESS_MEMORY_BYTES_MAX)} of memory; ` +
      'take it out of its history, or follow a repository of its own for the definitions',
  ],
];

/**
 * Messages of git, curl and ssh (quoted parts and addresses taken out) and what they mean; the first row that matches
 * decides.
 */
const MEANINGS: Meanings = [
  [
    /No space left on device|Disk quota exceeded|Read-only file system|insufficient permission for adding an object/i,
    'disk',
  ],
  ...BOUNDS,
  [
    /exceeded maximum allowed tree depth|died of signal 11/,
    'refused',
    "the repository's folders are nested too deep for git",
  ],
  [/cannot run ssh|ssh: not found/, 'refused', 'ssh is not installed, or not on the search path'],
  [/transport '' not allowed|strange (?:hostname|pathname)/, 'refused'],
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    'refused',
    `the host shows another key than ${KNOWN_HOSTS} holds for it, so nothing was sent; if its operator did ` +
      'change the key, replace its line there, else somebody stands in between',
  ],
  [
    /no matching (?:host key|key exchange|cipher|MAC)/i,
    'refused',
    'the host offers no ssh algorithm that is safe enough; update the host',
  ],
  [
    /Host key verification failed/,
    'refused',
    `the host's key is not in ${KNOWN_HOSTS}, so nothing was sent; add the line that its operator publishes ` +
      '(ssh-keyscan prints one: compare its fingerprint)',
  ],
  [/redirection|requested URL returned error: 3\d\d/i, 'refused'],
  [/fsck error|does not allow request for unadvertised|not our ref/i, 'refused'],
  [/could not read (?:Username|Password)|Authentication failed|Access denied|returned error: 40[137]/i, 'denied'],
  [
    /Permission denied \(|Load key|Too many authentication failures/,
    'denied',
    "the host does not accept the credential's key; add its public key there, with leave to read this " +
      'repository, or correct the secret (credential_secret)',
  ],
  [/Permission denied|detected dubious ownership/i, 'denied'],
  [/couldn't find remote ref|Remote branch '' not found/i, 'branch-missing'],
  [/Repository not found|repository '' (?:not found|does not exist)|returned error: 4(?:04|10)/i, 'repository-missing'],
  [/does not appear to be a git repository|not valid: is this a git repository/i, 'repository-missing'],
  [
    /requested URL returned error: 429/,
    'unreachable',
    'the host says that it is asked too often (429); it is asked less often from now on',
  ],
  [/Operation too slow|timed out|timeout/i, 'timeout'],
  [
    /Could not resolve|Failed to connect|Connection (?:refused|reset|closed)|Network is unreachable|No route to host/i,
    'unreachable',
  ],
  [/SSL|TLS|certificate|gnutls|returned error: [45]\d\d|RPC failed|early EOF|hung up|HTTP\/2|curl \d/i, 'unreachable'],
  [
    /unexpected disconnect|bad (?:line length|band)|expected (?:flush|''|acknowledgments|packfile|wanted-refs)/i,
    'unreachable',
  ],
  [/Could not read from remote repository|unable to access|remote error:|remote did not send/i, 'unreachable'],
];

/** What a person can do about it, where git's own words do not say. */
const WAYS_OUT: Partial<Record<SourceFailureReason, string>> = {
  denied: 'check the credential and what it may read',
  disk: 'free space in the data folder or correct its permissions',
};

const ENDED_BY_US: Record<'timeout' | 'aborted' | 'overflow', { reason: SourceFailureReason; words: string }> = {
  timeout: { reason: 'timeout', words: 'git took longer than its time limit and was ended' },
  aborted: { reason: 'timeout', words: 'the reading was called off' },
  overflow: {
    reason: 'refused',
    words:
      'the answer is longer than what is read, and git was ended; is this tree that large? Name a smaller ' +
      'folder as the path of the factory',
  },
};

/**
 * The failure that an unsuccessful git process stands for. `subject` names what was read; `secrets` are blotted out.
 */
export function toFailure(
  output: GitOutput<unknown>,
  subject: string,
  secrets: readonly string[],
): SourceUnavailableError {
  const { reason, words } = meaningOf(output, secrets);
  const unavailable = new SourceUnavailableError(reason, `${maskUserinfo(subject)}: ${words}`);
  if (isOfHost(output, reason)) unavailable.failure.ofHost = true;
  return unavailable;
}

function meaningOf(output: GitOutput<unknown>, secrets: readonly string[]): Required<Meaning> {
  if (output.ended !== 'exit') return ENDED_BY_US[output.ended];
  if (/spawn \/bin\/sh ENOENT|exec: git: not found/.test(output.stderr))
    return { reason: 'refused', words: 'git is not installed, or not on the search path' };
  const { reason, words } = meaningFor(output.stderr);
  const wayOut = WAYS_OUT[reason];
  return {
    reason,
    words: words ?? `${relevantLine(output.stderr, secrets)}${wayOut === undefined ? '' : ` (${wayOut})`}`,
  };
}

/**
 * A host that does not answer the first question answers no other factory either; what fails later can be the
 * repository's own fault.
 */
function isOfHost({ firstContact, ended }: GitOutput<unknown>, reason: SourceFailureReason): boolean {
  return firstContact === true && ended !== 'aborted' && (reason === 'unreachable' || reason === 'timeout');
}

/** Whether a process was ended by what it may write or hold in memory. */
export function exceedsBounds({ stderr }: GitOutput<unknown>): boolean {
  return BOUNDS.some(([pattern]) => pattern.test(withoutRemoteWords(stderr).join('\n')));
}

/** Whether a fetch ended because the server has no such ref or object, or gives none out by its name. */
export function isUnknownObject({ ended, exitCode, stderr }: GitOutput<unknown>): boolean {
  return ended === 'exit' && exitCode !== 0 && UNKNOWN_OBJECT.test(withoutRemoteWords(stderr).join('\n'));
}

const UNKNOWN_OBJECT = /couldn't find remote ref|unadvertised object|\bnot our ref\b|bad object|mismatched algorithms/i;

function meaningFor(stderr: string): Meaning {
  const said = withoutRemoteWords(stderr)
    .join('\n')
    .replaceAll(/'[^'\n]*'/g, "''")
    .replaceAll(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, 'URL');
  const [, reason, words] = MEANINGS.find(([pattern]) => pattern.test(said)) ?? [undefined, 'corrupt' as const];
  return { reason, words };
}

/**
 * How a line begins that says most, best first: of what is wrong with an object, why ssh failed, git's own end, an
 * error.
 */
const RELEVANT_LINES = [/^error: object [0-9a-f]{40,64}: /, /^ssh: /, /^fatal:/, /^error:/];

/** The one line of git that says most, else the last. Never a line that the server wrote. */
function relevantLine(stderr: string, secrets: readonly string[]): string {
  const lines = withoutRemoteWords(stderr).filter((line) => line.trim() !== '');
  const line = RELEVANT_LINES.map((pattern) => lines.find((text) => pattern.test(text))).find(
    (found) => found !== undefined,
  );
  return clean(line ?? lines.at(-1) ?? 'git failed without a message', secrets).slice(0, DETAIL_CHARACTERS_MAX);
}

/** A server can answer with anything, also with the credentials it was sent: its own lines are never passed on. */
function withoutRemoteWords(stderr: string): string[] {
  return stderr.split(/[\r\n]+/).filter((line) => !line.startsWith('remote:'));
}

function clean(text: string, secrets: readonly string[]): string {
  const masked = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return maskUserinfo(masked)
    .replace(/^(?:fatal|error): /, '')
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '?')
    .trim();
}

function bytes(count: number): string {
  return `${count / (1024 * 1024)} MiB`;
}
