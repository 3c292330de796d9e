/** How to configure a sender: a command, and the steps at the provider. */
import { Button, Collapse, Group, Paper, Select, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { ProviderSteps } from './provider-steps.tsx';
import { PROVIDERS, providerOfScheme } from './providers.ts';
import { ReadyCommand } from './ready-command.tsx';
import type { Webhook } from '../../../api/webhooks.ts';

export function HowToSend({ webhook }: { webhook: Webhook }) {
  const [isOpen, { toggle }] = useDisclosure();
  return (
    <div>
      <Button variant="default" size="compact-sm" onClick={toggle} aria-expanded={isOpen}>
        How to send to it
      </Button>
      <Collapse expanded={isOpen}>
        <Paper withBorder p="md" mt="xs" maw={820}>
          <Stack>
            {webhook.signature_scheme !== null && (
              <AtProvider scheme={webhook.signature_scheme} url={webhook.ingress_url} />
            )}
            <ReadyCommand webhook={webhook} />
          </Stack>
        </Paper>
      </Collapse>
    </div>
  );
}

/** Several providers may use one scheme; which one it is nobody wrote down. */
function AtProvider({ scheme, url }: { scheme: string; url: string }) {
  const candidates = PROVIDERS.filter((provider) => provider.scheme === scheme);
  const [id, setId] = useState<string | null>(null);
  const provider = candidates.find((candidate) => candidate.id === id) ?? providerOfScheme(scheme);
  return (
    <>
      {candidates.length > 1 && (
        <Group mb="sm">
          <Select
            label="Sender"
            data={candidates.map((candidate) => ({ value: candidate.id, label: candidate.label }))}
            value={provider.id}
            onChange={setId}
            allowDeselect={false}
          />
        </Group>
      )}
      <ProviderSteps provider={provider} url={url} />
    </>
  );
}
