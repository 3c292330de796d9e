/** Shown on an edit conflict: what has changed since the form was opened. Nothing is overwritten. */
import { Alert, Button, Stack, Table, Text } from '@mantine/core';
import { UntrustedText } from '../text/untrusted-text.tsx';

/** A member that is different now, as people read it. */
export interface Difference {
  label: string;
  before: string;
  now: string;
}

interface EditConflictProps {
  /** Completes “Somebody else changed this …”. */
  what: string;
  differences?: readonly Difference[];
  said?: string;
  action?: string;
  onAction: () => void;
  /** Whether what is there now is not known yet. */
  isWaiting?: boolean;
}

const NOTHING_WAS_DONE = 'It was changed after you opened it. Your change was not made, and nothing was overwritten.';

export function EditConflict({
  what,
  differences = [],
  said = NOTHING_WAS_DONE,
  action = 'Go on from what is there now',
  onAction,
  isWaiting = false,
}: EditConflictProps) {
  return (
    <Alert color="orange" role="alert" title={`Somebody else changed this ${what}`}>
      <Stack gap="xs">
        <Text size="sm">{said}</Text>
        {differences.length > 0 && <Differences differences={differences} />}
        <Button size="xs" variant="default" w="max-content" onClick={onAction} disabled={isWaiting}>
          {action}
        </Button>
      </Stack>
    </Alert>
  );
}

function Differences({ differences }: { differences: readonly Difference[] }) {
  return (
    <Table withRowBorders={false} verticalSpacing={2} aria-label="What is different now">
      <Table.Thead>
        <Table.Tr>
          {['What', 'You saw', 'Now'].map((head) => (
            <Table.Th key={head} scope="col">
              {head}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {differences.map(({ label, before, now }) => (
          <Table.Tr key={label}>
            <Table.Th scope="row">{label}</Table.Th>
            <Table.Td>
              <UntrustedText>{before}</UntrustedText>
            </Table.Td>
            <Table.Td>
              <UntrustedText>{now}</UntrustedText>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
