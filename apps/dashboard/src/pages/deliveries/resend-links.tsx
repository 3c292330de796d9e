/** From a delivery to the one whose bytes it had, and to those that had its bytes. */
import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Time } from '../../components/text/time.tsx';
import { pathTo, type Delivery, type EntryPlace } from './queries.ts';

interface ResendLinksProps {
  /** Entry whose bytes it had. */
  from: string | undefined;
  /** Entries that had its bytes. */
  resends: readonly Delivery[];
  place: EntryPlace;
}

export function ResendLinks({ from, resends, place }: ResendLinksProps) {
  return (
    <Stack gap={2}>
      {from !== undefined && (
        <Text size="sm">
          It is a resend of{' '}
          <Anchor component={Link} to={pathTo({ ...place, entryId: from })} size="sm">
            an earlier delivery
          </Anchor>
        </Text>
      )}
      {resends.map(({ entry_id: entryId, received_at: again }) => (
        <Anchor key={entryId} component={Link} to={pathTo({ ...place, entryId })} size="sm">
          Resent <Time at={again} as="ago" />
        </Anchor>
      ))}
    </Stack>
  );
}
