/** What a master key is called beside the values that it wraps. contract §2.3 (Encryption at rest). */

/** Of a proof: enough that two keys of one installation never share a name. */
const NAME_BYTES = 8;

/** By the key's proof; says nothing about the key. */
export function masterKeyNameOf(proof: Uint8Array): string {
  return Buffer.from(proof.subarray(0, NAME_BYTES)).toString('hex');
}
