/**
 * Reads the public keys that a sync policy names: OpenSSH lines and armoured OpenPGP blocks, and nothing that could
 * smuggle in more. contract §9.
 */
import { decodeBase64 } from '../encodings.ts';
import { armoured } from './openpgp-armour.ts';
import { isPublicKeyring } from './openpgp-packets.ts';
import { blobReader, bitsOf, type BlobReader } from './ssh-blobs.ts';

/**
 * A key of a policy, taken apart: what is written for a verifying program is made of these members and of nothing else.
 */
export type CommitKey =
  | {
      kind: 'ssh';
      /** `ssh-ed25519`, `ssh-rsa`, … */
      type: string;
      /** The public key, in canonical base64. */
      blob: string;
    }
  | {
      kind: 'openpgp';
      /** The packets of the block, in canonical base64. */
      packets: string;
    };

/** Says what is wrong, what is expected, and never what was given: that may be a private key. */
export interface CommitKeyProblem {
  problem: string;
}

/** Shorter RSA keys are refused by current OpenSSH too. */
const RSA_BITS_MIN = 2_048;
/** Longer ones OpenSSH does not read. */
const RSA_BITS_MAX = 16_384;

const EXPECTED = 'expected an OpenSSH public key ("ssh-ed25519 AAAA… comment") or an armoured OpenPGP public key block';
const PRIVATE = 'this is a private key: name the public one, and replace this one, because it has left its owner';

/** What is wrong with a key that a policy shall name; undefined when it can be used. */
export function commitKeyProblem(text: string): string | undefined {
  const read = readCommitKey(text);
  return 'problem' in read ? read.problem : undefined;
}

/** A key of a policy; white space around it is of no account. */
export function readCommitKey(text: string): CommitKey | CommitKeyProblem {
  const trimmed = text.trim();
  if (/PRIVATE KEY/.test(trimmed)) return { problem: PRIVATE };
  if (trimmed.startsWith('-----')) return readArmour(trimmed);
  return readLine(trimmed);
}

/**
 * `type base64 comment`. Options in front of the type would widen or narrow what the key may sign: they are the
 * policy's to say.
 */
function readLine(line: string): CommitKey | CommitKeyProblem {
  if (/[\u0000-\u001f\u007f]/.test(line))
    return { problem: 'a key is one line, without line breaks or control characters: name every key on its own' };
  const [type = '', blob = ''] = line.split(/ +/);
  const isComplete = SSH_KEYS.get(type);
  if (isComplete === undefined)
    return {
      problem:
        `the first word is no type of key that signs commits (${[...SSH_KEYS.keys()].join(', ')}); options and ` +
        `certificates are not taken; ${EXPECTED}`,
    };
  const bytes = decodeBase64(blob);
  const reader = bytes && blobReader(bytes);
  if (reader === undefined || reader.text() !== type)
    return { problem: `after ${type} no key of that type follows in base64: copy the whole line of the .pub file` };
  const problem = isComplete(reader);
  if (problem !== undefined) return { problem: `this ${type} key ${problem}` };
  return { kind: 'ssh', type, blob };
}

/** Reads what stands behind the type in a key's blob, and says what is wrong with it. */
type SshKeyCheck = (blob: BlobReader) => string | undefined;

const BROKEN = 'is incomplete or has something behind its end: copy the whole line of the .pub file';

const SSH_KEYS: ReadonlyMap<string, SshKeyCheck> = new Map<string, SshKeyCheck>([
  ['ssh-ed25519', (blob) => (blob.bytes()?.length === 32 && blob.atEnd() ? undefined : BROKEN)],
  ['ssh-rsa', rsaProblem],
  ['ecdsa-sha2-nistp256', curveCheck('nistp256', 65)],
  ['ecdsa-sha2-nistp384', curveCheck('nistp384', 97)],
  ['ecdsa-sha2-nistp521', curveCheck('nistp521', 133)],
  [
    'sk-ssh-ed25519@openssh.com',
    (blob) => (blob.bytes()?.length === 32 && endsWithApplication(blob) ? undefined : BROKEN),
  ],
  [
    'sk-ecdsa-sha2-nistp256@openssh.com',
    (blob) => (isPoint(blob, 'nistp256', 65) && endsWithApplication(blob) ? undefined : BROKEN),
  ],
]);

function rsaProblem(blob: BlobReader): string | undefined {
  const exponent = blob.bytes();
  const modulus = blob.bytes();
  if (exponent === undefined || modulus === undefined || exponent.length === 0 || !blob.atEnd()) return BROKEN;
  const bits = bitsOf(modulus);
  return bits < RSA_BITS_MIN || bits > RSA_BITS_MAX
    ? `has ${bits} bits: use one of ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits, or an ssh-ed25519 key`
    : undefined;
}

function curveCheck(curve: string, pointBytes: number): SshKeyCheck {
  return (blob) => (isPoint(blob, curve, pointBytes) && blob.atEnd() ? undefined : BROKEN);
}

/** An uncompressed point of a named curve. */
function isPoint(blob: BlobReader, curve: string, pointBytes: number): boolean {
  if (blob.text() !== curve) return false;
  const point = blob.bytes();
  return point?.length === pointBytes && point[0] === 4;
}

function endsWithApplication(blob: BlobReader): boolean {
  return (blob.bytes()?.length ?? 0) > 0 && blob.atEnd();
}

function readArmour(text: string): CommitKey | CommitKeyProblem {
  if (/^-----BEGIN (?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY|SSH2 PUBLIC KEY)/.test(text))
    return { problem: `certificates and PEM keys sign no commits here; ${EXPECTED}` };
  if ((text.match(/-----BEGIN /g)?.length ?? 0) > 1)
    return { problem: 'this holds more than one block: name every key on its own' };
  const packets = armoured(text, 'PUBLIC KEY BLOCK');
  const bytes = packets === undefined ? undefined : decodeBase64(packets);
  if (packets === undefined || bytes === undefined)
    return { problem: `this is no complete OpenPGP public key block; ${EXPECTED} (gpg --armor --export)` };
  const holds = isPublicKeyring(bytes);
  if (holds === 'private') return { problem: PRIVATE };
  return holds === 'public'
    ? { kind: 'openpgp', packets }
    : { problem: 'this block holds no OpenPGP public key, or breaks off: export it again (gpg --armor --export)' };
}
