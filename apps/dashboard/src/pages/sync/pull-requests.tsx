/** Open pull requests of a factory's repository: what each would do, and whether its forge has been told. */
import { Alert, Anchor, Badge, Stack, Table, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Api } from '../../api/client.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { ShowMore } from '../../components/lists/show-more.tsx';
import { PageAtForge } from '../../components/text/merged-pull-requests.tsx';
import { Time } from '../../components/text/time.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { VERDICT_COLORS } from './labels.ts';
import { usePullRequests } from './queries.ts';
import { Section } from './section.tsx';

type PullRequest = Api<'PullRequest'>;

const COLUMNS = ['Pull request', 'Verdict', 'Head', 'Plan'];

/** Only of a factory whose source names a forge. */
export function PullRequests({ factoryUid }: { factoryUid: string }) {
  const query = usePullRequests(factoryUid);
  return (
    <Section title="Pull requests">
      <QueryView query={query}>
        {({ pages }) => {
          const pulls = pages.flatMap((page) => page.pull_requests);
          const forge = pages.at(-1)?.forge ?? null;
          return (
            <Stack gap="sm">
              {forge !== null && <ForgeFault forge={forge} />}
              {pulls.length === 0 ? (
                <Text size="sm" c="dimmed">
                  No open pull requests
                </Text>
              ) : (
                <PullRequestTable factoryUid={factoryUid} pulls={pulls} />
              )}
              <ShowMore pages={query} what="pull requests" />
            </Stack>
          );
        }}
      </QueryView>
    </Section>
  );
}

/** Why the forge has less than is shown here. */
function ForgeFault({ forge: { kind, fault, message, retry_at: retryAt, waiting } }: { forge: Api<'ForgeStatus'> }) {
  if (fault === null) return null;
  return (
    <Alert color="orange" title={`${kind} takes no feedback: ${fault}`}>
      <Text size="sm" component="div">
        <UntrustedText>{message ?? ''}</UntrustedText>
      </Text>
      <Text size="sm" component="div" mt={4}>
        {waiting === 1 ? '1 post waits' : `${waiting} posts wait`}; none is lost
        {retryAt !== null && (
          <>
            . Asked again <Time at={retryAt} as="ago" />
          </>
        )}
        .
      </Text>
    </Alert>
  );
}

function PullRequestTable({ factoryUid, pulls }: { factoryUid: string; pulls: readonly PullRequest[] }) {
  return (
    <div className="scroll-x" role="group" tabIndex={0} aria-label="Open pull requests, newest first">
      <Table verticalSpacing="sm" miw={640}>
        <Table.Thead>
          <Table.Tr>
            {COLUMNS.map((label) => (
              <Table.Th key={label} scope="col">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {pulls.map((pull) => (
            <Row key={pull.number} factoryUid={factoryUid} pull={pull} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Row({ factoryUid, pull }: { factoryUid: string; pull: PullRequest }) {
  const { number, title, author, fork, verdict, description, posted, head, updated_at: updatedAt } = pull;
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} maw={320}>
        <PageAtForge pull={pull} />{' '}
        <Text span size="sm">
          <UntrustedText>{title}</UntrustedText>
        </Text>
        <Text size="xs" c="dimmed" component="div">
          <UntrustedText>{author}</UntrustedText>, <Time at={updatedAt} as="ago" />
          {fork && ', from a fork: judged without secrets and traffic'}
        </Text>
      </Table.Th>
      <Table.Td maw={320}>
        <Badge color={VERDICT_COLORS[verdict]} miw="max-content">
          {verdict}
        </Badge>
        {verdict !== 'pending' && !posted && (
          <Text span size="xs" ml={6}>
            not posted yet
          </Text>
        )}
        <Text size="sm" component="div" mt={4}>
          <UntrustedText>{description}</UntrustedText>
        </Text>
      </Table.Td>
      <Table.Td>
        <span className="mono">{head.slice(0, 12)}</span>
      </Table.Td>
      <Table.Td>
        <Anchor component={Link} to={`/factories/${factoryUid}/sync/plan?ref=pull%2F${number}`} size="sm">
          Plan of #{number}
        </Anchor>
      </Table.Td>
    </Table.Tr>
  );
}
