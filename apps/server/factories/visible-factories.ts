/** The factory of a request, if it exists and the key may see it: both look the same from outside. contract 2. */
import type { Access } from '../store/access/access.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { maySee } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';

/** Throws 404 for a factory that is not there, and for one that the key may not see. */
export async function visibleFactory(factories: FactoryStore, uid: string, access: Access): Promise<Factory> {
  const factory = maySee(access, uid) ? await factories.find(uid) : undefined;
  if (factory === undefined) throw notFound('the factory');
  return factory;
}
