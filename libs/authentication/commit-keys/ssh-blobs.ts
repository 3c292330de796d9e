/** Reads the length-prefixed fields that SSH keys and signatures are made of. RFC 4251, 5. */

/** Takes one field after the other; undefined from the first one on that breaks off. */
export interface BlobReader {
  bytes(): Uint8Array | undefined;
  text(): string | undefined;
  uint32(): number | undefined;
  atEnd(): boolean;
}

export function blobReader(blob: Uint8Array, start = 0): BlobReader {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  let at = start;
  const uint32 = (): number | undefined => {
    if (at + 4 > blob.length) return undefined;
    at += 4;
    return view.getUint32(at - 4);
  };
  const bytes = (): Uint8Array | undefined => {
    const length = uint32();
    if (length === undefined || at + length > blob.length) return undefined;
    at += length;
    return blob.subarray(at - length, at);
  };
  return {
    uint32,
    bytes,
    text() {
      const field = bytes();
      return field && Buffer.from(field).toString('latin1');
    },
    atEnd: () => at === blob.length,
  };
}

/** Bits of a whole number in the form of RFC 4251 (mpint); 0 of one that is not positive. */
export function bitsOf(number: Uint8Array): number {
  if ((number[0] ?? 0x80) >= 0x80) return 0;
  const first = number.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (number.length - first - 1) * 8 + (32 - Math.clz32(number[first] as number));
}
