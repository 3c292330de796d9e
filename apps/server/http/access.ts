/** The one guard: who asks, and whether the role suffices. Deny by default: a route that names no role is for admins. contract 2. */
import { createHash } from 'node:crypto';
import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AccessStore, type Access, type Role } from '../store/access.ts';
import type { ChangedBy } from '../store/audit.ts';
import { Refusal } from './answers.ts';
import { refuseNul } from './nul.ts';

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, manager: 2, admin: 3 };
const ROLE = 'millwright:role';

/** Least role that may call a route. */
export const Allow = (role: Role) => SetMetadata(ROLE, role);

const asking = new WeakMap<object, Access>();

/** Who asks; only behind the guard. */
export function accessOf(request: FastifyRequest): Access {
  const access = asking.get(request.raw);
  if (access === undefined) throw new Error('the guard did not run');
  return access;
}

/** Who changes something, and from where: what an audit entry says. contract 2. */
export interface Caller {
  access: Access;
  address?: string;
}

/** The caller of a request; only behind the guard. */
export function callerOf(request: FastifyRequest): Caller {
  return { access: accessOf(request), address: request.ip };
}

/** The same, for the audit entry that is written with the change; `id` is the entry's. */
export function changedBy({ access, address }: Caller, id: string): ChangedBy {
  return { id, principalUid: access.principal.uid, keyId: access.keyId, address };
}

/** Whether a key may see a factory; what it may not see does not exist for it. */
export function maySee(access: Access, factoryUid: string | undefined): boolean {
  return access.factories === undefined || (factoryUid !== undefined && access.factories.includes(factoryUid));
}

/** What a role is worth: team secrets and factories concern everybody, so that a key that is limited to some factories is a manager there at most. */
function worthOf({ role, factories }: Access): Role {
  return role === 'admin' && factories !== undefined ? 'manager' : role;
}

@Injectable()
export class AccessGuard implements CanActivate {
  private readonly store: AccessStore;
  private readonly reflector: Reflector;
  constructor(store: AccessStore, reflector: Reflector) {
    this.store = store;
    this.reflector = reflector;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const needed = this.reflector.getAllAndOverride<Role | undefined>(ROLE, [context.getHandler(), context.getClass()]) ?? 'admin';
    const access = await this.authenticate(request);
    asking.set(request.raw, access);
    if (RANK[worthOf(access)] < RANK[needed]) throw new Refusal('not_authorized', `this needs the role ${needed}; the key has ${access.role}${access.factories === undefined ? '' : ' of some factories'}`);
    refuseNul(request);
    return true;
  }

  private async authenticate(request: FastifyRequest): Promise<Access> {
    const key = bearerKey(request.headers.authorization);
    const access = key === undefined ? undefined : await this.store.find(hashOfKey(key));
    if (access !== undefined) return access;
    throw new Refusal('authentication_required', 'send an API key: Authorization: Bearer mw_…', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
}

/** Keys are stored as this only. contract 1. */
export function hashOfKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}

function bearerKey(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer +(mw_[A-Za-z0-9_-]{16,256})$/i.exec(header)?.[1];
}
