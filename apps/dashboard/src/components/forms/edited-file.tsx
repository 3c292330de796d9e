/** Where a managed definition is changed instead: its file, and the text with the requested change. */
import { Alert, Group, Stack, Text, type AlertProps } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from 'react-router';
import type { Api } from '../../api/client.ts';
import type { ProblemError } from '../../api/problems.ts';
import { CopyButton } from '../text/copy.tsx';
import { UntrustedText } from '../text/untrusted-text.tsx';
import { sourceKindOf } from '../../api/source-kinds.ts';

/** What the refusal asks for: a new file, an edit, another name, or no text at all. */
interface Wanted {
  title: string;
  said: React.ReactNode;
}

export function EditedFile({ problem, ...rest }: Omit<AlertProps, 'title' | 'children'> & { problem: ProblemError }) {
  const text = problem.body?.edited_text ?? undefined;
  const { title, said } = wantedBy(problem, useIsCommitted() ? 'commit it' : 'save it');
  return (
    <Alert color="blue" role="alert" title={title} {...rest}>
      <Stack gap={6}>
        <Text size="sm" component="div">
          {said}
        </Text>
        <SecretFirst problem={problem} />
        {text !== undefined && (
          <>
            <Group justify="space-between">
              <Text size="sm" fw={600}>
                The file as it would be
              </Text>
              <CopyButton value={text} label="Copy the edited text" />
            </Group>
            <pre
              className="mono scroll-x"
              tabIndex={0}
              aria-label={`Edited text of ${problem.body?.file}`}
              style={{ maxHeight: 320, overflow: 'auto', margin: 0 }}
            >
              <UntrustedText>{text}</UntrustedText>
            </pre>
          </>
        )}
      </Stack>
    </Alert>
  );
}

function wantedBy({ message, body }: ProblemError, andThen: string): Wanted {
  const {
    file = '',
    key,
    edited_text: text,
    new_file: newFile,
  } = body as NonNullable<ProblemError['body']> & { new_file?: string };
  const named = <Path>{file}</Path>;
  if (newFile !== undefined)
    return {
      title: 'Its name is the name of its file',
      said: (
        <>
          As <Path>{newFile}</Path> it is another one, beside this one or instead of it. Everything else that was
          changed is an edit of {named}.
        </>
      ),
    };
  if (text === null || text === undefined)
    return {
      title: 'It is decided by a file',
      said: (
        <>
          {named}: <UntrustedText>{reasonIn(message)}</UntrustedText>.
        </>
      ),
    };
  if (isNew(message, file))
    return {
      title: 'Add this file',
      said: (
        <>
          {named} does not exist yet: add it with this text, and {andThen}. The next sync takes it over.
        </>
      ),
    };
  return {
    title: 'Edit this file',
    said: (
      <>
        This is decided by {named}
        {key === null || key === undefined || key === '' ? (
          ''
        ) : (
          <>
            , in <Path>{key}</Path>
          </>
        )}
        . Give it this text, and {andThen}. The next sync takes it over.
      </>
    ),
  };
}

/** A new webhook's credential is set beside its file. */
function SecretFirst({ problem: { message, body } }: { problem: ProblemError }) {
  const name = body?.['secret_name'];
  if (typeof name !== 'string' || !isNew(message, body?.file ?? '')) return null;
  return (
    <Text size="sm">
      Set its secret <Path>{name}</Path> first: on the page of secrets, or by{' '}
      <span className="mono">
        millwright secrets set <UntrustedText>{name}</UntrustedText>
      </span>
      .
    </Text>
  );
}

function isNew(message: string, file: string): boolean {
  return message.includes(`: add ${file} `);
}

/** What is said behind the common beginning of these refusals. */
function reasonIn(message: string): string {
  return message.slice(message.indexOf(': ') + 1).trim();
}

/** Whether a change of a file takes effect by a commit: not in a plain folder. */
function useIsCommitted(): boolean {
  const { factoryUid = '' } = useParams();
  const factory = useQueryClient().getQueryData<Api<'Factory'>>(['factory', factoryUid]);
  return factory === undefined || !sourceKindOf(factory.source).isFolder;
}

function Path({ children }: { children: string }) {
  return (
    <span className="mono">
      <UntrustedText>{children}</UntrustedText>
    </span>
  );
}
