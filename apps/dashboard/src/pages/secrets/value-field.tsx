/**
 * Where the value of a secret is typed: hidden, or open on several lines. It lives in the dialog around it and nowhere
 * else.
 */
import { Checkbox, Group, PasswordInput, Stack, Text, Textarea } from '@mantine/core';
import { oddityOf, valueOf } from './value.ts';

interface TypedValue {
  text: string;
  isMultiline: boolean;
  isNewlineKept: boolean;
}

export const NOTHING_TYPED: TypedValue = { text: '', isMultiline: false, isNewlineKept: false };

/** What is sent of it; undefined where nothing was typed. */
export function typedValue({ text, isMultiline, isNewlineKept }: TypedValue): string | undefined {
  const value = valueOf(text, isMultiline && isNewlineKept);
  return value === '' ? undefined : value;
}

interface ValueFieldProps {
  label: string;
  description: string;
  value: TypedValue;
  onChange: (value: TypedValue) => void;
  error: string | undefined;
  required?: boolean;
}

export function ValueField({ label, description, value, onChange, error, required }: ValueFieldProps) {
  const common = {
    label,
    description,
    error,
    required,
    value: value.text,
    maxLength: 65_536,
    autoComplete: 'off',
    spellCheck: false,
    onChange: (event: { currentTarget: { value: string } }) => onChange({ ...value, text: event.currentTarget.value }),
  };
  const oddity = oddityOf(typedValue(value) ?? '');
  return (
    <Stack gap={6}>
      {value.isMultiline ? (
        <Textarea {...common} autosize minRows={4} maxRows={12} classNames={{ input: 'mono' }} />
      ) : (
        <PasswordInput
          {...common}
          aria-invalid={error === undefined ? undefined : true}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show the value' }}
        />
      )}
      <Group gap="md">
        <Checkbox
          label="Several lines"
          checked={value.isMultiline}
          onChange={(event) => onChange({ ...value, isMultiline: event.currentTarget.checked })}
        />
        {value.isMultiline && (
          <Checkbox
            label="Keep the final newline"
            checked={value.isNewlineKept}
            onChange={(event) => onChange({ ...value, isNewlineKept: event.currentTarget.checked })}
          />
        )}
      </Group>
      {value.isMultiline && (
        <Text size="xs" c="dimmed">
          Lines end with a line feed.{' '}
          {value.isNewlineKept
            ? 'A final one is part of the value.'
            : 'One final newline is not part of the value, as with the command line.'}
        </Text>
      )}
      <Text size="sm" role="status">
        {oddity}
      </Text>
    </Stack>
  );
}
