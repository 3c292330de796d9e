/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * Exchanges a token of a build server for a key (RFC 8693, as JSON).
 */
export interface TokenExchange {
  /**
   * Says that this is an exchange.
   */
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange';
  /**
   * The token: a signed JWT in its compact form.
   */
  subject_token: string;
  /**
   * What it is: an ID token, or another JWT.
   */
  subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' | 'urn:ietf:params:oauth:token-type:jwt';
  /**
   * The federated credential that is meant, where several fit the token.
   */
  federated_credential_id?: string;
  [k: string]: unknown;
}
