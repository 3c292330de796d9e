/** An error of the API in its own words, with the fields that it names and the way out. */
import { Alert, Button, List, Stack, Text, type AlertProps } from '@mantine/core';
import { problemOf } from '../../api/problems.ts';
import { EditedFile } from '../forms/edited-file.tsx';
import { UntrustedText } from '../text/untrusted-text.tsx';

interface ProblemAlertProps extends Omit<AlertProps, 'title' | 'children'> {
  error: unknown;
  /** Members whose faults stand at their fields already. */
  shown?: readonly string[];
  /** Asks again. */
  onRetry?: () => void;
}

const TITLES: Readonly<Record<number, string>> = {
  0: 'The server does not answer',
  403: 'Your role does not suffice',
  404: 'It does not exist',
  409: 'That cannot be done as things are',
  429: 'Too many requests',
};

export function ProblemAlert({ error, shown = [], onRetry, ...rest }: ProblemAlertProps) {
  const problem = problemOf(error);
  const traceId = problem?.body?.trace_id;
  if (problem?.status === 409 && problem.body?.file !== undefined) return <EditedFile problem={problem} {...rest} />;
  const faults = problem?.faultsBeside(shown) ?? [];
  const isAtFields = faults.length === 0 && (problem?.body?.errors?.length ?? 0) > 0;
  return (
    <Alert
      color="red"
      role="alert"
      title={TITLES[problem?.status ?? -1] ?? problem?.body?.title ?? 'This page has a fault'}
      {...rest}
    >
      <Stack gap="xs">
        <Text size="sm" component="div">
          {isAtFields ? (
            'What is wrong stands at its field.'
          ) : (
            <UntrustedText>{problem?.message ?? wordsOf(error)}</UntrustedText>
          )}
        </Text>
        {faults.length > 0 && (
          <List size="sm">
            {faults.map(({ pointer, message }) => (
              <List.Item key={`${pointer} ${message}`}>
                <span className="mono">
                  <UntrustedText>{pointer}</UntrustedText>
                </span>
                : <UntrustedText>{message}</UntrustedText>
              </List.Item>
            ))}
          </List>
        )}
        {problem?.retryAfterSeconds !== undefined && <Text size="sm">Try again in {problem.retryAfterSeconds} s.</Text>}
        {traceId !== undefined && (problem?.status ?? 0) >= 500 && (
          <Text size="xs">
            In the log of the service as <span className="mono">{traceId}</span>
          </Text>
        )}
        {onRetry !== undefined && (
          <Button size="xs" variant="default" w="max-content" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something unexpected happened.';
}
