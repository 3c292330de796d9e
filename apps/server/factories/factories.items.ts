/** Factories as the API shows them: every member named here, snake_case, absent ones left out. contract §4. */
import { toAgentConfig } from '#agents';
import type { Factory as FactoryItem } from '#contracts';
import type { FactoryDefinition } from '#definitions';
import { isManagedSource } from '#reconcile';
import { toTime } from '../http/queries.ts';
import { toSyncPolicyItem } from './factories.requests.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { SOURCES } from '../sync/sources/registry.ts';

/** Whether files decide a factory's webhooks and automations. */
export function isManaged({ source }: Pick<Factory, 'source'>): boolean {
  return isManagedSource(source);
}

/** Agent defaults are what the factory's file says, as the wire has configurations; absent where it says nothing. */
export function toFactoryItem(factory: Factory, definition: FactoryDefinition | undefined): FactoryItem {
  return {
    uid: factory.uid,
    slug: factory.slug,
    name: factory.name,
    description: factory.description,
    created_at: toTime(factory.createdAtMs),
    updated_at: toTime(factory.updatedAtMs),
    source: SOURCES.toItem(factory.source),
    sync_policy: toSyncPolicyItem(factory.syncPolicy),
    suspended: factory.suspended,
    definitions_managed: isManaged(factory),
    service_account: factory.serviceAccountUid,
    ...(definition?.agentDefaults === undefined
      ? {}
      : { agent_defaults: toAgentConfig(definition.agentDefaults) as FactoryItem['agent_defaults'] }),
  };
}
