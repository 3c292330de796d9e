/** Which execution was told what, and what still waits for one. */
import { conversationOf, type SpokenRun } from './index.ts';

const RUN: SpokenRun = {
  runId: 'run',
  prompt: 'first',
  createdAtMs: 1,
  promptClaimed: false,
  executions: [],
  followups: [],
};
const execution = (epoch: number, more: Partial<SpokenRun['executions'][number]> = {}) => ({
  executionId: `e${epoch}`,
  epoch,
  tookPrompt: epoch === 1,
  startedAtMs: epoch * 10,
  ...more,
});
const followup = (message: string, outcome: string, executionId?: string) => ({
  followupId: `f-${message}`,
  atMs: 5,
  message,
  outcome,
  executionId,
});

describe('the turns of a run', () => {
  const rows: { run: Partial<SpokenRun>; turns: [id: string, epoch: number, asked: string[]][]; why: string }[] = [
    { run: {}, turns: [['run', 1, ['first']]], why: 'the prompt waits' },
    {
      run: { followups: [followup('more', 'queued_prompt')] },
      turns: [['run', 1, ['first', 'more']]],
      why: 'what was joined to it waits with it',
    },
    {
      run: { executions: [execution(1)], followups: [followup('more', 'queued_prompt')] },
      turns: [['e1', 1, ['first', 'more']]],
      why: 'and is taken with it',
    },
    {
      run: { executions: [execution(1)], followups: [followup('along', 'queue_pending', 'e1')] },
      turns: [['e1', 1, ['first', 'along']]],
      why: 'what came during set-up goes along',
    },
    {
      run: { executions: [execution(1)], followups: [followup('later', 'queue_pending')] },
      turns: [
        ['e1', 1, ['first']],
        ['f-later', 2, ['later']],
      ],
      why: 'what came afterwards waits',
    },
    {
      run: { executions: [execution(1), execution(2)], followups: [followup('later', 'handoff_execution', 'e2')] },
      turns: [
        ['e1', 1, ['first']],
        ['e2', 2, ['later']],
      ],
      why: 'each to its execution',
    },
    {
      run: { executions: [execution(1), execution(2, { tookPrompt: true })] },
      turns: [
        ['e1', 1, ['first']],
        ['e2', 2, []],
      ],
      why: 'a prompt that is done again was asked once',
    },
    {
      run: {
        promptClaimed: true,
        executions: [execution(7)],
        followups: [followup('later', 'handoff_execution', 'e7')],
      },
      turns: [['e7', 7, ['later']]],
      why: 'a prompt that was taken long ago is not asked again',
    },
    {
      run: {
        executions: [execution(1), execution(2)],
        followups: [
          followup('along', 'queue_pending', 'e1'),
          { ...followup('live', 'live_session', 'e1'), readAtSeq: 7 },
          { ...followup('both', 'queue_pending', 'e1'), readAtSeq: 9 },
          { ...followup('too', 'queue_pending', 'e1'), readAtSeq: 9 },
        ],
      },
      turns: [
        ['e1', 1, ['first', 'along']],
        ['f-live', 1, ['live']],
        ['f-both', 1, ['both', 'too']],
        ['e2', 2, []],
      ],
      why: 'what an execution took later are turns of their own',
    },
    {
      run: { executions: [execution(1, { startedAtMs: undefined, tookPrompt: false })] },
      turns: [['run', 2, ['first']]],
      why: 'an execution that never began took nothing',
    },
  ];
  it.each(rows)('$why', ({ run, turns }) => {
    expect(
      conversationOf({ ...RUN, ...run }).map(({ id, epoch, asked }) => [id, epoch, asked.map(({ text }) => text)]),
    ).toEqual(turns);
  });
});

it('a turn of an execution has its part of the log and of the time', () => {
  const taken = (seq: number) => ({
    ...followup(String(seq), 'queue_pending', 'e1'),
    readAtSeq: seq,
    readAtMs: seq * 100,
  });
  const turns = conversationOf({
    ...RUN,
    executions: [execution(1, { finishedAtMs: 9_999 })],
    followups: [taken(5), taken(9)],
  });
  expect(
    turns.map(({ fromSeq, untilSeq, startedAtMs, finishedAtMs }) => [fromSeq, untilSeq, startedAtMs, finishedAtMs]),
  ).toEqual([
    [0, 5, 10, 500],
    [5, 9, 500, 900],
    [9, undefined, 900, 9_999],
  ]);
});
