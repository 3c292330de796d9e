/** Input of a run: its prompt with the envelope of the delivery, and the payload. */
import { Stack, Text, Title } from '@mantine/core';
import { PayloadView } from '../deliveries/payload.tsx';
import type { Api } from '../../api/client.ts';
import type { Run } from './run.ts';
import { Verbatim } from './verbatim.tsx';

export function Input({ run, explanation }: { run: Run; explanation: Api<'Explanation'> | undefined }) {
  const { delivery, webhook, factory_uid: factoryUid } = explanation ?? {};
  const base = run.agent_config.base_prompt;
  return (
    <Stack gap="md">
      <section aria-label="Prompt">
        <Title order={2} size="h5" mb={4}>
          Prompt
        </Title>
        {run.source === 'CUSTOM_WEBHOOK' && (
          <Text size="sm" c="dimmed" mb={4}>
            The text of the automation, and the envelope: what came, as the agent is told.
          </Text>
        )}
        <Verbatim text={run.prompt} label="Prompt" maxHeight={420} />
      </section>
      {run.submitted_prompt !== run.prompt && (
        <section aria-label="Submitted prompt">
          <Title order={2} size="h5" mb={4}>
            Submitted prompt, with what was joined to it
          </Title>
          <Verbatim text={run.submitted_prompt} label="Submitted prompt" maxHeight={420} />
        </section>
      )}
      {base !== undefined && base !== '' && (
        <section aria-label="Base prompt">
          <Title order={2} size="h5" mb={4}>
            Base prompt of the configuration
          </Title>
          <Verbatim text={base} label="Base prompt" />
        </section>
      )}
      {delivery != null && webhook != null && factoryUid != null && (
        <section aria-label="Payload">
          <Title order={2} size="h5" mb={4}>
            Payload of the delivery
          </Title>
          <PayloadView factoryUid={factoryUid} webhookUid={webhook.uid} entryId={delivery.entry_id} />
        </section>
      )}
    </Stack>
  );
}
