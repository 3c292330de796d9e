/** The audit trail: every change, who made it, and from where. */
import { useMemo, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { Empty, Loading } from '../../components/lists/empty.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { FilterBar } from './filter-bar.tsx';
import { AuditTable } from './table.tsx';
import { filterOf, useTrail } from './trail.ts';

export function AuditPage() {
  const address = useSearchParams()[0].toString();
  const filter = useMemo(() => filterOf(new URLSearchParams(address)), [address]);
  return (
    <>
      <PageTitle>Audit trail</PageTitle>
      <FilterBar />
      <Trail key={address} filter={filter} />
    </>
  );
}

function Trail({ filter }: { filter: ReturnType<typeof filterOf> }) {
  const box = useRef<HTMLDivElement>(null);
  const trail = useTrail(filter, () => (box.current?.scrollTop ?? 0) > 0);
  if (trail.data === undefined)
    return trail.error === null ? (
      <Loading />
    ) : (
      <ProblemAlert error={trail.error} onRetry={() => void trail.refetch()} />
    );
  if (trail.data.pages[0]?.entries.length === 0)
    return (
      <Empty title={Object.keys(filter).length === 0 ? 'Nothing was changed yet' : 'No change matches'}>
        Each change is written down together with what it changes.
      </Empty>
    );
  return <AuditTable trail={trail} box={box} />;
}
