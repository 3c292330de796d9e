/** Federated credentials: made, looked at, changed, deleted. contract §2.4. */
import { Injectable } from '@nestjs/common';
import {
  escapeSegment,
  membersOf,
  type FederatedCredential as CredentialItem,
  type FederatedCredentialCreate,
  type FederatedCredentialList,
  type FederatedCredentialPatch,
} from '#contracts';
import { claimProblems, issuerProblem } from '#authentication/federation';
import { changedBy, type Caller } from '../http/access-guard.ts';
import { invalidMembers, lastingConflict, notFound, type MemberError } from '../http/error-codes.ts';
import { toTime } from '../http/queries.ts';
import { toPrincipalItem } from '../keys/keys.items.ts';
import { IdSource } from '../process/injection-tokens.ts';
import { AccessStore } from '../store/access/access.ts';
import {
  FEDERATED_CREDENTIALS_MAX,
  FederatedCredentialStore,
  type FederatedCredential,
} from '../store/access/federated-credentials.ts';

@Injectable()
export class FederationService {
  constructor(
    private readonly credentials: FederatedCredentialStore,
    private readonly accounts: AccessStore,
    private readonly ids: IdSource,
  ) {}

  /** All of them, newest first. */
  async list(): Promise<FederatedCredentialList> {
    return { federated_credentials: (await this.credentials.list()).map(toCredentialItem) };
  }

  async get(id: string): Promise<CredentialItem> {
    return toCredentialItem(await this.find(id));
  }

  /** Makes one, with the service account that its keys belong to. Throws 409 where there are too many. */
  async create(wanted: FederatedCredentialCreate, by: Caller): Promise<CredentialItem> {
    const errors = [...credentialErrors(wanted), ...(await this.unknownFactories(wanted.factories ?? []))];
    if (errors.length > 0) throw invalidMembers(errors);
    const { idempotency } = by;
    const { name, issuer, audience, claims, role, factories } = wanted;
    const made = await this.credentials.create(
      { id: this.ids.newId(), name, issuer, audience, claims, role, factories },
      changedBy(by, this.ids.newId()),
      idempotency && ((stored) => idempotency.store(200, toCredentialItem(stored))),
    );
    if (made === 'full')
      throw lastingConflict(`there are ${FEDERATED_CREDENTIALS_MAX} federated credentials, and no more fit`);
    return toCredentialItem(made);
  }

  async change(id: string, wanted: FederatedCredentialPatch, by: Caller): Promise<CredentialItem> {
    const { issuer } = await this.find(id);
    const { name, audience, claims, role, factories } = wanted;
    const errors = [
      ...(claims === undefined ? [] : claimErrors(issuer, claims)),
      ...(await this.unknownFactories(factories ?? [])),
    ];
    if (errors.length > 0) throw invalidMembers(errors);
    const changed = await this.credentials.change(
      id,
      { name, audience, claims, role, factories },
      changedBy(by, this.ids.newId()),
    );
    if (changed === undefined) throw notFound('the federated credential');
    return toCredentialItem(changed);
  }

  /** Ends its keys, too. Repeating it is no error. */
  async remove(id: string, by: Caller): Promise<void> {
    await this.credentials.remove(id, changedBy(by, this.ids.newId()));
  }

  private async find(id: string): Promise<FederatedCredential> {
    const found = await this.credentials.get(id);
    if (found === undefined) throw notFound('the federated credential');
    return found;
  }

  private async unknownFactories(factories: readonly string[]): Promise<MemberError[]> {
    const unknown = await this.accounts.unknownFactories(factories);
    return factories.flatMap((uid, at) =>
      unknown.has(uid) ? [{ pointer: `/factories/${at}`, message: 'there is no such factory' }] : [],
    );
  }
}

/** Everything that a schema cannot state and that needs no store, each by its pointer. The body may be anything. */
export function credentialErrors(body: unknown): MemberError[] {
  const { issuer, claims } = membersOf(body);
  const problem = typeof issuer === 'string' ? issuerProblem(issuer) : undefined;
  return [
    ...(problem === undefined ? [] : [{ pointer: '/issuer', message: `"issuer" ${problem}` }]),
    ...claimErrors(typeof issuer === 'string' ? issuer : undefined, membersOf(claims)),
  ];
}

/** What a change cannot name. The body may be anything. */
export function credentialChangeErrors(body: unknown): MemberError[] {
  return Object.hasOwn(membersOf(body), 'issuer')
    ? [{ pointer: '/issuer', message: 'cannot be changed: make another one' }]
    : [];
}

function claimErrors(issuer: string | undefined, claims: Readonly<Record<string, unknown>>): MemberError[] {
  return claimProblems(issuer, claims).map(({ claim, message }) =>
    claim === ''
      ? { pointer: '/claims', message: `"claims" ${message}` }
      : { pointer: `/claims/${escapeSegment(claim)}`, message: `the claim ${message}` },
  );
}

function toCredentialItem(credential: FederatedCredential): CredentialItem {
  const { id, name, issuer, audience, claims, role, factories, principal } = credential;
  return {
    id,
    name,
    issuer,
    audience,
    claims: Object.fromEntries(Object.entries(claims).map(([claim, values]) => [claim, [...values]])),
    role,
    factories: factories === undefined ? null : [...factories],
    principal: toPrincipalItem(principal),
    created_at: toTime(credential.createdAtMs),
    created_by: credential.createdBy ?? null,
    updated_at: toTime(credential.updatedAtMs),
    last_used_at: credential.lastUsedAtMs === undefined ? null : toTime(credential.lastUsedAtMs),
  };
}
