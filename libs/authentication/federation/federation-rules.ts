/** Which tokens a federated credential is for. contract §2.4 (Claims). */
import { ownMember } from './json-members.ts';
import type { SubjectClaims } from './subject-tokens.ts';

/** What a key of a token may do at most: an admin's could make a key that lasts. */
export type FederatedRole = 'viewer' | 'operator' | 'manager';

/** What a token has to be: of the issuer, for the audience, and with one of the values for each claim. */
export interface FederationRule {
  issuer: string;
  audience: string;
  claims: Readonly<Record<string, readonly string[]>>;
}

/** Claims with a place of their own, or with a meaning in time. */
const RESERVED: readonly string[] = ['iss', 'aud', 'exp', 'nbf', 'iat', 'jti'];
const NAME = /^[A-Za-z_][A-Za-z0-9_.:/-]{0,99}$/;

/** Issuers that sign for everybody, with the claims that say for whom: one of them has to be required. */
const SHARED_ISSUERS: readonly { issuer: string; claims: readonly string[] }[] = [
  {
    issuer: 'https://token.actions.githubusercontent.com',
    claims: ['sub', 'repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'enterprise_id'],
  },
  {
    issuer: 'https://gitlab.com',
    claims: ['sub', 'project_id', 'project_path', 'namespace_id', 'namespace_path'],
  },
];

/** What is wrong with required claims, each by the claim's name ('' for all of them). */
export function claimProblems(
  issuer: string | undefined,
  claims: Readonly<Record<string, unknown>>,
): { claim: string; message: string }[] {
  const names = Object.keys(claims);
  const problems = names.flatMap((claim) => {
    if (RESERVED.includes(claim)) return [{ claim, message: 'is compared by itself; leave it out' }];
    return NAME.test(claim) ? [] : [{ claim, message: 'is not the name of a claim' }];
  });
  const shared = SHARED_ISSUERS.find((known) => known.issuer === issuer);
  if (shared === undefined || names.some((name) => shared.claims.includes(name))) return problems;
  const message = `must name one of ${shared.claims.join(', ')}: this issuer signs tokens for everybody`;
  return [...problems, { claim: '', message }];
}

/** Those of the rules that a verified token fulfils, or the rule that keeps it from each. */
export function matchingCredentials<R extends FederationRule>(
  rules: readonly R[],
  { issuer, audience, all }: SubjectClaims,
): { ok: true; found: R[] } | { ok: false; reason: 'issuer' | 'audience' | 'claims' } {
  const ofIssuer = rules.filter((rule) => rule.issuer === issuer);
  if (ofIssuer.length === 0) return { ok: false, reason: 'issuer' };
  const forUs = ofIssuer.filter((rule) => rule.audience === audience);
  if (forUs.length === 0) return { ok: false, reason: 'audience' };
  const found = forUs.filter(({ claims }) => hasAll(claims, all));
  return found.length === 0 ? { ok: false, reason: 'claims' } : { ok: true, found };
}

/** A rule without claims is for no token. */
function hasAll(wanted: FederationRule['claims'], all: SubjectClaims['all']): boolean {
  const entries = Object.entries(wanted);
  return (
    entries.length > 0 &&
    entries.every(([name, values]) => {
      const value = ownMember(all, name);
      return typeof value === 'string' && values.includes(value);
    })
  );
}
