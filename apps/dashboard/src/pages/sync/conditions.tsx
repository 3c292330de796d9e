/** Every condition of a factory, in the order of the API. */
import { Badge, Table, Text } from '@mantine/core';
import type { Api } from '../../api/client.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { Time } from '../../components/text/time.tsx';
import { CONDITION_TEXTS } from './labels.ts';

type Condition = Api<'Condition'>;

export function Conditions({ conditions }: { conditions: readonly Condition[] }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Conditions">
      <Table miw={680} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            {['Condition', 'Status', 'Reason', 'Message', 'Since'].map((label) => (
              <Table.Th key={label} scope="col">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {conditions.map((condition) => (
            <Table.Tr key={condition.type}>
              <Table.Th scope="row" maw={190}>
                {condition.type}
                <Text size="xs" c="dimmed" fw={400}>
                  {CONDITION_TEXTS[condition.type]}
                </Text>
              </Table.Th>
              <Table.Td miw={90}>
                <Badge color={colorOf(condition)}>{condition.status}</Badge>
              </Table.Td>
              <Table.Td maw={150} style={{ overflowWrap: 'anywhere' }}>
                <Text size="sm">{condition.reason}</Text>
              </Table.Td>
              <Table.Td maw={360}>
                <Text size="sm" component="div">
                  <UntrustedText>{condition.message}</UntrustedText>
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm">
                  <Time at={condition.since} as="ago" never="—" />
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Ready is good when it is True, all others when they are not; a pass under way is neither. */
function colorOf({ type, status }: Condition): string {
  if (status === 'Unknown') return 'gray';
  if (type === 'Reconciling') return status === 'True' ? 'blue' : 'gray';
  if ((type === 'Ready') === (status === 'True')) return type === 'Ready' ? 'teal' : 'gray';
  return type === 'Stalled' || type === 'DefinitionsInvalid' || type === 'PruneHeld' ? 'red' : 'orange';
}
