/** Result of an accepted delivery: matching automations with their runs, and the others with the reason. */
import { Anchor, Group, List, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { RunStateBadge } from '../../components/feedback/states.tsx';
import { useAutomations } from '../../api/automations.ts';
import { useRun } from '../runs/run.ts';
import type { Delivery } from './queries.ts';

type Skipped = NonNullable<Delivery['skipped']>[number];

const OPERATORS: Readonly<Record<NonNullable<Skipped['operator']>, string>> = {
  in: 'is none of the values that it asks for',
  not_in: 'is a value that it excludes',
  exists: 'is there where it shall not be, or missing',
  nested: 'is no object',
};

export function Decided({
  factoryUid,
  delivery: { started = [], skipped = [] },
}: {
  factoryUid: string;
  delivery: Delivery;
}) {
  const { data: automations } = useAutomations(factoryUid);
  const nameOf = (uid: string): string => automations?.find((automation) => automation.uid === uid)?.name ?? uid;
  const link = (uid: string) => (
    <Anchor component={Link} to={`/factories/${factoryUid}/automations/${uid}`} size="sm">
      <UntrustedText>{nameOf(uid)}</UntrustedText>
    </Anchor>
  );
  return (
    <section aria-labelledby="decided">
      <Title order={2} size="h4" id="decided" mb="xs">
        Automations
      </Title>
      {started.length === 0 && skipped.length === 0 && (
        <Text size="sm">No automation waits for deliveries of this webhook.</Text>
      )}
      {started.length > 0 && (
        <>
          <Text size="sm" fw={600}>
            Runs started
          </Text>
          <List listStyleType="none" mb="sm" spacing={4}>
            {started.map(({ automation_id: uid, run_id: runId }) => (
              <List.Item key={runId}>
                <Started runId={runId}>{link(uid)}</Started>
              </List.Item>
            ))}
          </List>
        </>
      )}
      {skipped.length > 0 && (
        <>
          <Text size="sm" fw={600}>
            Started nothing
          </Text>
          <List listStyleType="none" spacing={4}>
            {skipped.map((one) => (
              <List.Item key={one.automation_id}>
                <Text size="sm" component="span">
                  {link(one.automation_id)}: <Why skipped={one} />
                </Text>
              </List.Item>
            ))}
          </List>
        </>
      )}
    </section>
  );
}

function Started({ runId, children }: { runId: string; children: React.ReactNode }) {
  const { data: run } = useRun(runId);
  return (
    <Group gap="xs">
      {children}
      <Anchor component={Link} to={`/runs/${runId}`} size="sm">
        <UntrustedText>{run?.title ?? `Run ${runId}`}</UntrustedText>
      </Anchor>
      {run !== undefined && <RunStateBadge state={run.state} />}
    </Group>
  );
}

function Why({ skipped: { reason, failed_pointer: pointer, operator } }: { skipped: Skipped }) {
  switch (reason) {
    case 'disabled':
      return <>it was disabled.</>;
    case 'busy':
      return <>another run of its concurrency group was going on.</>;
    case 'filter-unreadable':
      return <>its stored filter could not be used.</>;
    case 'filter-budget':
      return <>the filters before its own took all the time that there is for one delivery.</>;
    case 'filter':
      if (pointer === undefined) return <>its filter does not match.</>;
      return (
        <>
          its filter does not match:{' '}
          <span className="mono">
            <UntrustedText>{pointer === '' ? 'the payload' : pointer}</UntrustedText>
          </span>{' '}
          {operator === undefined ? 'fails' : OPERATORS[operator]}.
        </>
      );
  }
}
