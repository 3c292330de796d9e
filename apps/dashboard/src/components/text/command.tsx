/** A command to copy, wrapped so that all of it is visible. */
import { Group, Text } from '@mantine/core';
import { CopyButton } from './copy.tsx';

interface CommandProps {
  title: string;
  /** Name of the text for those who do not see it. */
  label: string;
  command: string;
  onCopied?: () => void;
}

export function Command({ title, label, command, onCopied }: CommandProps) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <CopyButton value={command} label="Copy the command" onCopied={onCopied} />
      </Group>
      <pre className="mono" aria-label={label} style={{ margin: 0, whiteSpace: 'pre-wrap' }}>
        {command}
      </pre>
    </div>
  );
}
