/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A provider’s way to sign requests, as a webhook may name it.
 */
export interface SignatureScheme {
  /**
   * What `signature_scheme` of a webhook names.
   */
  id: string;
  /**
   * Headers that carry the signature, in lower case, in the order they are tried.
   */
  signature_headers: string[];
  /**
   * Headers in which the provider sends its delivery ID, in lower case; empty for providers that send none.
   */
  delivery_headers: string[];
  /**
   * How far the signed time may be from the server’s clock, in seconds; null for schemes that sign no time.
   */
  timestamp_tolerance_seconds: number | null;
  /**
   * Where the signing secret comes from. `provider`: from the provider, to be supplied. `either`: generated here, or supplied.
   */
  secret_origin: 'provider' | 'either';
  /**
   * What a signing secret must look like.
   */
  secret_requirement: string;
  /**
   * Where the provider describes the scheme.
   */
  documentation: string;
  [k: string]: unknown;
}
