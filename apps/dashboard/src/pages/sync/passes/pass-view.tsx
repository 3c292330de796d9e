/** All details of one pass. */
import { Alert, Badge, Stack, Table, Text } from '@mantine/core';
import { Facts } from '../../../components/facts.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { durationText, Time } from '../../../components/text/time.tsx';
import { ChangeList } from '../plan/changes.tsx';
import { ProblemList, problemCount } from '../problems.tsx';
import type { Sync } from '../queries.ts';
import { RevisionText } from '../../../components/text/revision-text.tsx';
import { Section } from '../section.tsx';
import { ENDING_COLORS, TRIGGERS } from '../labels.ts';

export function EndingBadge({ ending }: { ending: string }) {
  return (
    <Badge color={ENDING_COLORS[ending] ?? 'gray'} miw="max-content">
      {ending}
    </Badge>
  );
}

export function triggerText(triggers: Sync['triggers']): string {
  return triggers.map((trigger) => TRIGGERS[trigger]).join(', ');
}

export function PassView({ factoryUid, sync }: { factoryUid: string; sync: Sync }) {
  const { changes, held, problems, timings, rewritten_from: rewrittenFrom } = sync;
  return (
    <Stack>
      {sync.message !== null && (
        <Alert color={ENDING_COLORS[sync.ending]} title={sync.reason ?? sync.ending}>
          <UntrustedText>{sync.message}</UntrustedText>
        </Alert>
      )}
      <Facts
        facts={[
          [
            'Revision',
            <RevisionText
              key="revision"
              factoryUid={factoryUid}
              revision={sync.revision}
              what="revision"
              none="none could be read"
            />,
          ],
          ['Asked for by', triggerText(sync.triggers)],
          ['Started', <Time key="started" at={sync.started_at} />],
          ['Ended', <Time key="ended" at={sync.finished_at} />],
          ['Took', durationText(timings['total_ms'] ?? 0)],
          ['Commits in between that never applied by themselves', String(sync.superseded)],
          rewrittenFrom !== null && [
            'History was rewritten; the branch held before',
            <RevisionText key="rewritten" factoryUid={factoryUid} revision={rewrittenFrom} what="revision before" />,
          ],
          sync.plan !== null && [
            'Digest that an approval names',
            <span key="plan" className="mono">
              {sync.plan}
            </span>,
          ],
        ]}
      />
      {problems.length > 0 && (
        <Section title={`Problems: ${problemCount(problems)}`}>
          <ProblemList problems={problems} />
        </Section>
      )}
      {held.length > 0 && (
        <Section title={`Deletions that were held back: ${held.length}`}>
          <ChangeList factoryUid={factoryUid} changes={held} label="Deletions that were held back" linked={false} />
        </Section>
      )}
      <Section title={`Changes: ${changes.length}`}>
        {changes.length === 0 ? (
          <Text size="sm" c="dimmed">
            {sync.ending === 'applied' ? 'No definition changed.' : 'Nothing was applied.'}
          </Text>
        ) : (
          <ChangeList factoryUid={factoryUid} changes={changes} label="Changes that were applied" linked />
        )}
      </Section>
      {stepsOf(timings).length > 0 && (
        <Section title="Time by step">
          <Timings timings={timings} />
        </Section>
      )}
    </Stack>
  );
}

function stepsOf(timings: Sync['timings']): [name: string, ms: number][] {
  return Object.entries(timings).filter(([name]) => name !== 'total_ms');
}

/** A bar for each step; the number says the same. */
function Timings({ timings }: { timings: Sync['timings'] }) {
  const total = timings['total_ms'] ?? 0;
  return (
    <Table withRowBorders={false} verticalSpacing={2} layout="fixed" aria-label="Time by step">
      <Table.Tbody>
        {stepsOf(timings).map(([name, ms]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400} w={140}>
              <Text size="sm">{name.replace(/_ms$/, '').replaceAll('_', ' ')}</Text>
            </Table.Th>
            <Table.Td>
              <div
                aria-hidden="true"
                style={{
                  height: 8,
                  minWidth: 2,
                  borderRadius: 4,
                  width: `${total === 0 ? 0 : Math.min(100, (100 * ms) / total)}%`,
                  background: 'var(--mantine-color-blue-filled)',
                }}
              />
            </Table.Td>
            <Table.Td w={90}>
              <Text size="sm">{durationText(ms)}</Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
