/** The lists of runs, of all factories and of one. Filters are held in the URL. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { useMay } from '../../../api/session.tsx';
import { Empty } from '../../../components/lists/empty.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { useFactory } from '../../factories/frame.tsx';
import { FilterBar } from './filter-bar.tsx';
import { chosen, orderOnly, queryOf } from './filters.ts';
import { StartRun } from '../start-run.tsx';
import { RunTable } from './table.tsx';

export function RunListPage() {
  return <RunList title="Runs" />;
}

export function FactoryRunsPage() {
  const { uid, name } = useFactory();
  return <RunList title={`Runs of ${name}`} factoryUid={uid} />;
}

function RunList({ title, factoryUid }: { title: string; factoryUid?: string }) {
  const [params, setParams] = useSearchParams();
  const [isStarting, start] = useDisclosure();
  const mayStart = useMay('operator');
  const address = params.toString();
  const query = useMemo(() => queryOf(new URLSearchParams(address), factoryUid), [address, factoryUid]);
  const isNarrowed = chosen(params).length > 0;
  const nothing = isNarrowed ? (
    <Empty title="No run matches">
      Take a filter away, or{' '}
      <Button variant="subtle" size="compact-sm" onClick={() => setParams(orderOnly(params))}>
        clear all filters
      </Button>
    </Empty>
  ) : (
    <Empty title="There are no runs yet">
      A run starts when a delivery comes to a webhook that an automation waits for, on a schedule, or by hand.
    </Empty>
  );
  return (
    <>
      <PageTitle actions={mayStart ? <Button onClick={start.open}>Start a run</Button> : undefined}>{title}</PageTitle>
      <FilterBar factoryUid={factoryUid} />
      <RunTable key={address} query={query} withFactory={factoryUid === undefined} empty={nothing} />
      {isStarting && <StartRun factoryUid={factoryUid} onClose={start.close} />}
    </>
  );
}
