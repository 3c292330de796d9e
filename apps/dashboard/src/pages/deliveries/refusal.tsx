/** Why a delivery was refused, and what its sender can do. */
import { Alert, Stack, Text } from '@mantine/core';
import type { Delivery } from './queries.ts';
import { HINTS, refusalWords } from './refusal-words.ts';

export function Refusal({ delivery }: { delivery: Delivery }) {
  const { refusal, refused_because: reason } = delivery;
  const hint = refusal?.hint === undefined ? undefined : HINTS[refusal.hint];
  return (
    <Stack gap="sm">
      <Alert color="red" title={delivery.outcome === 'Throttled' ? 'Why it has to come again' : 'Why it was refused'}>
        <Stack gap={4}>
          {refusalWords(delivery).map((sentence) => (
            <Text key={sentence} size="sm">
              {sentence}
            </Text>
          ))}
          {(refusal !== undefined || reason !== undefined) && (
            <Text size="xs" c="dimmed">
              {[refusal && `Check: ${refusal.check}`, reason && `reason: ${reason}`]
                .filter((part) => part !== undefined)
                .join(', ')}
            </Text>
          )}
        </Stack>
      </Alert>
      {hint !== undefined && (
        <Alert color="blue" title="A likely mistake">
          <Stack gap={4}>
            <Text size="sm">{hint.likely}</Text>
            <Text size="sm">
              <strong>The way out:</strong> {hint.wayOut}
            </Text>
          </Stack>
        </Alert>
      )}
    </Stack>
  );
}
