/** Badge of a webhook without a secret value. */
import { Badge } from '@mantine/core';

export function SecretUnsetBadge() {
  return (
    <Badge color="orange" miw="max-content">
      Secret not set
    </Badge>
  );
}
