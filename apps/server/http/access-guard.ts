/**
 * The one guard: whether key or session, rate and role allow a request, decided before a byte of its body is read. Deny
 * by default: a route that names no role is for admins. contract §2.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Injectable } from '@nestjs/common';
import { hashOfKey } from '#authentication';
import type { Access, Role } from '../store/access/access.ts';
import type { ChangedBy } from '../store/access/audit.ts';
import { KeyStore } from '../store/access/keys.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { Budgets, OPEN_REQUESTS_PER_MINUTE } from './budgets.ts';
import { RefusalError, notFound } from './error-codes.ts';
import { trustConnection } from './sockets/anonymous-connections.ts';
import type { IdempotentRequest } from './idempotency.ts';
import { refuseNul, refuseOtherTeam, recordOf, type SeenSession } from './requests.ts';

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, manager: 2, admin: 3 };

/** What a route asks of a request. */
export interface RouteNeeds {
  role: Role | 'everybody';
  /** Whether its body may be as large as one with attachments. */
  withAttachments: boolean;
  /** Whether the route reads its body itself, byte by byte: nothing reads or parses it before. */
  readsBodyItself: boolean;
  /** Bytes of a body at most where nobody needs a key, at a rate of its own; who brings one is asked as elsewhere. */
  openBodyBytes?: number;
  /** Whether its body is a tree of files, which who has a key may send as large as a sync would read it. */
  withTree: boolean;
  /** Whether browsers may ask from a page of ours only. */
  ownPagesOnly: boolean;
}

/** Least role that may call a route. */
export const Allow = (
  role: Role,
  needs: Partial<Pick<RouteNeeds, 'withAttachments' | 'withTree'>> = {},
): MethodDecorator => RouteConfig({ role, ...needs });

/** A route that answers without a key. */
export const AllowEverybody = ({
  readsBodyItself = false,
  ownPagesOnly = false,
}: Partial<Pick<RouteNeeds, 'readsBodyItself' | 'ownPagesOnly'>> = {}): MethodDecorator =>
  RouteConfig({ role: 'everybody', readsBodyItself, ownPagesOnly });

/** A route for viewers that answers without a key too, each client address at its own rate. contract §3.12 (Open). */
export const AllowOpen = (openBodyBytes = 0, withTree = false): MethodDecorator =>
  RouteConfig({ role: 'viewer', openBodyBytes, withTree });

/** What the route of a request asks; a route that says nothing is for admins. */
export function needsOf({ routeOptions }: FastifyRequest): RouteNeeds {
  const {
    role = 'admin',
    withAttachments = false,
    readsBodyItself = false,
    openBodyBytes,
    withTree = false,
    ownPagesOnly = false,
  } = (routeOptions.config ?? {}) as Partial<RouteNeeds>;
  return { role, withAttachments, readsBodyItself, openBodyBytes, withTree, ownPagesOnly };
}

/** Who asks; only behind the guard. */
export function accessOf(request: FastifyRequest): Access {
  const { access } = recordOf(request.raw);
  if (access === undefined) throw new Error('the guard did not run');
  return access;
}

/** Who changes something, and from where: what an audit entry says. contract §2. */
export interface Caller {
  access: Access;
  address?: string;
  /** Present when the request named an idempotency key. contract §3.2 (Create). */
  idempotency?: IdempotentRequest;
}

/** The caller of a request; only behind the guard. */
export function callerOf(request: FastifyRequest): Caller {
  const { clientAddress, idempotency } = recordOf(request.raw);
  return { access: accessOf(request), address: clientAddress, idempotency };
}

/** The same, for the audit entry that is written with the change; `id` is the entry's. */
export function changedBy({ access, address }: Caller, id: string): ChangedBy {
  return { id, principalUid: access.principal.uid, keyId: access.keyId, address };
}

/** Whether a key may see a factory; what it may not see does not exist for it. */
export function maySee(access: Access, factoryUid: string | undefined): boolean {
  return access.factories === undefined || (factoryUid !== undefined && access.factories.includes(factoryUid));
}

/**
 * What a role is worth: team secrets and factories concern everybody, so that a key that is limited to some factories
 * is a manager there at most.
 */
function worthOf({ role, factories }: Access): Role {
  return role === 'admin' && factories !== undefined ? 'manager' : role;
}

/** Whether a key is an admin's, of all factories. */
export function isWholeAdmin(access: Access): boolean {
  return worthOf(access) === 'admin';
}

/** A session that a request belongs to, and what its key may do now. */
export interface FoundSession {
  access: Access;
  session: SeenSession;
}

/** Sessions as the guard sees them; the feature `sessions` implements it. */
export abstract class SessionAuthentication {
  /** Whether a request names a session, valid or not. */
  abstract isNamed(headers: IncomingHttpHeaders): boolean;
  abstract find(headers: IncomingHttpHeaders): Promise<FoundSession | undefined>;
  /** Throws 403 where a browser says that another site asks. */
  abstract refuseForeign(headers: IncomingHttpHeaders): void;
  /** Throws 403 for a request that would change something and does not prove that a page of its session made it. */
  abstract refuseForged(method: string, headers: IncomingHttpHeaders, session: SeenSession): void;
}

/** Who is told when a key was used; the feature `keys` implements it. */
export abstract class KeyUseRecorder {
  abstract note(keyId: string): void;
}

@Injectable()
export class AccessGuard {
  constructor(
    private readonly keys: KeyStore,
    private readonly sessions: SessionAuthentication,
    private readonly uses: KeyUseRecorder,
    private readonly budgets: Budgets,
  ) {}

  /**
   * Lets a request in or throws a refusal. What is no route is behind a key where a route could be: nobody learns
   * without one which there are.
   */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { role, openBodyBytes, ownPagesOnly } = needsOf(request);
    if (request.is404 && !isBelowBase(request.url)) return;
    if (ownPagesOnly) this.sessions.refuseForeign(request.headers);
    if (role === 'everybody') return refuseNul(request);
    if (openBodyBytes !== undefined && !this.namesCredential(request)) {
      this.spendOpen(request);
      return refuseNul(request);
    }
    const access = await this.authenticate(request);
    this.spendRequest(access, reply);
    if (request.is404) return;
    const { session } = recordOf(request.raw);
    if (session !== undefined) this.sessions.refuseForged(request.method, request.headers, session);
    if (RANK[worthOf(access)] < RANK[role])
      throw new RefusalError(
        'not_authorized',
        `this needs the role ${role}; the key has ${access.role}` +
          (access.factories === undefined ? '' : ' of some factories'),
      );
    refuseOtherTeam(request);
    refuseNul(request);
  }

  /** The access that a key gives which came in a body, at the price of one in a header. Throws like `admit`. */
  async admitKey(key: string, request: FastifyRequest, reply: FastifyReply): Promise<Access> {
    const access = await this.accessOfKey(key);
    if (access === undefined)
      throw this.refusalOf(
        request,
        new RefusalError('authentication_required', 'there is no such API key, or it is valid no more', {
          title: 'The API key is not valid',
        }),
      );
    this.welcome(request, { access });
    this.spendRequest(access, reply);
    return access;
  }

  /** The access of a request, if it has a valid key or session. Throws nothing but what the database throws. */
  async find(request: FastifyRequest): Promise<Access | undefined> {
    return (await this.credentialOf(request))?.access;
  }

  private namesCredential({ headers }: FastifyRequest): boolean {
    return headers.authorization !== undefined || this.sessions.isNamed(headers);
  }

  private spendOpen(request: FastifyRequest): void {
    const spent = this.budgets.spendOpen(recordOf(request.raw).clientAddress);
    if (spent.withinBudget) return;
    const { retryAfterSeconds } = spent;
    const detail = `without a key an address may ask ${OPEN_REQUESTS_PER_MINUTE} times a minute`;
    throw new RefusalError('resource_unavailable', detail, { status: 429, retryAfterSeconds });
  }

  private async authenticate(request: FastifyRequest): Promise<Access> {
    const found = await this.credentialOf(request);
    if (found === undefined) throw this.refusalOf(request, this.unknown(request));
    this.welcome(request, found);
    return found.access;
  }

  /** Whoever sends an Authorization header means it: a bad one is not made good by a cookie. */
  private async credentialOf({
    headers,
  }: FastifyRequest): Promise<{ access: Access; session?: SeenSession } | undefined> {
    if (headers.authorization === undefined) return this.sessions.find(headers);
    const access = await this.accessOfKey(bearerKey(headers.authorization));
    return access && { access };
  }

  private async accessOfKey(key: string | undefined): Promise<Access | undefined> {
    return key === undefined || !KEY.test(key) ? undefined : this.keys.find(hashOfKey(key));
  }

  private welcome(request: FastifyRequest, { access, session }: { access: Access; session?: SeenSession }): void {
    trustConnection(request.raw.socket);
    const record = recordOf(request.raw);
    record.access = access;
    record.session = session;
    this.uses.note(access.keyId);
  }

  /** What is wrong, so that a page can tell people whose session has ended from those who never signed in. */
  private unknown({ headers }: FastifyRequest): RefusalError {
    const answer = { headers: { 'WWW-Authenticate': 'Bearer' } };
    if (headers.authorization === undefined && this.sessions.isNamed(headers))
      return new RefusalError('authentication_required', 'the session has ended: sign in again', {
        ...answer,
        title: 'The session has ended',
      });
    const detail =
      bearerKey(headers.authorization ?? '') === undefined
        ? 'send an API key: Authorization: Bearer mw_…'
        : 'the API key that was sent is not known or has ended';
    return new RefusalError('authentication_required', detail, answer);
  }

  /**
   * What was sent was looked up before this is asked, so that a valid key is never refused because of somebody's
   * failures.
   */
  private refusalOf(request: FastifyRequest, within: RefusalError): RefusalError {
    const spent = this.budgets.spendFailure(recordOf(request.raw).clientAddress);
    if (spent.withinBudget) return within;
    const { retryAfterSeconds } = spent;
    // A wrong key does not become right by waiting.
    return new RefusalError('resource_unavailable', 'too many requests without a valid API key', {
      status: 429,
      retryable: false,
      retryAfterSeconds,
    });
  }

  private spendRequest({ keyId }: Access, reply: FastifyReply): void {
    const draw = this.budgets.spendRequest(keyId);
    if (draw === undefined) return;
    // On the raw response, so that every answer has them, whoever writes it.
    reply.raw
      .setHeader('RateLimit-Limit', draw.limit)
      .setHeader('RateLimit-Remaining', draw.remaining)
      .setHeader('RateLimit-Reset', draw.resetSeconds);
    if (draw.ok) return;
    throw new RefusalError('resource_unavailable', `this key may ask ${draw.limit} times a minute`, {
      status: 429,
      retryAfterSeconds: draw.retryAfterSeconds,
    });
  }
}

const BASE = '/api/v1';

/** Whether a target lies below the base of the API, where nothing is answered without a key. */
export function isBelowBase(target: string): boolean {
  const [path = ''] = target.split(/[?#]/, 1);
  return path === BASE || path.startsWith(`${BASE}/`);
}

const KEY = /^mw_[A-Za-z0-9_-]{16,256}$/;

function bearerKey(header: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(header)?.[1];
}

/** Throws 404 for a factory that is not there, and for one that the key may not see. */
export async function visibleFactory(factories: FactoryStore, uid: string, access: Access): Promise<Factory> {
  const factory = maySee(access, uid) ? await factories.find(uid) : undefined;
  if (factory === undefined) throw notFound('the factory');
  return factory;
}
