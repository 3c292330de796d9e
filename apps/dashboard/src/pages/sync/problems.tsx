/** Problems in definition files, each with its place and the lines around it. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { Excerpt } from './excerpt.tsx';
import type { Diagnostic } from './queries.ts';
import { countOf } from '../../components/text/count.ts';

const SHOWN_AT_FIRST = 20;

export function ProblemList({ problems }: { problems: readonly Diagnostic[] }) {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  return (
    <Stack gap="md">
      <Stack component="ol" gap="md" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Problems in the files">
        {problems.slice(0, shown).map((problem, index) => (
          <li key={`${index} ${problem.path}:${problem.line}`}>
            <ProblemItem problem={problem} />
          </li>
        ))}
      </Stack>
      {problems.length > shown && (
        <Button variant="default" size="xs" w="max-content" onClick={() => setShown(problems.length)}>
          Show all {problems.length}
        </Button>
      )}
    </Stack>
  );
}

function ProblemItem({ problem }: { problem: Diagnostic }) {
  const { path, line, column, severity, rule, code, message } = problem;
  return (
    <Stack gap={6}>
      <Group gap="xs" wrap="wrap">
        <Badge color={severity === 'error' ? 'red' : 'orange'}>{severity === 'error' ? 'Error' : 'Warning'}</Badge>
        <Text span size="sm" fw={600} className="mono">
          <UntrustedText>{path}</UntrustedText>:{line}:{column}
        </Text>
        <Text span size="xs" c="dimmed" title={code}>
          {rule}
        </Text>
      </Group>
      <Text size="sm" component="div">
        <UntrustedText>{message}</UntrustedText>
      </Text>
      <Excerpt problem={problem} />
    </Stack>
  );
}

/** `2 errors, 1 warning`. */
export function problemCount(problems: readonly Diagnostic[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  return [
    ...(errors > 0 ? [countOf(errors, 'error')] : []),
    ...(warnings > 0 ? [countOf(warnings, 'warning')] : []),
  ].join(', ');
}
