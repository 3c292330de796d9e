/** The door of `#authentication/federation`: whether a token of another issuer may be exchanged for a key. */
export {
  readSubjectToken,
  replayDigest,
  verifySubjectToken,
  SUBJECT_TOKEN_CHARACTERS_MAX,
  TOKEN_AGE_MS_MAX,
  type SubjectClaims,
  type SubjectToken,
  type TokenRefusal,
} from './federation/subject-tokens.ts';
export {
  discoveryUrlOf,
  documentUrlProblem,
  ISSUER_DOCUMENT_BYTES_MAX,
  issuerProblem,
  keysUrlOf,
  readIssuerKeys,
  type IssuerKeys,
} from './federation/issuers.ts';
export {
  claimProblems,
  matchingCredentials,
  type FederatedRole,
  type FederationRule,
} from './federation/federation-rules.ts';
