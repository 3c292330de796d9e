/** Notice above an automation that has been deleted. */
import { Alert, Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

export function Gone({ factoryUid, children }: { factoryUid: string; children: ReactNode }) {
  return (
    <Alert color="orange" mb="md" role="alert" title="This automation was deleted">
      {children}{' '}
      <Anchor component={Link} to={`/factories/${factoryUid}/automations`} size="sm" underline="always">
        All automations
      </Anchor>
    </Alert>
  );
}
