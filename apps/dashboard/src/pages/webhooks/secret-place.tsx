/**
 * The name of a webhook's secret and where it is: the factory's own, or the team's, with the way there for those who
 * may see it.
 */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { useMay } from '../../api/session.tsx';
import type { Webhook } from '../../api/webhooks.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { isThere } from '../secrets/queries.ts';

export function SecretPlace({
  factoryUid,
  webhook: { secret_name: name, secret_set: isSet },
}: {
  factoryUid: string;
  webhook: Webhook;
}) {
  const isAdmin = useMay('admin');
  const { data: isOwn } = useQuery({
    queryKey: ['secrets', factoryUid, 'own', name],
    queryFn: () => isThere(factoryUid, name),
  });
  const named = (
    <span className="mono">
      <UntrustedText>{name}</UntrustedText>
    </span>
  );
  if (isOwn === undefined) return named;
  if (isOwn)
    return (
      <>
        {named} (
        <Anchor component={Link} to={`/factories/${factoryUid}/secrets`} size="sm" underline="always">
          Secrets of the factory
        </Anchor>
        )
      </>
    );
  const team = isAdmin ? (
    <Anchor component={Link} to="/secrets" size="sm" underline="always">
      Team secrets
    </Anchor>
  ) : (
    'a team secret, which an admin can set'
  );
  return (
    <>
      {named} ({isSet ? team : <>not among the factory’s own; {team}</>})
    </>
  );
}
