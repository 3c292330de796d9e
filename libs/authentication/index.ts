/**
 * The door of `#authentication`: does this request prove knowledge of the secret, and if not, why; and which public
 * keys may vouch for commits.
 */
export * from './types.ts';
export {
  deliveryHeadersOf,
  schemeHeaders,
  signatureHeadersOf,
  SIGNATURE_SCHEMES,
  UNSHIPPED_SCHEMES,
  UNSHIPPED_SCHEME_HEADERS,
} from './schemes.ts';
export { hashOfKey, hintOfKey, KEY_BYTES, keyFromRandom } from './api-keys.ts';
export { headersFromRaw } from './headers.ts';
export { digestSecret, verifyBearer, verifyUrlToken } from './tokens.ts';
export { prepareSigningKey, type SigningKey } from './signing-keys.ts';
export { SIGNATURE_CANDIDATES_MAX, verifySignature, type SignedRequest } from './signatures.ts';
export { likelyMistake } from './likely-mistakes.ts';
export { commitKeyProblem, readCommitKey, type CommitKey } from './commit-keys/commit-keys.ts';
export { decodeBase64 } from './encodings.ts';
export { armoured } from './commit-keys/openpgp-armour.ts';
export { packetTags, SIGNATURE_PACKET } from './commit-keys/openpgp-packets.ts';
export { blobReader } from './commit-keys/ssh-blobs.ts';
export { isPushSecret, mayProvePush, verifyPushNotice } from './push-notices.ts';
export { sign, type MessageToSign } from './signing.ts';
export {
  isUsable,
  secretFromRandom,
  secretRequirement,
  secretUsability,
  secretUse,
  unusableReason,
} from './secret-values.ts';
