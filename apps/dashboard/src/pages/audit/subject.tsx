/** What a change was made to, by its name and with its page, as far as it has them. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { useFactories } from '../../api/factories.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import type { AuditEntry } from './trail.ts';

/** `keyName` names the subject where it is an API key. */
export function Subject({ entry, keyName }: { entry: AuditEntry; keyName: string | undefined }) {
  const { data: factories = [] } = useFactories();
  const { action, subject, details, factory_uid: factoryUid } = entry;
  const [kind = ''] = action.split('.');
  const name = [details['slug'], details['name'], keyName].find((one) => typeof one === 'string');
  const isFactoryThere = factories.some(({ uid }) => uid === factoryUid);
  const page = action.endsWith('.delete') ? undefined : pageOf(kind, subject, isFactoryThere ? factoryUid : null);
  const label = kind === 'factory' ? (factories.find(({ uid }) => uid === subject)?.name ?? name) : name;
  if (label === undefined && page === undefined) return null;
  const text = <UntrustedText>{label ?? `The ${kind}`}</UntrustedText>;
  return page === undefined ? (
    <Text size="sm" component="div">
      {text}
    </Text>
  ) : (
    <div>
      <Anchor component={Link} to={page} size="sm">
        {text}
      </Anchor>
    </div>
  );
}

function pageOf(kind: string, subject: string, factoryUid: string | null): string | undefined {
  if (kind === 'run') return `/runs/${subject}`;
  if (kind === 'api_key') return '/api-keys';
  if (factoryUid === null) return undefined;
  const pages: Readonly<Record<string, string>> = {
    factory: 'webhooks',
    webhook: `webhooks/${subject}`,
    automation: `automations/${subject}`,
    secret: 'secrets',
  };
  return pages[kind] === undefined ? undefined : `/factories/${factoryUid}/${pages[kind]}`;
}
