/** Empty state of a list: what would be here, and how to create it. */
import { Center, Loader, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="xs">
        <Text fw={600}>{title}</Text>
        {children !== undefined && (
          <Text size="sm" c="dimmed" component="div" ta="center">
            {children}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

export function Loading() {
  return (
    <Center p="xl">
      <Loader aria-label="Loading" />
    </Center>
  );
}
