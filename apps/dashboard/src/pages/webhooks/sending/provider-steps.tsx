/** What to do at the provider so that its requests arrive and are believed. */
import { Anchor, Group, List, Stack, Text, Title } from '@mantine/core';
import { Fragment } from 'react';
import { CopyButton } from '../../../components/text/copy.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { setUpText, type Provider } from './providers.ts';
import { LocalAddressNotice } from '../local-address.tsx';
import { useSchemes, type Scheme } from '../../../api/webhooks.ts';

interface ProviderStepsProps {
  provider: Provider;
  url: string;
  /** Goes into the text that is copied, where it is known. */
  secret?: string;
  /** Where the secret is found stands beside, at the field that asks for it. */
  isSecretAsked?: boolean;
  /** Told when a text with the secret in it was copied. */
  onCopied?: () => void;
}

export function ProviderSteps({ provider, url, secret, isSecretAsked = false, onCopied }: ProviderStepsProps) {
  const scheme = useSchemes().data?.signature_schemes.find(({ id }) => id === provider.scheme);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5">
          At {provider.label}
        </Title>
        <CopyButton
          value={setUpText(provider, url, secret)}
          label="Copy the set-up text"
          onCopied={secret === undefined ? undefined : onCopied}
        />
      </Group>
      <LocalAddressNotice url={url} />
      <List type="ordered" size="sm" spacing={4}>
        {provider.steps.map((step) => (
          <List.Item key={step}>
            <Step text={step} url={url} />
          </List.Item>
        ))}
      </List>
      {!isSecretAsked && (
        <Text size="sm" c="dimmed">
          <b>Secret.</b> {provider.secretPlace}
        </Text>
      )}
      {provider.notes.map((note) => (
        <Text key={note} size="sm" c="dimmed">
          {note}
        </Text>
      ))}
      {scheme !== undefined && <SchemeFacts scheme={scheme} />}
    </Stack>
  );
}

function Step({ text, url }: { text: string; url: string }) {
  return text.split('{url}').map((part, index) => (
    <Fragment key={part}>
      {index > 0 && (
        <span className="mono">
          <UntrustedText>{url}</UntrustedText>
        </span>
      )}
      {part}
    </Fragment>
  ));
}

function SchemeFacts({ scheme }: { scheme: Scheme }) {
  const { timestamp_tolerance_seconds: seconds, signature_headers: headers, delivery_headers: ids } = scheme;
  return (
    <Text size="xs" c="dimmed">
      Signature in <span className="mono">{headers.join(', ')}</span>; delivery ID in{' '}
      {ids.length === 0 ? 'no header' : <span className="mono">{ids.join(', ')}</span>}
      {seconds === null ? '' : `; refused when signed more than ${Math.round(seconds / 60)} minutes ago or ahead`}.{' '}
      <Anchor href={scheme.documentation} target="_blank" rel="noreferrer" size="xs" underline="always">
        The scheme as its author describes it
      </Anchor>
    </Text>
  );
}
