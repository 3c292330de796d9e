/** Copies to the clipboard, also where the browser offers no API (plain HTTP from another machine). */
import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { UntrustedText } from './untrusted-text.tsx';
import { Icon } from '../icon.tsx';

/** Answers whether it was copied. */
async function copy(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    return copyByHand(value);
  }
}

function copyByHand(value: string): boolean {
  const area = document.createElement('textarea');
  area.value = value;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  (document.querySelector('dialog[open], [role="dialog"]') ?? document.body).append(area);
  area.select();
  // The one way that is left there.
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

function useCopy(value: string, onCopied?: () => void): { said: string; start: () => void } {
  const [said, setSaid] = useState('');
  const start = (): void => {
    void copy(value).then((done) => {
      if (done) onCopied?.();
      setSaid(done ? 'Copied' : 'Not copied: select the text');
      setTimeout(() => setSaid(''), 2_000);
    });
  };
  return { said, start };
}

export function CopyButton({ value, label, onCopied }: { value: string; label: string; onCopied?: () => void }) {
  const { said, start } = useCopy(value, onCopied);
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={start}
        leftSection={<Icon name={said === 'Copied' ? 'check' : 'copy'} size={14} />}
      >
        {said === '' ? label : said}
      </Button>
      <span className="visually-hidden" role="status">
        {said}
      </span>
    </>
  );
}

interface CopyableProps {
  value: string;
  /** Completes “Copy …”. */
  what: string;
  mono?: boolean;
  /** Shown instead of the value. */
  children?: ReactNode;
  onCopied?: () => void;
}

/** A value with a button beside it. */
export function Copyable({
  value,
  what,
  mono = true,
  children = <UntrustedText>{value}</UntrustedText>,
  onCopied,
}: CopyableProps) {
  const { said, start } = useCopy(value, onCopied);
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Text span size="sm" className={mono ? 'mono' : undefined}>
        {children}
      </Text>
      <ActionIcon
        variant="subtle"
        size="sm"
        onClick={start}
        aria-label={`Copy ${what}`}
        title={said === '' ? `Copy ${what}` : said}
      >
        <Icon name={said === 'Copied' ? 'check' : 'copy'} size={14} />
      </ActionIcon>
      <span className="visually-hidden" role="status">
        {said}
      </span>
    </Group>
  );
}
