/** What happened to a factory, newest first. */
import { Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { ShowMore } from '../../components/lists/show-more.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactoryEvents } from './queries.ts';
import { RevisionText } from '../../components/text/revision-text.tsx';

export function Events({ factoryUid }: { factoryUid: string }) {
  const query = useFactoryEvents(factoryUid);
  return (
    <QueryView query={query}>
      {({ pages }) => {
        const events = pages.flatMap((page) => page.events);
        if (events.length === 0)
          return (
            <Text size="sm" c="dimmed">
              No events yet
            </Text>
          );
        return (
          <Stack gap="sm">
            <Stack component="ol" gap="sm" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Events, newest first">
              {events.map(({ id, at, type, reason, message, revision, sync }) => (
                <li key={id}>
                  <Group gap="xs">
                    <Badge color={type === 'Warning' ? 'orange' : 'gray'}>{reason}</Badge>
                    {type === 'Warning' && (
                      <Text span size="xs">
                        Warning
                      </Text>
                    )}
                    <Text span size="xs" c="dimmed">
                      <Time at={at} as="ago" />
                    </Text>
                    {revision !== null && <RevisionText factoryUid={factoryUid} revision={revision} />}
                    {sync !== null && (
                      <Anchor component={Link} to={`/factories/${factoryUid}/sync/passes/${sync}`} size="xs">
                        its pass
                      </Anchor>
                    )}
                  </Group>
                  <Text size="sm" component="div">
                    <UntrustedText>{message}</UntrustedText>
                  </Text>
                </li>
              ))}
            </Stack>
            <ShowMore pages={query} what="events" />
          </Stack>
        );
      }}
    </QueryView>
  );
}
