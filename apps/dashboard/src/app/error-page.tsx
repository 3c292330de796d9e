/** Shown where a page fails to load or does not exist. */
import { Button, Code, Stack, Text } from '@mantine/core';
import { Link, useRouteError } from 'react-router';
import { PageTitle } from '../components/page-title.tsx';

/** A page that failed: after an upgrade its files may be gone, which asking anew mends. */
export function BrokenPage() {
  const error = useRouteError();
  return (
    <Stack p="md" role="alert">
      <PageTitle>This page could not be shown</PageTitle>
      <Text>
        Nothing was changed by this. If the service was upgraded a moment ago, loading the page again mends it.
      </Text>
      <Code block>{error instanceof Error ? error.message : 'unknown fault'}</Code>
      <Button w="max-content" onClick={() => globalThis.location.reload()}>
        Load again
      </Button>
    </Stack>
  );
}

export function NotFound() {
  return (
    <Stack>
      <PageTitle>There is no such page</PageTitle>
      <Text>The address may be mistyped, or what it named is gone.</Text>
      <Button component={Link} to="/factories" w="max-content">
        All factories
      </Button>
    </Stack>
  );
}
