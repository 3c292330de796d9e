/** What decided a delivery: the files and commits of the webhook and its automations, on demand. */
import { Anchor, Button, Collapse, Stack, Table, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { MergedPullRequests } from '../../components/text/merged-pull-requests.tsx';
import { RevisionText } from '../../components/text/revision-text.tsx';
import { Time } from '../../components/text/time.tsx';
import { pathTo, useExplanation, type EntryPlace } from './queries.ts';

type Explanation = Api<'Explanation'>;
type Part = Pick<Api<'ExplainedDefinition'>, 'slug' | 'file' | 'standing' | 'revision' | 'changed_at'>;

const RESULTS: Readonly<Record<Api<'ExplainedAutomation'>['result'], string>> = {
  fired: 'fired',
  disabled: 'was disabled',
  'not-selected': 'does not wait for this webhook',
  filter: 'filter does not match',
  'filter-unreadable': 'filter could not be used',
  'filter-budget': 'was not asked: the filters before its own took too long',
  busy: 'was busy',
};

export function Explained({ place }: { place: EntryPlace }) {
  const [opened, { toggle }] = useDisclosure();
  return (
    <section aria-labelledby="explained">
      <Title order={2} size="h4" id="explained" mb="xs">
        What decided
      </Title>
      <Button size="compact-sm" variant="default" aria-expanded={opened} onClick={toggle}>
        {opened ? 'Hide the definitions' : 'Show the definitions and their commits'}
      </Button>
      <Collapse expanded={opened}>{opened && <Answer place={place} />}</Collapse>
    </section>
  );
}

function Answer({ place }: { place: EntryPlace }) {
  const query = useExplanation(place.entryId);
  return (
    <QueryView query={query}>{(explanation) => <ExplanationView place={place} explanation={explanation} />}</QueryView>
  );
}

function ExplanationView({
  place,
  explanation: { delivery, webhook, automations, automations_left_out: leftOut, pull_requests: merged },
}: {
  place: EntryPlace;
  explanation: Explanation;
}) {
  const before = delivery?.duplicate_of;
  return (
    <Stack gap="xs" mt="xs">
      {before !== null && before !== undefined && (
        <Text size="sm">
          The delivery before it:{' '}
          <Anchor component={Link} to={pathTo({ ...place, entryId: before })} size="sm">
            accepted
          </Anchor>
        </Text>
      )}
      <div className="scroll-x" tabIndex={0} role="region" aria-label="Definitions that decided">
        <Table miw={640}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Definition</Table.Th>
              <Table.Th scope="col">What it did</Table.Th>
              <Table.Th scope="col">File</Table.Th>
              <Table.Th scope="col">Written by revision</Table.Th>
              <Table.Th scope="col">Since then</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {webhook !== null && (
              <Definition
                part={webhook}
                kind="Webhook"
                did="took the delivery"
                factoryUid={place.factoryUid}
                merged={merged}
              />
            )}
            {automations.map((automation) => (
              <Definition
                key={automation.uid}
                part={automation}
                kind="Automation"
                did={
                  RESULTS[automation.result] +
                  (automation.trigger === null ? '' : `, trigger ${automation.trigger.position}`)
                }
                factoryUid={place.factoryUid}
                merged={merged}
              />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {leftOut > 0 && (
        <Text size="sm" c="dimmed">
          {leftOut.toLocaleString()} further automations do not wait for this webhook.
        </Text>
      )}
    </Stack>
  );
}

function Definition({
  part: { slug, file, standing, revision, changed_at: changedAt },
  kind,
  did,
  factoryUid,
  merged,
}: {
  part: Part;
  kind: string;
  did: string;
  factoryUid: string;
  merged: Explanation['pull_requests'];
}) {
  return (
    <Table.Tr>
      <Table.Td>
        {kind}{' '}
        <span className="mono">
          <UntrustedText>{slug}</UntrustedText>
        </span>
      </Table.Td>
      <Table.Td>{did}</Table.Td>
      <Table.Td>
        {file === null ? (
          'managed here'
        ) : (
          <span className="mono">
            <UntrustedText>{file}</UntrustedText>
          </span>
        )}
      </Table.Td>
      <Table.Td>
        <RevisionText factoryUid={factoryUid} revision={revision} what={`the revision of ${slug}`} />
        <MergedPullRequests merged={merged.filter((each) => each.revision === revision)} />
      </Table.Td>
      <Table.Td>
        {standing}
        {changedAt !== null && (
          <>
            {' '}
            (<Time at={changedAt} as="ago" />)
          </>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
