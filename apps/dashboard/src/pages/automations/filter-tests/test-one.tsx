/** One stored delivery against a filter: would it trigger, and which check decided. */
import { Badge, Button, Checkbox, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Api } from '../../../api/client.ts';
import { QueryView } from '../../../components/feedback/query-view.tsx';
import { Empty } from '../../../components/lists/empty.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { withHiddenNamed } from '../../../components/text/hidden-characters.ts';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { timeText } from '../../../components/text/time.tsx';
import { useNewestDeliveries, usePayloadValue, useWebhookNames, type Replayed } from '../../../api/automations.ts';
import type { FilterTestsProps } from './filter-tests.tsx';
import { actualValueText } from './actual-values.ts';

type TestOneProps = Omit<FilterTestsProps, 'filter' | 'onFilter'> & { filter: unknown };

export function TestOne(props: TestOneProps) {
  const [isWide, setWide] = useState(false);
  const query = useNewestDeliveries(props.factoryUid, isWide ? [] : props.webhookUids);
  return (
    <Stack gap="sm">
      <Checkbox
        label="Offer deliveries of the factory’s other webhooks too"
        checked={isWide}
        onChange={(event) => setWide(event.currentTarget.checked)}
      />
      <QueryView query={query}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Empty title="No accepted deliveries yet">
              Send a delivery to the webhook; then it can be tested here.
            </Empty>
          ) : (
            <Choice key={String(isWide)} {...props} deliveries={deliveries} />
          )
        }
      </QueryView>
    </Stack>
  );
}

function Choice({
  factoryUid,
  webhookUids,
  filter,
  onFailing,
  deliveries,
}: TestOneProps & { deliveries: readonly Replayed[] }) {
  const nameOf = useWebhookNames(factoryUid);
  const [chosen, setChosen] = useState<string>();
  const entryId = deliveries.some(({ entry_id: one }) => one === chosen) ? chosen : deliveries[0]?.entry_id;
  const payload = usePayloadValue(
    factoryUid,
    deliveries.find(({ entry_id: one }) => one === entryId),
  );
  const test = useMutation({
    mutationFn: (entry: string | undefined) =>
      ask(
        api.POST('/factory/{factory_uid}/filters/test', {
          params: { path: { factory_uid: factoryUid } },
          body: { filter, entry_id: entry, webhook_uids: [...webhookUids] },
        }),
      ),
    onSuccess: ({ payload_check: check }) => onFailing(check.passed ? undefined : (check.failed_pointer ?? '')),
    onError: () => onFailing(undefined),
  });
  const choose = (one: string): void => {
    setChosen(one);
    test.reset();
    onFailing(undefined);
  };
  const labelOf = ({ received_at: at, webhook_uid: uid, delivery_id: id }: Replayed): string =>
    withHiddenNamed([timeText(at), nameOf(uid) ?? 'a deleted webhook', id].join(' · '));
  const options = deliveries.map((one) => ({ value: one.entry_id, label: labelOf(one) }));
  return (
    <>
      <NativeSelect
        label="Delivery"
        description="Accepted deliveries, newest first"
        data={options}
        value={entryId}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <Button w="max-content" loading={test.isPending} onClick={() => test.mutate(entryId)}>
        Test filter
      </Button>
      <div role="status">{test.data !== undefined && <Outcome result={test.data} payload={payload} />}</div>
      {test.error !== null && <ProblemAlert error={test.error} />}
    </>
  );
}

interface OutcomeProps {
  result: Api<'FilterTestResult'>;
  /** Of the tested delivery, where it is known. */
  payload: ReturnType<typeof usePayloadValue>;
}

function Outcome({ result: { result, webhook_check: webhook, payload_check: check }, payload }: OutcomeProps) {
  return (
    <Stack gap={4}>
      <Badge size="lg" color={result === 'Would trigger' ? 'teal' : 'gray'}>
        {result}
      </Badge>
      <Text size="sm">
        Webhook check:{' '}
        {webhook.passed ? (
          'passed'
        ) : (
          <>
            failed
            {webhook.reason !== undefined && (
              <>
                : <UntrustedText>{webhook.reason}</UntrustedText>
              </>
            )}
          </>
        )}
      </Text>
      <Text size="sm">
        Payload check:{' '}
        {check.passed ? (
          'passed'
        ) : (
          <>
            failed at <FailingKey pointer={check.failed_pointer} operator={check.operator} />
          </>
        )}
      </Text>
      {!check.passed && payload?.value !== undefined && (
        <Text size="sm">
          The delivery has there:{' '}
          <span className="mono">
            <UntrustedText>{actualValueText(payload.value, check.failed_pointer ?? '')}</UntrustedText>
          </span>
        </Text>
      )}
    </Stack>
  );
}

const ASKED: Readonly<Record<string, string>> = {
  in: 'one of its values',
  not_in: 'none of its values',
  exists: 'whether it is there',
  nested: 'an object that fits',
};

/** The key of the filter that a payload does not pass. */
export function FailingKey({ pointer = '', operator = '' }: { pointer?: string; operator?: string }) {
  return (
    <>
      <span className="mono">
        <UntrustedText>{pointer === '' ? 'the whole body' : pointer}</UntrustedText>
      </span>
      {operator !== '' && <> (asks for {ASKED[operator] ?? operator})</>}
    </>
  );
}
