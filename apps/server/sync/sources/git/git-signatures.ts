/** The signature that a commit object carries, read without judging it: whether there is one, and of what kind. Pure. */
import { createHash } from 'node:crypto';
import { SIGNATURE_PACKET, armoured, blobReader, decodeBase64, packetTags } from '#authentication';
import { formatOf } from './git-objects.ts';

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

/** Of two signatures a tool may look at either, and what a second such header says nobody signed: such a commit counts as signed by nobody. */
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
