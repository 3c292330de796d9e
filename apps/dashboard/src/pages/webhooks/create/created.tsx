/** A created webhook: its address and secret, shown once, with the next steps or what is missing. */
import { Alert, Button, Divider, Group, Paper, Stack } from '@mantine/core';
import { useCallback, useRef, useState } from 'react';
import { Link } from 'react-router';
import { UnsavedChangesDialog } from '../../../components/dialogs/leave-anyway.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { FinishSetUp } from './finish.tsx';
import { OnceShown, type Shown } from '../secret-shown-once.tsx';
import { ProviderSteps } from '../sending/provider-steps.tsx';
import type { Provider } from '../sending/providers.ts';
import { useSeenWebhook, type SeenWebhook } from '../../../api/webhooks.ts';

export interface Created {
  seen: SeenWebhook;
  /** Who signs, in signature mode. */
  provider: Provider | undefined;
  shown: Shown;
}

export function CreatedWebhook({
  factoryUid,
  created: { seen: first, provider, shown },
}: {
  factoryUid: string;
  created: Created;
}) {
  const made = first.body;
  const [finished, setFinished] = useState(made.secret_set ? shown : undefined);
  const isFinished = finished !== undefined;
  const isCopied = useRef(false);
  const copied = (): void => void (isCopied.current = true);
  const isOnce = finished?.secret !== undefined || finished?.url !== undefined;
  const isLoss = useCallback(() => isOnce && !isCopied.current, [isOnce]);
  const page = `/factories/${factoryUid}/webhooks/${made.uid}`;
  const now = useSeenWebhook(factoryUid, made.uid).data ?? first;
  return (
    <section
      key={isFinished ? 'ready' : 'waiting'}
      ref={takeFocus}
      tabIndex={-1}
      aria-label="The webhook was created"
      style={{ outline: 'none' }}
    >
      <PageTitle above={[{ label: 'Webhooks', to: `/factories/${factoryUid}/webhooks` }]}>
        {isFinished ? `${made.name} is ready` : 'Finish webhook set-up'}
      </PageTitle>
      <Paper withBorder p="md" maw={820}>
        <Stack>
          {isFinished && !now.body.enabled && (
            <Alert color="gray">It is disabled: senders get 404 until it is enabled.</Alert>
          )}
          {isFinished ? (
            <OnceShown webhook={made} shown={finished} onCopied={copied} />
          ) : (
            <FinishSetUp factoryUid={factoryUid} seen={now} provider={provider} onFinished={setFinished} />
          )}
          {isFinished && provider !== undefined && (
            <>
              <Divider />
              <ProviderSteps provider={provider} url={made.ingress_url} secret={finished.secret} onCopied={copied} />
            </>
          )}
          <Group justify="flex-end">
            <Button component={Link} to={page} variant={isFinished ? 'filled' : 'default'}>
              {isFinished ? 'Done: open the webhook' : 'Finish later'}
            </Button>
          </Group>
        </Stack>
      </Paper>
      <UnsavedChangesDialog title="Leave without a copy?" isLoss={isLoss} onward={page}>
        What is shown here this once was not copied, and cannot be shown again.
      </UnsavedChangesDialog>
    </section>
  );
}

/** A page that became another one is read from its beginning. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
