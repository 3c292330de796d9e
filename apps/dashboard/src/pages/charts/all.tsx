/** Charts of all factories that one may see, or of one of them. */
import { Group, Stack } from '@mantine/core';
import { DeliveriesChart, RunsChart, StartLatencyChart } from '../../charts/index.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { useFactories } from '../../api/factories.ts';
import { Picker } from './picker.tsx';
import { RangePicker, useChoices, useSpan } from './range.tsx';

export function ChartsPage() {
  const [chosen] = useChoices();
  const scope = { factoryUid: chosen('factory_uid') ?? undefined, hours: useSpan().hours };
  return (
    <>
      <PageTitle>Charts</PageTitle>
      <Stack>
        <Group align="flex-end" justify="space-between">
          <Picker name="factory_uid" label="Factory" all="All factories" things={useFactories().data ?? []} />
          <RangePicker />
        </Group>
        <DeliveriesChart {...scope} />
        <RunsChart {...scope} />
        <StartLatencyChart {...scope} />
      </Stack>
    </>
  );
}
