/** Shows a query: loading, the error with a retry, or its data, which stays during a refetch. */
import { Anchor } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { isGone } from '../../api/problems.ts';
import { Loading } from '../lists/empty.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface QueryViewProps<Thing> {
  query: UseQueryResult<Thing>;
  /** Where to go from something that is not there. */
  above?: { label: string; to: string };
  children: (thing: Thing) => ReactNode;
}

export function QueryView<Thing>({ query, above, children }: QueryViewProps<Thing>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error === null) return <Loading />;
  if (above === undefined || !isGone(query.error))
    return <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <>
      <ProblemAlert error={query.error} mb="md" />
      <Anchor component={Link} to={above.to}>
        {above.label}
      </Anchor>
    </>
  );
}
