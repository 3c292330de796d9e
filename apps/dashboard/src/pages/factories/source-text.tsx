/** Where the definitions of a factory come from, in a line or two. */
import { Text } from '@mantine/core';
import type { Api } from '../../api/client.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { sourceKindOf } from '../../api/source-kinds.ts';

export function SourceText({ source }: { source: Api<'FactorySource'> }) {
  const { label, linesOf } = sourceKindOf(source);
  const lines = linesOf(source);
  return lines === undefined ? <Text size="sm">{label}</Text> : <Lines {...lines} />;
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
