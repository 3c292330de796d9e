/** Suggests a filter from deliveries: the chosen ones match, the others do not. */
import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Api } from '../../../api/client.ts';
import { QueryView } from '../../../components/feedback/query-view.tsx';
import { Confirm } from '../../../components/dialogs/confirm.tsx';
import { countOf } from '../../../components/text/count.ts';
import { Empty } from '../../../components/lists/empty.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { Time } from '../../../components/text/time.tsx';
import { PayloadView } from '../../deliveries/payload.tsx';
import { useNewestDeliveries, useWebhookNames, type Replayed } from '../../../api/automations.ts';
import type { FilterTestsProps } from './filter-tests.tsx';

type MakeFilterProps = Omit<FilterTestsProps, 'onFailing'>;

export function MakeFilter(props: MakeFilterProps) {
  const query = useNewestDeliveries(props.factoryUid, props.webhookUids);
  return (
    <QueryView query={query}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <Empty title="No accepted deliveries yet">A filter can be created as soon as there are deliveries.</Empty>
        ) : (
          <Choice {...props} deliveries={deliveries} />
        )
      }
    </QueryView>
  );
}

function Choice({ factoryUid, filter, onFilter, deliveries }: MakeFilterProps & { deliveries: readonly Replayed[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const suggest = useMutation({
    mutationFn: () => {
      const ids = deliveries.map(({ entry_id: id }) => id);
      return ask(
        api.POST('/factory/{factory_uid}/filters/suggest', {
          params: { path: { factory_uid: factoryUid } },
          body: { entry_ids: ids.filter((id) => chosen.has(id)), not_entry_ids: ids.filter((id) => !chosen.has(id)) },
        }),
      );
    },
  });
  const toggle = (id: string, isChosen: boolean): void => {
    setChosen(new Set(isChosen ? [...chosen, id] : [...chosen].filter((one) => one !== id)));
    suggest.reset();
  };
  const count = deliveries.filter(({ entry_id: id }) => chosen.has(id)).length;
  return (
    <Stack gap="sm">
      <Text size="sm">
        Choose the deliveries that shall trigger; the filter leaves the others as far as they differ.
      </Text>
      <Stack
        component="ul"
        gap={4}
        m={0}
        p={4}
        tabIndex={0}
        aria-label="The last deliveries"
        style={{ listStyle: 'none', maxHeight: 360, overflowY: 'auto' }}
      >
        {deliveries.map((delivery) => (
          <Candidate
            key={delivery.entry_id}
            factoryUid={factoryUid}
            delivery={delivery}
            isChosen={chosen.has(delivery.entry_id)}
            onToggle={(isChosen) => toggle(delivery.entry_id, isChosen)}
          />
        ))}
      </Stack>
      <Button w="max-content" disabled={count === 0} loading={suggest.isPending} onClick={() => suggest.mutate()}>
        Create a filter from {count} of {countOf(deliveries.length, 'delivery', 'deliveries')}
      </Button>
      {suggest.error !== null && <ProblemAlert error={suggest.error} />}
      <div role="status">
        {suggest.data !== undefined && <Suggestion suggestion={suggest.data} before={filter} onUse={onFilter} />}
      </div>
    </Stack>
  );
}

function Candidate({
  factoryUid,
  delivery,
  isChosen,
  onToggle,
}: {
  factoryUid: string;
  delivery: Replayed;
  isChosen: boolean;
  onToggle: (isChosen: boolean) => void;
}) {
  const nameOf = useWebhookNames(factoryUid);
  const [isOpen, setOpen] = useState(false);
  const { entry_id: entryId, webhook_uid: webhookUid, delivery_id: deliveryId, received_at: at } = delivery;
  return (
    <li>
      <Group gap="sm" wrap="nowrap" justify="space-between">
        <Checkbox
          checked={isChosen}
          onChange={(event) => onToggle(event.currentTarget.checked)}
          label={
            <>
              <span className="mono">
                <UntrustedText>{deliveryId}</UntrustedText>
              </span>{' '}
              · <UntrustedText>{nameOf(webhookUid) ?? webhookUid}</UntrustedText> · <Time at={at} as="ago" />
            </>
          }
        />
        <Button
          size="compact-xs"
          variant="subtle"
          aria-expanded={isOpen}
          aria-label={`Payload of ${deliveryId}`}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Hide' : 'Payload'}
        </Button>
      </Group>
      {isOpen && <PayloadView factoryUid={factoryUid} webhookUid={webhookUid} entryId={entryId} />}
    </li>
  );
}

function Suggestion({
  suggestion,
  before,
  onUse,
}: {
  suggestion: Api<'FilterSuggestion'>;
  before: string;
  onUse: ((filter: string) => void) | undefined;
}) {
  const [isAsking, setAsking] = useState(false);
  const { filter, takes, leaves, takes_besides: besides, unreadable } = suggestion;
  const text = JSON.stringify(filter, null, 2);
  const use = (): void => {
    setAsking(false);
    onUse?.(text);
  };
  const isNothing = Object.keys(filter).length === 0;
  return (
    <Alert
      color={isNothing || besides > 0 ? 'orange' : 'teal'}
      title={isNothing ? 'Nothing tells these deliveries from the others' : 'A filter for these deliveries'}
    >
      <Stack gap="xs">
        <pre
          className="mono"
          tabIndex={0}
          aria-label="Suggested filter"
          style={{ margin: 0, maxHeight: 260, overflow: 'auto' }}
        >
          <UntrustedText>{text}</UntrustedText>
        </pre>
        <Text size="sm">
          Takes {takes} of the chosen, leaves {leaves} of the others
          {besides > 0 && <>, but takes {besides} of the others too: nothing tells them apart</>}.
          {unreadable > 0 && <> {unreadable} could not be read any more.</>}
        </Text>
        <Button
          size="xs"
          w="max-content"
          onClick={() => (['', '{}', text].includes(before.trim()) ? use() : setAsking(true))}
        >
          Use this filter
        </Button>
      </Stack>
      <Confirm
        opened={isAsking}
        title="Replace the filter?"
        action="Replace"
        color="blue"
        isPending={false}
        error={null}
        onConfirm={use}
        onClose={() => setAsking(false)}
      >
        <Text size="sm">The filter that is in the editor now is replaced. Nothing is saved yet.</Text>
      </Confirm>
    </Alert>
  );
}
