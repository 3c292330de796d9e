/** The conversation that a run belongs to, turn by turn. */
import { Box, Group, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, ask, type Api } from '../../api/client.ts';
import { LIVE_MS } from '../../app/queries.ts';
import { Empty, Loading } from '../../components/lists/empty.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { ShowMore } from '../../components/lists/show-more.tsx';
import { Time } from '../../components/text/time.tsx';

type Step = Api<'ConversationStep'>;

export function Conversation({ runId, isLive }: { runId: string; isLive: boolean }) {
  const query = useInfiniteQuery({
    queryKey: ['run', runId, 'conversation'],
    queryFn: ({ pageParam, signal }) =>
      ask(
        api.GET('/agent/runs/{run_id}/conversation', {
          params: { path: { run_id: runId }, query: { cursor: pageParam, limit: 50 } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page_info: page }) => page.next_cursor,
    refetchInterval: isLive ? LIVE_MS : false,
  });
  if (query.data === undefined)
    return query.error === null ? (
      <Loading />
    ) : (
      <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />
    );
  const steps = query.data.pages.flatMap((page) => page.steps);
  if (steps.length === 0) return <Empty title="Nothing was said yet" />;
  return (
    <Stack gap="sm">
      {steps.map((step) => (
        <Turn key={step.id} step={step} runId={runId} />
      ))}
      <ShowMore pages={query} what="turns" />
    </Stack>
  );
}

/** A message stands in pieces as they came; people read it as one. */
function Turn({ step, runId }: { step: Step; runId: string }) {
  return (
    <Box component="article" aria-label="Turn">
      {step.run_id !== runId && (
        <Text size="xs" c="dimmed">
          Turn of <Link to={`/runs/${step.run_id}`}>another run</Link>
        </Text>
      )}
      <Stack gap={6}>
        {step.messages.map(({ role, content, timestamp }, index) => (
          // A message has no identity but its place: messages of a turn are only ever added.
          // oxlint-disable-next-line react/no-array-index-key
          <Message key={index} role={role} text={content.map(({ text }) => text).join('')} at={timestamp} />
        ))}
        {step.completed_at === undefined && (
          <Text size="xs" c="dimmed">
            {step.started_at === undefined ? 'Waits for the agent' : 'The agent is at work'}
          </Text>
        )}
      </Stack>
    </Box>
  );
}

interface MessageProps {
  role: Api<'ConversationMessage'>['role'];
  text: string;
  at: string;
}

/** What was asked is shown as it was written, what was answered as Markdown. */
function Message({ role, text, at }: MessageProps) {
  const isAsked = role === 'user';
  return (
    <Paper
      withBorder
      p="sm"
      ms={isAsked ? { base: 0, sm: 'xl' } : 0}
      me={isAsked ? 0 : { base: 0, sm: 'xl' }}
      bg={isAsked ? 'var(--mantine-color-default-hover)' : undefined}
    >
      <Group justify="space-between">
        <Text size="xs" fw={600}>
          {isAsked ? 'Asked' : 'Agent'}
        </Text>
        <Text size="xs" c="dimmed">
          <Time at={at} />
        </Text>
      </Group>
      {isAsked ? (
        <Box fz="sm" style={{ maxHeight: 420, overflow: 'auto' }} tabIndex={0} role="group" aria-label="What was asked">
          <UntrustedText>{text}</UntrustedText>
        </Box>
      ) : (
        <Markdown text={text} />
      )}
    </Paper>
  );
}
