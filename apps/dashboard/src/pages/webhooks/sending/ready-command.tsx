/** A command that sends one delivery, with a note on sending it again. */
import { Stack, Text } from '@mantine/core';
import { Command } from '../../../components/text/command.tsx';
import type { Webhook } from '../../../api/webhooks.ts';
import { curlOf } from './curl.ts';

export function ReadyCommand({
  webhook,
  secret,
  onCopied,
}: {
  webhook: Webhook;
  secret?: string;
  onCopied?: () => void;
}) {
  const command = curlOf(webhook, secret);
  if (command === undefined) return null;
  return (
    <Stack gap={6}>
      <Command title="Send a delivery" label="Command that sends a delivery" command={command} onCopied={onCopied} />
      <Text size="sm" c="dimmed">
        The time in the body makes it another delivery each second. The same delivery ID again, or without one the same
        body, is a duplicate: it is answered with 202 as well, and starts nothing.
      </Text>
      {webhook.auth_mode === 'signature' && (
        <Text size="sm" c="dimmed">
          It asks for the secret, which is then in no history of the shell; while openssl runs, whoever is on the same
          machine can see it among the processes.
        </Text>
      )}
    </Stack>
  );
}
