/** Permission requests of a run's agents: open ones with their options as buttons, closed ones below. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { useMay } from '../../api/session.tsx';
import { LIVE_MS } from '../../app/queries.ts';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { Time } from '../../components/text/time.tsx';
import { useChange } from '../../components/forms/use-change.ts';
import { Verbatim } from './verbatim.tsx';

type Question = Api<'PermissionItem'>;

/** `isBlocked`: the run waits for an answer. */
export function Questions({ runId, isBlocked, wasAsked }: { runId: string; isBlocked: boolean; wasAsked: boolean }) {
  const { data = [], error } = useQuery({
    queryKey: ['run', runId, 'permissions'],
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/agent/runs/{run_id}/permissions', { params: { path: { run_id: runId } }, signal })))
        .permissions,
    enabled: isBlocked || wasAsked,
    refetchInterval: isBlocked ? LIVE_MS : false,
  });
  const open = data.filter(({ state }) => state === 'open');
  const closed = data.filter(({ state }) => state !== 'open');
  return (
    <>
      <div role="status">
        {open.length > 0 && <span className="visually-hidden">The agent asks for permission</span>}
      </div>
      {isBlocked && error !== null && <ProblemAlert error={error} mb="sm" />}
      <Stack gap="sm" mb={data.length > 0 ? 'sm' : 0}>
        {open.map((question) => (
          <Open key={question.permission_id} question={question} />
        ))}
        {closed.length > 0 && <ClosedQuestions questions={closed} />}
      </Stack>
    </>
  );
}

function Open({ question }: { question: Question }) {
  const mayAnswer = useMay('operator');
  const answer = useAnswer(question);
  const [chosen, setChosen] = useState<string>();
  const choose = (optionId: string): void => {
    setChosen(optionId);
    answer.start(optionId);
  };
  return (
    <Alert color="orange" title="The agent asks for permission">
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          <UntrustedText>{question.title}</UntrustedText>
        </Text>
        {(question.paths?.length ?? 0) > 0 && (
          <Text size="sm" className="mono">
            <UntrustedText>{(question.paths ?? []).join('\n')}</UntrustedText>
          </Text>
        )}
        {question.input !== undefined && (
          <Verbatim text={question.input} label="What the tool would be given" maxHeight={180} />
        )}
        <Text size="xs">
          Asked <Time at={question.asked_at} as="ago" />
        </Text>
        {mayAnswer ? (
          <Group gap="xs">
            {question.options.map(({ option_id: id, name, kind }) => (
              <Button
                key={id}
                size="sm"
                variant={kind === 'allow_once' ? 'filled' : 'default'}
                loading={answer.isPending && chosen === id}
                disabled={answer.isPending}
                onClick={() => choose(id)}
              >
                <bdi>{withHiddenNamed(name)}</bdi>
              </Button>
            ))}
          </Group>
        ) : (
          <Text size="sm">An operator can answer.</Text>
        )}
        {answer.error !== null && <ProblemAlert error={answer.error} />}
      </Stack>
    </Alert>
  );
}

function useAnswer({ run_id: runId, permission_id: id }: Question) {
  const queries = useQueryClient();
  const path = { run_id: runId, permission_id: id };
  return useChange(
    (optionId: string, key) =>
      ask(
        api.POST('/agent/runs/{run_id}/permissions/{permission_id}', {
          params: { path, header: { 'Idempotency-Key': key } },
          body: { option_id: optionId },
        }),
      ).finally(() => void queries.invalidateQueries({ queryKey: ['run', runId] })),
    () => undefined,
  );
}

function ClosedQuestions({ questions }: { questions: readonly Question[] }) {
  return (
    <details>
      <summary>
        <Text span size="sm">
          {questions.length === 1 ? 'One question was settled' : `${questions.length} questions were settled`}
        </Text>
      </summary>
      <Stack gap={4} mt={4}>
        {questions.map(({ permission_id: id, title, state, answer, options, settled_at: at }) => (
          <Text key={id} size="sm">
            <UntrustedText>{title}</UntrustedText>:{' '}
            <strong>
              <UntrustedText>
                {state === 'closed'
                  ? 'nobody waits any more'
                  : (options.find((option) => option.option_id === answer)?.name ?? answer ?? 'no answer')}
              </UntrustedText>
            </strong>{' '}
            <Text span size="xs" c="dimmed">
              <Time at={at} />
            </Text>
          </Text>
        ))}
      </Stack>
    </details>
  );
}
