/** Loads the next page of a list, or shows why that failed. */
import { Button } from '@mantine/core';
import { ProblemAlert } from '../feedback/problem-alert.tsx';

/** What an infinite query knows of its next page. */
export interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => Promise<unknown>;
}

/** `what`: completes “Show more …”. */
export function ShowMore({ pages, what = '' }: { pages: Paged; what?: string }) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = pages;
  const fetchMore = (): void => void fetchNextPage();
  if (isFetchNextPageError) return <ProblemAlert mt="sm" error={error} onRetry={fetchMore} />;
  if (!hasNextPage) return null;
  return (
    <Button mt="sm" variant="default" size="xs" w="max-content" loading={isFetchingNextPage} onClick={fetchMore}>
      {`Show more ${what}`.trimEnd()}
    </Button>
  );
}
