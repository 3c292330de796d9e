/** Knows which packets an OpenPGP public key is made of, and tells one from a private key. RFC 9580, 4 and 10.1. */

/** Packet tags. RFC 9580, 5 */
const PUBLIC_KEY = 6;
const PRIVATE = [5, 7];
/** Signature, trust, user ID, public subkey, user attribute, padding. */
const COMPANIONS = [2, 12, 13, 14, 17, 21];

/** The first version that is still taken: keys of version 3 have an MD5 fingerprint. */
const VERSION_MIN = 4;

/** What a sequence of packets holds: whole public keys, something private, or anything else. */
export function isPublicKeyring(bytes: Uint8Array): 'public' | 'private' | 'other' {
  let at = 0;
  let isOther = false;
  while (at < bytes.length) {
    const packet = packetAt(bytes, at);
    if (packet === undefined) return 'other';
    if (PRIVATE.includes(packet.tag)) return 'private';
    isOther ||=
      packet.tag === PUBLIC_KEY
        ? (bytes[packet.from] ?? 0) < VERSION_MIN
        : at === 0 || !COMPANIONS.includes(packet.tag);
    at = packet.end;
  }
  return isOther || bytes.length === 0 ? 'other' : 'public';
}

/** Tag of a signature. */
export const SIGNATURE_PACKET = 2;

/** The tags of packets in their order; undefined where one breaks off. */
export function packetTags(bytes: Uint8Array): number[] | undefined {
  const tags: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const packet = packetAt(bytes, at);
    if (packet === undefined) return undefined;
    tags.push(packet.tag);
    at = packet.end;
  }
  return tags;
}

interface Packet {
  tag: number;
  /** Where its body begins and ends. */
  from: number;
  end: number;
}

/** The packet that begins there, if all of it is there. Lengths that are not said beforehand occur in no key. */
function packetAt(bytes: Uint8Array, at: number): Packet | undefined {
  const head = bytes[at] as number;
  if (head < 0x80) return undefined;
  const isNew = (head & 0x40) !== 0;
  const length = isNew ? newLength(bytes, at + 1) : oldLength(bytes, at + 1, head & 3);
  if (length === undefined) return undefined;
  const end = length.from + length.bytes;
  return end > bytes.length ? undefined : { tag: isNew ? head & 0x3f : (head >> 2) & 0xf, from: length.from, end };
}

interface BodyLength {
  from: number;
  bytes: number;
}

function newLength(bytes: Uint8Array, at: number): BodyLength | undefined {
  const [first, second] = bytes.subarray(at, at + 2);
  if (first === undefined) return undefined;
  if (first < 192) return { from: at + 1, bytes: first };
  if (first < 224)
    return second === undefined ? undefined : { from: at + 2, bytes: ((first - 192) << 8) + second + 192 };
  return first === 255 ? wholeNumber(bytes, at + 1, 4) : undefined;
}

function oldLength(bytes: Uint8Array, at: number, form: number): BodyLength | undefined {
  return form === 3 ? undefined : wholeNumber(bytes, at, 2 ** form);
}

function wholeNumber(bytes: Uint8Array, at: number, octets: number): BodyLength | undefined {
  if (at + octets > bytes.length) return undefined;
  return { from: at + octets, bytes: bytes.subarray(at, at + octets).reduce((sum, byte) => sum * 256 + byte, 0) };
}
