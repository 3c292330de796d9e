/** A secret that the server returns once: it lives in the memory of this page only. */
import { Alert, Stack, Text } from '@mantine/core';
import { Copyable } from '../../components/text/copy.tsx';
import type { Webhook } from '../../api/webhooks.ts';
import { ReadyCommand } from './sending/ready-command.tsx';

export interface Shown {
  /** Generated here or in the page; absent when it was supplied and need not be said again. */
  secret?: string;
  /** Full URL of a `url_token` webhook. */
  url?: string;
}

interface OnceShownProps {
  webhook: Webhook;
  shown: Shown;
  /** Told when it was copied: by a button, or by hand. */
  onCopied?: () => void;
}

export function OnceShown({ webhook, shown: { secret, url }, onCopied }: OnceShownProps) {
  return (
    <Stack onCopy={onCopied}>
      {(secret !== undefined || url !== undefined) && (
        <Alert color="orange" title="Shown this once">
          {url === undefined
            ? 'Copy the secret now. It cannot be shown again; a lost one is replaced by “Rotate secret”.'
            : 'Copy the URL now, and treat it as a secret: whoever has it can send. It cannot be shown again; a ' +
              'lost one is replaced by “Rotate secret”.'}
        </Alert>
      )}
      {url === undefined ? (
        <Value label="Ingress URL" value={webhook.ingress_url} what="the ingress URL" />
      ) : (
        <Value label="Ingress URL with its secret" value={url} what="the URL" onCopied={onCopied} />
      )}
      {secret !== undefined && url === undefined && (
        <Value label="Secret" value={secret} what="the secret" onCopied={onCopied} />
      )}
      <ReadyCommand
        webhook={webhook}
        secret={secret}
        onCopied={webhook.auth_mode === 'signature' ? undefined : onCopied}
      />
    </Stack>
  );
}

function Value({ label, ...rest }: { label: string; value: string; what: string; onCopied?: () => void }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {label}
      </Text>
      <Copyable {...rest} />
    </div>
  );
}
