/** What a run has made: files to download, plans to read, pull requests to go to. */
import { Anchor, Badge, Button, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiUrl, type Api } from '../../api/client.ts';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { Empty } from '../../components/lists/empty.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { Icon } from '../../components/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import { sizeText, Time } from '../../components/text/time.tsx';

type Artifact = Api<'ArtifactItem'>;

const KINDS: Readonly<Record<Artifact['artifact_type'], string>> = {
  FILE: 'File',
  PLAN: 'Plan',
  PULL_REQUEST: 'Pull request',
};
/** Plans of more bytes are for downloading. */
const READABLE_BYTES = 100_000;

export function Artifacts({ artifacts }: { artifacts: readonly Artifact[] }) {
  const [read, setRead] = useState<Artifact>();
  if (artifacts.length === 0)
    return <Empty title="No artifacts">Files that a run leaves in its folder for artifacts are kept here.</Empty>;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Artifacts">
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Kind</Table.Th>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col">Size</Table.Th>
            <Table.Th scope="col">Made</Table.Th>
            <Table.Th scope="col">Get it</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {artifacts.map((artifact) => (
            <Table.Tr key={artifact.artifact_uid}>
              <Table.Td>
                <Badge color="gray">{KINDS[artifact.artifact_type] ?? artifact.artifact_type}</Badge>
              </Table.Td>
              <Table.Td>
                <Text size="sm">
                  <UntrustedText>{nameOf(artifact)}</UntrustedText>
                </Text>
                {artifact.data.mime_type !== undefined && (
                  <Text size="xs" c="dimmed">
                    <UntrustedText>{artifact.data.mime_type}</UntrustedText>
                  </Text>
                )}
                {artifact.data.note !== undefined && (
                  <Text size="xs" c="dimmed">
                    {artifact.data.note}
                  </Text>
                )}
              </Table.Td>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>
                {artifact.data.size_bytes === undefined ? '—' : sizeText(artifact.data.size_bytes)}
              </Table.Td>
              <Table.Td>
                <Time at={artifact.created_at} />
              </Table.Td>
              <Table.Td>
                <Actions artifact={artifact} onRead={() => setRead(artifact)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {read !== undefined && (
        <Dialog title={nameOf(read)} onClose={() => setRead(undefined)} size="xl">
          <Content artifact={read} />
        </Dialog>
      )}
    </div>
  );
}

function nameOf({ data, artifact_uid: uid }: Artifact): string {
  return data.title ?? data.filename ?? data.branch ?? data.url ?? uid;
}

function addressOf({ artifact_uid: uid }: Artifact): string {
  return apiUrl(`agent/artifacts/${encodeURIComponent(uid)}/download`);
}

function Actions({ artifact, onRead }: { artifact: Artifact; onRead: () => void }) {
  const { artifact_type: type, data } = artifact;
  if (type === 'PULL_REQUEST')
    return data.url !== undefined && /^https?:\/\//i.test(data.url) ? (
      <Anchor href={data.url} target="_blank" rel="noreferrer noopener nofollow" size="sm">
        <UntrustedText>{data.url}</UntrustedText>
      </Anchor>
    ) : (
      <Text size="sm">
        <UntrustedText>{data.url ?? ''}</UntrustedText>
      </Text>
    );
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        component="a"
        href={addressOf(artifact)}
        download={data.filename ?? true}
        size="compact-sm"
        variant="default"
        leftSection={<Icon name="download" size={14} />}
        aria-label={`Download ${withHiddenNamed(nameOf(artifact))}`}
      >
        Download
      </Button>
      {type === 'PLAN' && (data.size_bytes ?? 0) <= READABLE_BYTES && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={onRead}
          aria-label={`Read ${withHiddenNamed(nameOf(artifact))}`}
        >
          Read
        </Button>
      )}
    </Group>
  );
}

function Content({ artifact }: { artifact: Artifact }) {
  const query = useQuery({
    queryKey: ['artifact', artifact.artifact_uid],
    queryFn: async ({ signal }) => {
      const answer = await fetch(addressOf(artifact), { credentials: 'same-origin', signal });
      if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
      return answer.text();
    },
    staleTime: Infinity,
  });
  return <QueryView query={query}>{(text) => <Markdown text={text} />}</QueryView>;
}
