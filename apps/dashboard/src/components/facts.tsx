/** Pairs of a name and what it is, as a description list. */
import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode] | false)[] }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 1, sm: 2, lg: 3 }} m={0} verticalSpacing="sm">
      {facts
        .filter((fact) => fact !== false)
        .map(([name, value]) => (
          <div key={name}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" size="sm" m={0}>
              {value}
            </Text>
          </div>
        ))}
    </SimpleGrid>
  );
}
