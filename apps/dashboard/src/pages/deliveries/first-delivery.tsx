/** What stands in an empty log: how a first delivery comes. */
import { Stack, Text } from '@mantine/core';
import type { Api } from '../../api/client.ts';
import { CopyButton } from '../../components/text/copy.tsx';
import { Empty } from '../../components/lists/empty.tsx';
import { curlOf } from '../webhooks/sending/curl.ts';

export function FirstDelivery({ webhook }: { webhook: Api<'Webhook'> }) {
  const command = curlOf(webhook);
  return (
    <Empty title="Nothing was delivered yet">
      <Stack gap="xs" align="center">
        {!webhook.enabled && (
          <Text size="sm">The webhook is disabled: it answers 404 and logs nothing until it is enabled.</Text>
        )}
        {command === undefined ? (
          <Text size="sm">
            Save the URL and the secret at your provider and let it send a test event: it appears here within seconds.
          </Text>
        ) : (
          <>
            <Text size="sm">Send one with the webhook’s secret: it appears here within seconds.</Text>
            <pre
              className="mono foreign scroll-x"
              tabIndex={0}
              aria-label="Command that sends a first delivery"
              style={{ margin: 0, textAlign: 'start', maxWidth: '100%' }}
            >
              {command}
            </pre>
            <CopyButton value={command} label="Copy the command" />
          </>
        )}
      </Stack>
    </Empty>
  );
}
