/** Choosing the provider that signs, and giving its secret. */
import { Anchor, Button, Collapse, NativeSelect, PasswordInput, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { QueryView } from '../../../components/feedback/query-view.tsx';
import { providersOf, type Provider } from '../sending/providers.ts';
import { useSchemes } from '../../../api/webhooks.ts';

interface ProviderPickerProps {
  /** Identifier of the provider; empty: none. */
  value: string;
  onChange: (provider: string) => void;
  error?: string;
}

export function ProviderPicker({ value, onChange, error }: ProviderPickerProps) {
  return (
    <QueryView query={useSchemes()}>
      {({ signature_schemes: schemes, unavailable }) => (
        <Stack gap={4}>
          <NativeSelect
            label="Provider scheme"
            value={value}
            onChange={(event) => onChange(event.currentTarget.value)}
            error={error}
            required
            data={[
              { value: '', label: 'Choose who signs' },
              ...providersOf(schemes).map(({ id, label }) => ({ value: id, label })),
            ]}
          />
          <NotListed unavailable={unavailable} />
        </Stack>
      )}
    </QueryView>
  );
}

function NotListed({ unavailable }: { unavailable: readonly { id: string; reason: string }[] }) {
  const [isOpen, { toggle }] = useDisclosure();
  const [id, setId] = useState<string | null>(null);
  const reason = unavailable.find((scheme) => scheme.id === id)?.reason;
  return (
    <div>
      <Anchor component="button" type="button" size="sm" onClick={toggle} aria-expanded={isOpen}>
        My provider is not in the list
      </Anchor>
      <Collapse expanded={isOpen}>
        <Stack gap={4} mt={4}>
          <Select
            label="Known providers that are not served"
            placeholder="Type a name"
            data={unavailable.map((scheme) => scheme.id)}
            value={id}
            onChange={setId}
            searchable
            clearable
            nothingFoundMessage="Nothing is known of it"
          />
          {reason !== undefined && (
            <Text size="sm" role="status">
              <span className="mono">{id}</span> is not served: {reason}.
            </Text>
          )}
          <Text size="sm" c="dimmed">
            What can send a header of your choice can use a bearer token; what only takes an address, a URL token.
          </Text>
        </Stack>
      </Collapse>
    </div>
  );
}

interface ProviderSecretProps {
  provider: Provider;
  value: string;
  onChange: (secret: string) => void;
  /** Makes one up; only where the provider takes what it is given. */
  onMakeUp?: () => void;
  error?: string;
  requirement?: string;
  required?: boolean;
  label?: string;
}

export function ProviderSecretInput({
  provider,
  value,
  onChange,
  onMakeUp,
  error,
  requirement,
  required = false,
  label = 'Provider secret',
}: ProviderSecretProps) {
  return (
    <Stack gap={4}>
      <PasswordInput
        label={label}
        description={`${provider.secretPlace}${requirement === undefined ? '' : ` Here: ${requirement}.`}`}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
        aria-invalid={error === undefined ? undefined : true}
        required={required}
        autoComplete="new-password"
        spellCheck={false}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
      />
      {onMakeUp !== undefined && provider.secret === 'chosen' && (
        <Button variant="default" size="compact-sm" w="max-content" onClick={onMakeUp}>
          Generate one
        </Button>
      )}
    </Stack>
  );
}
