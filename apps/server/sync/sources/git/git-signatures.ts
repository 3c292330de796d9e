/**
 * The signature that a commit object carries, and what `git verify-commit --raw` printed of it, read as a verdict: only
 * one clear yes is a yes. Pure.
 */
import { createHash } from 'node:crypto';
import { SIGNATURE_PACKET, armoured, blobReader, decodeBase64, packetTags } from '#authentication';
import { SourceUnavailableError } from '../source.ts';
import { formatOf } from './git-objects.ts';
import type { GitOutput } from './git-process.ts';

export type CommitSignature =
  | { kind: 'none' | 'several' | 'x509' | 'unknown' | 'unreadable' | 'openpgp' }
  | {
      kind: 'ssh';
      signer: SshSigner;
    };

/** Who says that he made an SSH signature; only a verification shows that it is true. */
export interface SshSigner {
  /** The public key, in base64. */
  blob: string;
  /** `SHA256:…`, as ssh-keygen writes it. */
  fingerprint: string;
  /** What the signature was made for; `git` for commits. */
  namespace: string;
}

/** Header of a commit's signature, by the hash of its repository. */
const SIGNATURE_HEADERS = { sha1: 'gpgsig', sha256: 'gpgsig-sha256' } as const;
/** What git leaves out of the text that is signed: every header that begins so. */
const UNSIGNED_HEADERS = 'gpgsig';

const KINDS: readonly (readonly [string, 'openpgp' | 'x509' | 'ssh'])[] = [
  ['-----BEGIN PGP SIGNATURE-----\n', 'openpgp'],
  ['-----BEGIN SIGNED MESSAGE-----\n', 'x509'],
  ['-----BEGIN SSH SIGNATURE-----\n', 'ssh'],
];

/**
 * Of two signatures a tool may look at either, and what a second such header says nobody signed: such a commit counts
 * as signed by nobody.
 */
export function signatureOf(commit: string, object: Buffer): CommitSignature {
  const headers = headersOf(object);
  const signatures = headers.filter(({ name }) => name.startsWith(UNSIGNED_HEADERS));
  const [signature] = signatures;
  if (signatures.length > 1) return { kind: 'several' };
  if (signature === undefined || signature.name !== SIGNATURE_HEADERS[formatOf(commit)]) return { kind: 'none' };
  if (signature.value.split('-----BEGIN ').length > 2) return { kind: 'several' };
  const kind = KINDS.find(([begin]) => signature.value.startsWith(begin))?.[1] ?? 'unknown';
  if (kind === 'openpgp') return { kind: openPgpKind(signature.value) };
  if (kind !== 'ssh') return { kind };
  const signer = signerOf(signature.value);
  return signer === undefined ? { kind: 'unreadable' } : { kind, signer };
}

/** One packet, a signature: a whole signed message in its place would be looked at for itself. */
function openPgpKind(text: string): 'openpgp' | 'several' | 'unreadable' {
  const bytes = decodeBase64(armoured(text, 'SIGNATURE') ?? '');
  const tags = bytes && packetTags(bytes);
  if (tags === undefined || tags.length === 0 || tags.some((tag) => tag !== SIGNATURE_PACKET)) return 'unreadable';
  return tags.length > 1 ? 'several' : 'openpgp';
}

interface Header {
  name: string;
  value: string;
}

/** `<name> SP <value>` until the first empty line; a line that begins with a space goes on with the value above it. */
function headersOf(object: Buffer): Header[] {
  const end = object.indexOf('\n\n');
  const headers: Header[] = [];
  for (const line of object
    .subarray(0, end < 0 ? object.length : end)
    .toString('latin1')
    .split('\n')) {
    const last = headers.at(-1);
    if (line.startsWith(' ') && last !== undefined) last.value += `\n${line.slice(1)}`;
    else headers.push({ name: line.split(' ', 1)[0] as string, value: line.slice(line.indexOf(' ') + 1) });
  }
  return headers;
}

/** First bytes of an SSH signature. OpenSSH, PROTOCOL.sshsig */
const SSH_MAGIC = 'SSHSIG';

function signerOf(armoured: string): SshSigner | undefined {
  const base64 = armoured
    .split('\n')
    .filter((line) => !line.startsWith('-----'))
    .join('');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.subarray(0, SSH_MAGIC.length).toString('latin1') !== SSH_MAGIC) return undefined;
  const reader = blobReader(bytes, SSH_MAGIC.length);
  const version = reader.uint32();
  const key = reader.bytes();
  const namespace = reader.text();
  if (version !== 1 || key === undefined || namespace === undefined) return undefined;
  return { blob: Buffer.from(key).toString('base64'), fingerprint: sshFingerprint(key), namespace };
}

function sshFingerprint(key: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

export type SignatureVerdict = 'verified' | { found: string };

/** Name that every key of a policy has towards ssh-keygen: it comes back with a signature that one of them made. */
export const ALLOWED_SIGNER = 'policy';

/** The words of ssh-keygen on its own file of allowed signers. `fingerprint` is that of a key in it. */
export function judgeSsh(output: GitOutput<unknown>, fingerprint: string): SignatureVerdict {
  demandEnd(output, 'ssh-keygen');
  const lines = output.stderr.split('\n');
  if (
    output.exitCode === 0 &&
    lines.some(
      (line) => line.startsWith(`Good "git" signature for ${ALLOWED_SIGNER} with `) && line.endsWith(` ${fingerprint}`),
    )
  )
    return 'verified';
  if (lines.includes('Could not verify signature.'))
    return {
      found:
        `carries a signature of the SSH key ${fingerprint} that does not fit its contents: it was changed after ` +
        'it was signed, or signed by somebody else',
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
      found:
        `carries a signature of the OpenPGP key ${hexOf(named('BADSIG')[0]?.words[0])} that does not fit its ` +
        'contents: it was changed after it was signed',
    };
  if (named('REVKEYSIG').length > 0) return { found: `is signed by ${key}, which was revoked` };
  if (named('EXPKEYSIG').length > 0)
    return {
      found:
        `is signed by ${key}, which has expired; if its owner has prolonged it, export it into the sync policy ` +
        'again',
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
