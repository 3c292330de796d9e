/** Tests of a filter on stored deliveries: one, the last fifty, or a filter from samples. */
import { Paper, Tabs, Text } from '@mantine/core';
import { MakeFilter } from './make-filter.tsx';
import { TestAll } from './test-all.tsx';
import { TestOne } from './test-one.tsx';

export interface FilterTestsProps {
  factoryUid: string;
  webhookUids: readonly string[];
  /** JSON text. */
  filter: string;
  /** Puts another filter in its place; absent where nobody may. */
  onFilter?: (filter: string) => void;
  /** Told which key failed, as a pointer into the filter; undefined: none. */
  onFailing: (pointer: string | undefined) => void;
}

export function FilterTests({ filter, ...rest }: FilterTestsProps) {
  const value = filterValue(filter);
  return (
    <Paper withBorder p="sm">
      <Tabs defaultValue="one">
        <Tabs.List aria-label="Ways to test the filter">
          <Tabs.Tab value="one">One delivery</Tabs.Tab>
          <Tabs.Tab value="all">The last 50</Tabs.Tab>
          {rest.onFilter !== undefined && <Tabs.Tab value="make">Create a filter from deliveries</Tabs.Tab>}
        </Tabs.List>
        {(['one', 'all'] as const).map((name) => (
          <Tabs.Panel key={name} value={name} pt="sm">
            {value === undefined ? (
              <Text size="sm">The filter is no JSON yet.</Text>
            ) : name === 'one' ? (
              <TestOne {...rest} filter={value.filter} key={filter} />
            ) : (
              <TestAll {...rest} filter={value.filter} key={filter} />
            )}
          </Tabs.Panel>
        ))}
        <Tabs.Panel value="make" pt="sm">
          <MakeFilter {...rest} filter={filter} />
        </Tabs.Panel>
      </Tabs>
    </Paper>
  );
}

/** Undefined for what is no JSON; blank takes every delivery, as the absent filter does. */
function filterValue(text: string): { filter: unknown } | undefined {
  if (text.trim() === '') return { filter: {} };
  try {
    return { filter: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
