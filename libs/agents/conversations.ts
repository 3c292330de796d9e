/** The turns of a conversation: who was told what by which execution. contract §3.1 (conversation). */

/** What is stored of one run of a conversation; times in milliseconds since the epoch. */
export interface SpokenRun {
  runId: string;
  prompt: string;
  createdAtMs: number;
  /** An execution has taken the prompt, which need not be among those that are known. */
  promptClaimed: boolean;
  /** In order of their epochs. */
  executions: readonly SpokenExecution[];
  /** In order of their arrival. */
  followups: readonly SpokenFollowup[];
}

export interface SpokenExecution {
  executionId: string;
  epoch: number;
  tookPrompt: boolean;
  startedAtMs?: number;
  finishedAtMs?: number;
}

export interface SpokenFollowup {
  followupId: string;
  atMs: number;
  message: string;
  outcome: string;
  executionId?: string;
  /** Entry of the run's log before which the execution took it; undefined: at its beginning. */
  readAtSeq?: number;
  readAtMs?: number;
}

/** What was asked, and by which execution it was taken. */
export interface Turn {
  runId: string;
  /** Place of the turn in its run: the execution's epoch; what waits for an execution stands behind all of them. */
  epoch: number;
  /** Entry of the log at which it begins within its execution; 0: at the execution's beginning. */
  fromSeq: number;
  /** Entry at which the next turn of the execution begins. */
  untilSeq?: number;
  /**
   * The execution, or the first follow-up that it took later; of what waits for one, the run or the first follow-up.
   */
  id: string;
  asked: readonly { text: string; atMs: number }[];
  execution?: SpokenExecution;
  startedAtMs?: number;
  finishedAtMs?: number;
}

/** Turns of one run in order. An execution that ended before it began said and heard nothing, and is none. */
export function conversationOf(run: SpokenRun): Turn[] {
  const first = run.executions.find(({ tookPrompt }) => tookPrompt);
  const opening = [{ text: run.prompt, atMs: run.createdAtMs }, ...run.followups.filter(isWithPrompt).map(toAsked)];
  const own = run.followups.filter((followup) => !isWithPrompt(followup));
  const worked = run.executions
    .filter(({ startedAtMs }) => startedAtMs !== undefined)
    .flatMap((execution) =>
      turnsIn(
        run.runId,
        execution,
        execution === first ? opening : [],
        own.filter(({ executionId }) => executionId === execution.executionId),
      ),
    );
  const waiting = own.filter(({ executionId }) => executionId === undefined);
  const isPromptOpen = first === undefined && !run.promptClaimed;
  const open = [...(isPromptOpen ? opening : []), ...waiting.map(toAsked)];
  if (open.length === 0) return worked;
  const behind = (run.executions.at(-1)?.epoch ?? 0) + 1;
  return [
    ...worked,
    {
      runId: run.runId,
      epoch: behind,
      fromSeq: 0,
      id: isPromptOpen ? run.runId : (waiting[0]?.followupId ?? run.runId),
      asked: open,
    },
  ];
}

/** Turns of one execution: what it took when it began, and each time that it took something later. */
function turnsIn(
  runId: string,
  execution: SpokenExecution,
  opening: Turn['asked'],
  answered: readonly SpokenFollowup[],
): Turn[] {
  const begins = [0, ...new Set(answered.map(({ readAtSeq = 0 }) => readAtSeq).filter((seq) => seq > 0))].toSorted(
    (a, b) => a - b,
  );
  return begins.map((fromSeq, position): Turn => {
    const here = answered.filter(({ readAtSeq = 0 }) => readAtSeq === fromSeq);
    const untilSeq = begins[position + 1];
    const next = answered.find(({ readAtSeq }) => readAtSeq !== undefined && readAtSeq === untilSeq);
    return {
      runId,
      epoch: execution.epoch,
      fromSeq,
      untilSeq,
      execution,
      id: position === 0 ? execution.executionId : (here[0]?.followupId ?? execution.executionId),
      asked: [...(position === 0 ? opening : []), ...here.map(toAsked)],
      startedAtMs: position === 0 ? execution.startedAtMs : here[0]?.readAtMs,
      finishedAtMs: untilSeq === undefined ? execution.finishedAtMs : next?.readAtMs,
    };
  });
}

function isWithPrompt({ outcome }: SpokenFollowup): boolean {
  return outcome === 'queued_prompt';
}

function toAsked({ message, atMs }: SpokenFollowup): { text: string; atMs: number } {
  return { text: message, atMs };
}
