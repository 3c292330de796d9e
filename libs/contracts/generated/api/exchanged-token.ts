/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A key that lasts ten minutes (RFC 8693, section 2.2).
 */
export interface ExchangedToken {
  /**
   * The key: sent like any other, and shown this once.
   */
  access_token: string;
  /**
   * What it is.
   */
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token';
  /**
   * How it is sent: `Authorization: Bearer …`.
   */
  token_type: 'Bearer';
  /**
   * Seconds until it is refused.
   */
  expires_in: number;
  /**
   * Its role.
   */
  scope: 'viewer' | 'operator' | 'manager';
  /**
   * Its identifier, as the audit trail names it.
   */
  api_key_id: string;
  /**
   * The federated credential that it was made by.
   */
  federated_credential_id: string;
  [k: string]: unknown;
}
