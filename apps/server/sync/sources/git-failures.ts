/** What git's exit codes and messages (in the C locale) mean for a factory, without a word that could hold a secret. contract 9 */
import type { GitOutput } from './git-process.ts';
import { maskUserinfo } from './git-urls.ts';
import { SourceUnavailable } from './source.ts';
import type { SourceFailureReason } from './source.ts';

/** Length of git's own words in a message, in characters: one line of a status page. */
const DETAIL_CHARACTERS_MAX = 300;

/** Messages of git, curl and ssh (quoted parts and addresses taken out) and what they mean; the first row that matches decides. */
const MEANINGS: readonly (readonly [RegExp, SourceFailureReason])[] = [
  [/No space left on device|Disk quota exceeded|Read-only file system|insufficient permission for adding an object/i, 'disk'],
  [/transport '' not allowed|strange (?:hostname|pathname)/, 'refused'],
  [/Host key verification failed|no matching host key/i, 'refused'],
  [/redirection|requested URL returned error: 3\d\d/i, 'refused'],
  [/fsck error|does not allow request for unadvertised|not our ref/i, 'refused'],
  [/could not read (?:Username|Password)|Authentication failed|Access denied|returned error: 40[13]|returned error: 407/i, 'denied'],
  [/Permission denied|Load key|detected dubious ownership/i, 'denied'],
  [/couldn't find remote ref|Remote branch '' not found/i, 'branch-missing'],
  [/Repository not found|repository '' (?:not found|does not exist)|returned error: 4(?:04|10)/i, 'repository-missing'],
  [/does not appear to be a git repository|not valid: is this a git repository/i, 'repository-missing'],
  [/Operation too slow|timed out|timeout/i, 'timeout'],
  [/Could not resolve|Failed to connect|Connection (?:refused|reset|closed)|Network is unreachable|No route to host/i, 'unreachable'],
  [/SSL|TLS|certificate|gnutls|returned error: [45]\d\d|RPC failed|early EOF|hung up|HTTP\/2|curl \d/i, 'unreachable'],
  [/unexpected disconnect|bad (?:line length|band)|expected (?:flush|''|acknowledgments|packfile|wanted-refs)/i, 'unreachable'],
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
  overflow: { reason: 'refused', words: 'git printed more than its output limit and was ended' },
};

/** The failure that an unsuccessful git process stands for. `subject` names what was read; `secrets` are blotted out. */
export function toFailure(output: GitOutput<unknown>, subject: string, secrets: readonly string[]): SourceUnavailable {
  if (output.ended !== 'exit') {
    const { reason, words } = ENDED_BY_US[output.ended];
    return new SourceUnavailable(reason, `${maskUserinfo(subject)}: ${words}`);
  }
  if (output.stderr.includes('spawn git ENOENT')) {
    return new SourceUnavailable('refused', 'git is not installed, or not on the search path');
  }
  const reason = reasonFor(output.stderr);
  const wayOut = WAYS_OUT[reason];
  const detail = tellingLine(output.stderr, secrets);
  return new SourceUnavailable(reason, `${maskUserinfo(subject)}: ${detail}${wayOut === undefined ? '' : ` (${wayOut})`}`);
}

function reasonFor(stderr: string): SourceFailureReason {
  const words = withoutRemoteWords(stderr)
    .join('\n')
    .replaceAll(/'[^'\n]*'/g, "''")
    .replaceAll(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, 'URL');
  return MEANINGS.find(([pattern]) => pattern.test(words))?.[1] ?? 'corrupt';
}

/** The one line of git that says most: the first that is fatal, else an error, else the last. Never a line that the server wrote. */
function tellingLine(stderr: string, secrets: readonly string[]): string {
  const lines = withoutRemoteWords(stderr).filter((line) => line.trim() !== '');
  const line = lines.find((text) => text.startsWith('fatal:')) ?? lines.find((text) => text.startsWith('error:')) ?? lines.at(-1);
  return clean(line ?? 'git failed without a message', secrets).slice(0, DETAIL_CHARACTERS_MAX);
}

/** A server can answer with anything, also with the credentials it was sent: its own lines are never passed on. */
function withoutRemoteWords(stderr: string): string[] {
  return stderr.split(/[\r\n]+/).filter((line) => !line.startsWith('remote:'));
}

function clean(text: string, secrets: readonly string[]): string {
  const masked = secrets.filter((secret) => secret !== '').reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return maskUserinfo(masked)
    .replace(/^(?:fatal|error): /, '')
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '?')
    .trim();
}
