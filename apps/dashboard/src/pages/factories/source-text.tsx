/** Where the definitions of a factory come from, in a line or two. */
import { Text } from '@mantine/core';
import type { Api } from '../../api/client.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';

export function SourceText({ source }: { source: Api<'FactorySource'> }) {
  if (source.kind === 'dashboard') return <Text size="sm">Managed here</Text>;
  if (source.kind === 'directory') return <Lines what={source.path ?? ''} detail="folder of the server" />;
  const parts = [
    source.branch === undefined ? 'default branch' : `branch ${source.branch}`,
    ...(source.path === undefined ? [] : [`folder ${source.path}`]),
  ];
  return <Lines what={source.url ?? ''} detail={parts.join(', ')} />;
}

function Lines({ what, detail }: { what: string; detail: string }) {
  return (
    <>
      <span className="mono">
        <UntrustedText>{what}</UntrustedText>
      </span>
      <Text size="xs" c="dimmed" component="div">
        <UntrustedText>{detail}</UntrustedText>
      </Text>
    </>
  );
}
