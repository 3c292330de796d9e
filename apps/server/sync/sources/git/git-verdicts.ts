/** What `git verify-commit --raw` printed, read as a verdict. Only one clear yes is a yes; what is no answer at all is a failure of the machine. Pure. */
import type { GitOutput } from './git-process.ts';
import { SourceUnavailableError } from '../source.ts';

export type SignatureVerdict = 'verified' | { found: string };

/** Name that every key of a policy has towards ssh-keygen: it comes back with a signature that one of them made. */
export const PRINCIPAL = 'policy';

/** The words of ssh-keygen on its own file of allowed signers. `fingerprint` is that of a key in it. */
export function judgeSsh(output: GitOutput<unknown>, fingerprint: string): SignatureVerdict {
  demandEnd(output, 'ssh-keygen');
  const lines = output.stderr.split('\n');
  if (
    output.exitCode === 0 &&
    lines.some(
      (line) => line.startsWith(`Good "git" signature for ${PRINCIPAL} with `) && line.endsWith(` ${fingerprint}`),
    )
  )
    return 'verified';
  if (lines.includes('Could not verify signature.'))
    return {
      found: `carries a signature of the SSH key ${fingerprint} that does not fit its contents: it was changed after it was signed, or signed by somebody else`,
    };
  throw couldNot('ssh-keygen', 'git 2.34 or newer and OpenSSH 8.8 or newer are needed');
}

/** The words of gpg. `known`: fingerprints of the policy's keys. GnuPG, doc/DETAILS */
export function judgeOpenPgp(output: GitOutput<unknown>, known: ReadonlySet<string>): SignatureVerdict {
  demandEnd(output, 'gpg');
  const statuses = statusesOf(output.stderr);
  const named = (name: string): Status[] => statuses.filter((status) => status.name === name);
  const signer = primaryOf(named('VALIDSIG'));
  const key = signer === undefined ? 'an OpenPGP key' : `the OpenPGP key ${signer}`;
  if (named('NEWSIG').length > 1) return { found: 'carries more than one signature; none of them is relied on' };
  if (named('BADSIG').length > 0)
    return {
      found: `carries a signature of the OpenPGP key ${hexOf(named('BADSIG')[0]?.words[0])} that does not fit its contents: it was changed after it was signed`,
    };
  if (named('REVKEYSIG').length > 0) return { found: `is signed by ${key}, which was revoked` };
  if (named('EXPKEYSIG').length > 0)
    return {
      found: `is signed by ${key}, which has expired; if its owner has prolonged it, export it into the sync policy again`,
    };
  if (named('EXPSIG').length > 0) return { found: `is signed by ${key}, and that signature has expired` };
  if (named('ERRSIG').length > 0) return { found: unchecked(named('ERRSIG')[0]?.words ?? []) };
  if (output.exitCode === 0 && named('GOODSIG').length === 1 && signer !== undefined)
    return known.has(signer)
      ? 'verified'
      : { found: `is signed by ${key}, which is not among the keys of the sync policy` };
  if (named('NODATA').length > 0 || named('UNEXPECTED').length > 0)
    return { found: 'carries an OpenPGP signature that cannot be read' };
  throw couldNot('gpg', 'look whether it works on this machine (gpg --version)');
}

interface Status {
  name: string;
  words: string[];
}

function statusesOf(text: string): Status[] {
  return [...text.matchAll(/^\[GNUPG:\] ([A-Z_]+)(.*)$/gm)].map(([, name = '', rest = '']) => ({
    name,
    words: rest.trim().split(' '),
  }));
}

/** Fingerprint of the primary key, of exactly one signature. */
function primaryOf(valid: readonly Status[]): string | undefined {
  const [only] = valid;
  const fingerprint = only?.words[9];
  return valid.length === 1 && fingerprint !== undefined && /^[0-9A-F]{40,64}$/.test(fingerprint)
    ? fingerprint
    : undefined;
}

/** `<key> <key algorithm> <hash algorithm> <class> <time> <reason> <fingerprint>` */
function unchecked([key, , , , , reason, fingerprint]: readonly string[]): string {
  const name = `the OpenPGP key ${hexOf(fingerprint) === UNNAMED ? hexOf(key) : hexOf(fingerprint)}`;
  if (reason === '9') return `is signed by ${name}, which is not among the keys of the sync policy`;
  return reason === '4'
    ? `is signed by ${name} with an algorithm that gpg does not know on this machine`
    : `carries a signature of ${name} that cannot be checked`;
}

const UNNAMED = 'without a name';

/** Fingerprints and key IDs come out of a stranger's commit. */
function hexOf(word: string | undefined): string {
  return word !== undefined && /^[0-9A-F]{16,64}$/.test(word) ? word : UNNAMED;
}

function demandEnd({ ended }: GitOutput<unknown>, program: string): void {
  if (ended !== 'exit')
    throw new SourceUnavailableError(
      'timeout',
      `${program} took longer than its time limit, or was called off, so no signature was checked`,
    );
}

function couldNot(program: string, wayOut: string): SourceUnavailableError {
  return new SourceUnavailableError(
    'refused',
    `${program} could not check the signature of the commit on this machine; ${wayOut}`,
  );
}
