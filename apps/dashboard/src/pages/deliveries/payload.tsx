/** The payload of an accepted delivery: to look at, and its exact bytes to keep. */
import { Alert, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { apiUrl } from '../../api/client.ts';
import { payload } from '../../api/deliveries.ts';
import { problemOf } from '../../api/problems.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { Icon } from '../../components/icon.tsx';
import { JsonView } from '../../components/json-view/json-view.tsx';
import { isGone, type EntryPlace } from './queries.ts';

export function PayloadView(place: EntryPlace) {
  const query = useQuery(payload(place));
  if (query.data === undefined && isGone(query.error))
    return (
      <Alert color="orange" role="status" title="The payload is not kept any more">
        It was removed with its entry: the log keeps the latest 50 deliveries and those of the last 7 days.
      </Alert>
    );
  const problem = query.data === undefined ? problemOf(query.error) : undefined;
  if (problem?.status === 422)
    return (
      <Alert color="red" role="status" title="The payload cannot be read any more">
        <UntrustedText>{problem.message}</UntrustedText>
      </Alert>
    );
  return (
    <QueryView query={query}>
      {(text) => <JsonView text={text} label="payload" aside={<Download {...place} />} />}
    </QueryView>
  );
}

function Download({ factoryUid, webhookUid, entryId }: EntryPlace) {
  const href = apiUrl(
    `factory/${encodeURIComponent(factoryUid)}/webhooks/${encodeURIComponent(webhookUid)}` +
      `/deliveries/${encodeURIComponent(entryId)}/payload`,
  );
  return (
    <Button
      component="a"
      href={href}
      download="event-payload.json"
      size="compact-sm"
      variant="default"
      w="max-content"
      leftSection={<Icon name="download" size={14} />}
    >
      Download the exact bytes
    </Button>
  );
}
