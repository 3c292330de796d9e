/**
 * What an agent without its session is told of the conversation: what others said, and not again what it is told now.
 */
import type { SpokenRun } from '#agents';
import type { RunHistoryStore } from '../../store/runs/run-history.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';
import { conversationDigest } from './conversation-digest.ts';

const RUN: ClaimedRun = {
  runId: 'r',
  executionId: 'e3',
  epoch: 3,
  agentConfig: '{}',
  interactive: false,
  conversationId: 'r',
};
const spoken: SpokenRun = {
  runId: 'r',
  prompt: 'Build it.',
  createdAtMs: 1,
  promptClaimed: true,
  executions: [
    { executionId: 'e1', epoch: 1, tookPrompt: true, startedAtMs: 2, finishedAtMs: 3 },
    { executionId: 'e2', epoch: 2, tookPrompt: false, startedAtMs: 4, finishedAtMs: 5 },
  ],
  followups: [
    { followupId: 'f0', atMs: 1, message: 'And test it.', outcome: 'queued_prompt' },
    { followupId: 'f1', atMs: 3, message: 'Now ship it.', outcome: 'handoff_execution', executionId: 'e2' },
  ],
};
const histories = (said: Record<string, string>): RunHistoryStore =>
  ({
    spoken: async () => spoken,
    runsIn: async () => [],
    said: async (_run: string, { executionId }: { executionId: string }) => ({
      text: said[executionId] ?? '',
      atMs: 0,
    }),
  }) as unknown as RunHistoryStore;

it.each<{ now: string[]; said: Record<string, string>; told: string[]; untold: string[]; why: string }>([
  {
    now: ['Thanks.'],
    said: { e1: 'built', e2: 'shipped' },
    told: ['Build it.', 'And test it.', 'built', 'Now ship it.', 'shipped'],
    untold: [],
    why: 'everything of before',
  },
  {
    now: ['Now ship it.'],
    said: { e1: 'built', e2: 'half' },
    told: ['Build it.', 'built', 'half'],
    untold: ['Now ship it.'],
    why: 'not the message of a lost execution, which is given again; but what was said to it',
  },
  {
    now: ['Build it.\n\nAnd test it.', 'Now ship it.'],
    said: {},
    told: [],
    untold: ['Build it.', 'And test it.', 'Now ship it.'],
    why: 'nothing, where all is given again and nothing was said',
  },
])('$why', async ({ now, said, told, untold }) => {
  const digest = await conversationDigest(histories(said), RUN, now);
  for (const text of told) expect(digest).toContain(text);
  for (const text of untold) expect(digest).not.toContain(text);
});
