/** What became of one revision. */
import { Badge, Stack, Table, Text } from '@mantine/core';
import { useParams } from 'react-router';
import type { Api } from '../../api/client.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Facts } from '../../components/facts.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { MergedPullRequests } from '../../components/text/merged-pull-requests.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactory } from '../factories/frame.tsx';
import { PassView } from './passes/pass-view.tsx';
import { useRevision } from './queries.ts';
import { RevisionText } from '../../components/text/revision-text.tsx';
import { Section } from './section.tsx';
import { shortRevision } from '../../components/text/revision.ts';
import { REVISION_STATES } from './labels.ts';

export function RevisionPage() {
  const { uid } = useFactory();
  const { '*': revision = '' } = useParams();
  return (
    <QueryView query={useRevision(uid, revision)}>
      {(status) => <RevisionView factoryUid={uid} status={status} asked={revision} />}
    </QueryView>
  );
}

function RevisionView({
  factoryUid,
  status,
  asked,
}: {
  factoryUid: string;
  status: Api<'RevisionStatus'>;
  asked: string;
}) {
  const { word, color } = REVISION_STATES[status.state];
  return (
    <>
      <PageTitle
        above={[{ label: 'Sync', to: `/factories/${factoryUid}/sync` }]}
        aside={<Badge color={color}>{word}</Badge>}
      >{`Revision ${shortRevision(asked)}`}</PageTitle>
      <Stack>
        <Text role="status">
          <UntrustedText>{status.message}</UntrustedText>
        </Text>
        <Facts
          facts={[
            [
              'Revision',
              <RevisionText key="whole" factoryUid={factoryUid} revision={status.revision} what="revision" />,
            ],
            [
              'Serves now',
              <RevisionText
                key="serving"
                factoryUid={factoryUid}
                revision={status.serving_revision}
                what="serving revision"
              />,
            ],
            status.pull_requests !== null &&
              status.pull_requests.length > 0 && [
                status.pull_requests.length === 1 ? 'Came with the pull request' : 'Came with the pull requests',
                <MergedPullRequests key="pulls" merged={status.pull_requests} />,
              ],
          ]}
        />
        <Section title="Processes that take deliveries">
          <Replicas replicas={status.replicas} />
        </Section>
        {status.sync !== null && (
          <>
            <Text fw={600} component="h2" size="md">
              The pass that judged it
            </Text>
            <PassView factoryUid={factoryUid} sync={status.sync} />
          </>
        )}
      </Stack>
    </>
  );
}

function Replicas({ replicas }: { replicas: Api<'RevisionStatus'>['replicas'] }) {
  if (replicas.length === 0)
    return (
      <Text size="sm" c="dimmed">
        None was heard of in the last 15 seconds.
      </Text>
    );
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Processes that take deliveries">
      <Table verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Process</Table.Th>
            <Table.Th scope="col">Has loaded what is applied</Table.Th>
            <Table.Th scope="col">Heard of</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {replicas.map(({ name, serving, seen_at: seenAt }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={400} className="mono">
                {name}
              </Table.Th>
              <Table.Td>{serving ? 'yes' : 'not yet'}</Table.Td>
              <Table.Td>
                <Time at={seenAt} as="ago" />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
