/** Said of a webhook that nobody can authenticate to yet. */
import { Badge } from '@mantine/core';

export function SecretUnsetBadge() {
  return (
    <Badge color="orange" miw="max-content">
      Secret not set
    </Badge>
  );
}
