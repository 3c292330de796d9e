/** A federated credential that is wanted, as it is typed. */
import type { Api } from '../../api/client.ts';
import type { FederatedCredential } from './queries.ts';

export interface Draft {
  name: string;
  issuer: string;
  audience: string;
  /** A line for each value that is allowed: `claim=value`. */
  claims: string;
  role: FederatedCredential['role'];
  /** UIDs; empty: all factories. */
  factories: string[];
}

/** The audience that most will want: this service. */
export function blankDraft(): Draft {
  return { name: '', issuer: '', audience: globalThis.location.origin, claims: '', role: 'viewer', factories: [] };
}

export function draftOf({ name, issuer, audience, claims, role, factories }: FederatedCredential): Draft {
  return { name, issuer, audience, claims: claimLines(claims).join('\n'), role, factories: factories ?? [] };
}

/** Members whose faults stand at their fields. */
export const FIELDS = ['/name', '/issuer', '/audience', '/claims', '/role', '/factories'];

/** What the fields hold, by the pointers of their members. */
export function valuesOf(draft: Draft): Record<string, unknown> {
  return Object.fromEntries(Object.entries(draft).map(([member, value]) => [`/${member}`, value]));
}

/** Claims as the command line writes them, a value a line. */
export function claimLines(claims: FederatedCredential['claims']): string[] {
  return Object.entries(claims).flatMap(([claim, values]) => values.map((value) => `${claim}=${value}`));
}

/** What stands in the lines; a line without a sign of equality is a claim without a value, which the server refuses. */
export function claimsOf(text: string): Record<string, string[]> {
  const claims = new Map<string, string[]>();
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const at = line.includes('=') ? line.indexOf('=') : line.length;
    const [claim, value] = [line.slice(0, at), line.slice(at + 1)];
    claims.set(claim, [...(claims.get(claim) ?? []), ...(value === '' ? [] : [value])]);
  }
  return Object.fromEntries(claims);
}

export function creationOf({ factories, claims, ...draft }: Draft): Api<'FederatedCredentialCreate'> {
  return {
    ...draft,
    claims: claimsOf(claims),
    ...(factories.length === 0 ? {} : { factories }),
  };
}

/** Only what was changed: keys that were exchanged end with any other change than of the name. */
export function changeOf(draft: Draft, before: FederatedCredential): Api<'FederatedCredentialPatch'> {
  const { name, audience, role, factories, claims } = draft;
  const was = draftOf(before);
  const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
  return {
    ...(name === was.name ? {} : { name }),
    ...(audience === was.audience ? {} : { audience }),
    ...(role === was.role ? {} : { role }),
    ...(isSame(claimsOf(claims), before.claims) ? {} : { claims: claimsOf(claims) }),
    ...(isSame(factories, was.factories) ? {} : { factories: factories.length === 0 ? null : factories }),
  };
}
