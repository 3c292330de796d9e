/** The agent's plan and its progress. */
import { Paper, Text } from '@mantine/core';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import type { PlanStep } from './entries.ts';

const MARKS: Readonly<Record<string, string>> = { completed: '✓', in_progress: '▸' };
const WORDS: Readonly<Record<string, string>> = { completed: 'done', in_progress: 'at work' };

export function Plan({ steps }: { steps: readonly PlanStep[] }) {
  const done = steps.filter(({ status }) => status === 'completed').length;
  return (
    <Paper withBorder p="xs">
      <Text size="sm" fw={600}>
        Plan: {done} of {steps.length} done
      </Text>
      <Steps steps={steps} />
    </Paper>
  );
}

export function Steps({ steps }: { steps: readonly PlanStep[] }) {
  return (
    <ol
      style={{ margin: '4px 0', paddingInlineStart: 24, maxHeight: 240, overflow: 'auto' }}
      tabIndex={0}
      aria-label="Steps of the plan"
    >
      {steps.map(({ content, status = '' }, index) => (
        // A step has no identity but its place, and keeps no state.
        // oxlint-disable-next-line react/no-array-index-key
        <Text component="li" size="sm" key={index} c={status === 'completed' ? 'dimmed' : undefined}>
          {MARKS[status] !== undefined && <span aria-hidden="true">{MARKS[status]} </span>}
          <UntrustedText>{content}</UntrustedText>
          {WORDS[status] !== undefined && <span className="visually-hidden"> ({WORDS[status]})</span>}
        </Text>
      ))}
    </ol>
  );
}
