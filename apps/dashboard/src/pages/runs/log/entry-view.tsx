/** One entry of a run's log. */
import { Badge, Box, Group, Text, UnstyledButton } from '@mantine/core';
import { memo } from 'react';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Markdown } from '../../../components/markdown/markdown.tsx';
import { RunStateBadge } from '../../../components/feedback/states.tsx';
import { Time } from '../../../components/text/time.tsx';
import type { Entry } from './entries.ts';
import { Steps } from './plan.tsx';
import { STATES, type RunState } from '../run.ts';
import { Verbatim } from '../verbatim.tsx';

type Kind<Name extends Entry['kind']> = Extract<Entry, { kind: Name }>;

interface EntryViewProps {
  entry: Entry;
  isOpen: boolean;
  onToggle: (seq: number) => void;
}

export const EntryView = memo(function EntryView({ entry, isOpen, onToggle }: EntryViewProps) {
  return (
    <Box px="sm" py={6} style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}>
      <Group justify="space-between" wrap="nowrap" gap="xs" align="flex-start">
        <Box style={{ minWidth: 0, flex: 1 }}>
          <Content entry={entry} isOpen={isOpen} onToggle={onToggle} />
        </Box>
        <Text size="xs" c="dimmed" visibleFrom="xs" style={{ whiteSpace: 'nowrap' }}>
          <Time at={entry.at} />
        </Text>
      </Group>
    </Box>
  );
});

function Content({ entry, isOpen, onToggle }: EntryViewProps) {
  switch (entry.kind) {
    case 'text':
      return <Said entry={entry} />;
    case 'tool':
      return <ToolCall entry={entry} isOpen={isOpen} onToggle={onToggle} />;
    case 'plan':
      return (
        <>
          <Label>Plan</Label>
          <Steps steps={entry.steps} />
        </>
      );
    case 'permission':
      return (
        <>
          <Label>Permission</Label>
          <Text size="sm">
            <UntrustedText>{entry.title}</UntrustedText>
            {entry.text !== undefined && (
              <Text span size="sm" c="dimmed">
                {' '}
                · <UntrustedText>{entry.text}</UntrustedText>
              </Text>
            )}
            {entry.answer !== undefined && (
              <>
                {' '}
                · answered{' '}
                <span className="mono">
                  <UntrustedText>{entry.answer}</UntrustedText>
                </span>
              </>
            )}
          </Text>
        </>
      );
    case 'status':
      return <Status entry={entry} />;
  }
}

function Label({ children }: { children: string }) {
  return (
    <Text size="xs" fw={600} c="dimmed">
      {children}
    </Text>
  );
}

const SAID: Readonly<Record<string, string>> = {
  message: 'Agent',
  thought: 'Thought',
  stdout: 'Output',
  stderr: 'Errors',
};

function Said({ entry: { type, text } }: { entry: Kind<'text'> }) {
  return (
    <>
      <Label>{SAID[type] ?? type}</Label>
      {type === 'message' ? (
        <Markdown text={text} />
      ) : type === 'thought' ? (
        <Text size="sm" c="dimmed" fs="italic">
          <UntrustedText>{text}</UntrustedText>
        </Text>
      ) : (
        <Verbatim text={text} label={SAID[type] ?? type} maxHeight={null} />
      )}
    </>
  );
}

const CALLS: Readonly<Record<string, { color: string; word: string }>> = {
  pending: { color: 'gray', word: 'waits' },
  in_progress: { color: 'blue', word: 'at work' },
  completed: { color: 'teal', word: 'done' },
  failed: { color: 'red', word: 'failed' },
};

function ToolCall({ entry, isOpen, onToggle }: EntryViewProps & { entry: Kind<'tool'> }) {
  const { seq, title, tool, status, input, output, paths } = entry;
  const state = CALLS[status ?? ''];
  return (
    <>
      <UnstyledButton onClick={() => onToggle(seq)} aria-expanded={isOpen} w="100%">
        <Group gap={6} wrap="nowrap">
          <Icon name={isOpen ? 'down' : 'right'} size={14} />
          <Badge color="gray">{tool ?? 'tool'}</Badge>
          <Text span size="sm" className="mono" truncate style={{ flex: 1, minWidth: 0 }}>
            <UntrustedText>{title.slice(0, 400)}</UntrustedText>
          </Text>
          {state !== undefined && <Badge color={state.color}>{state.word}</Badge>}
        </Group>
      </UnstyledButton>
      {isOpen && (
        <Box mt={6}>
          {title.length > 60 && <Verbatim text={title} label="What the call does" />}
          {paths.length > 0 && (
            <Text size="sm" className="mono">
              <UntrustedText>{paths.join('\n')}</UntrustedText>
            </Text>
          )}
          <Label>Input</Label>
          {input === undefined ? (
            <Text size="sm" c="dimmed">
              none
            </Text>
          ) : (
            <Verbatim text={input} label="Input" />
          )}
          <Label>Output</Label>
          {output === undefined ? (
            <Text size="sm" c="dimmed">
              none yet
            </Text>
          ) : (
            <Verbatim text={output} label="Output" />
          )}
        </Box>
      )}
    </>
  );
}

function Status({ entry: { state, text } }: { entry: Kind<'status'> }) {
  return (
    <Group gap="xs">
      {STATES.includes(state as RunState) && <RunStateBadge state={state as RunState} />}
      <Text size="sm">
        <UntrustedText>{text}</UntrustedText>
      </Text>
    </Group>
  );
}
