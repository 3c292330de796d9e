/** Factories as the API shows them: every member named here, snake_case, absent ones left out. contract 4. */
import { toAgentConfig } from '#agents';
import type { Factory as FactoryItem, FactorySource as FactorySourceItem } from '#contracts';
import type { FactoryDefinition } from '#definitions';
import type { Factory } from '../store/factories/factories.ts';
import { toTime } from '../http/queries.ts';
import { toSyncPolicyItem } from './factories.requests.ts';

/** Whether files decide a factory's webhooks and automations. */
export function isManaged({ source }: Pick<Factory, 'source'>): boolean {
  return source.kind !== 'dashboard';
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
    source: toSourceItem(factory.source),
    sync_policy: toSyncPolicyItem(factory.syncPolicy),
    suspended: factory.suspended,
    definitions_managed: isManaged(factory),
    service_account: factory.serviceAccountUid,
    ...(definition?.agentDefaults === undefined
      ? {}
      : { agent_defaults: toAgentConfig(definition.agentDefaults) as FactoryItem['agent_defaults'] }),
  };
}

function toSourceItem(source: Factory['source']): FactorySourceItem {
  switch (source.kind) {
    case 'directory':
      return { kind: 'directory', path: source.path };
    case 'dashboard':
      return { kind: 'dashboard' };
    case 'git':
      return {
        kind: 'git',
        url: source.url,
        branch: source.branch,
        path: source.path,
        interval: source.interval,
        credential_secret: source.credentialSecret,
        push_secret: source.pushSecret,
      };
  }
}
