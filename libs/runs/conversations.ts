/** The turns of a conversation: who was told what by which execution. contract 3 (conversation). */

/** What is stored of one run of a conversation; times in milliseconds since the epoch. */
export interface SpokenRun {
  runId: string;
  prompt: string;
  createdAtMs: number;
  /** An execution has taken the prompt, which need not be among those that are known. */
  promptTaken: boolean;
  /** In order of their epochs. */
  executions: readonly SpokenExecution[];
  /** In order of their arrival. */
  followups: readonly { followupId: string; atMs: number; message: string; outcome: string; executionId?: string }[];
}

export interface SpokenExecution {
  executionId: string;
  epoch: number;
  tookPrompt: boolean;
  startedAtMs?: number;
  finishedAtMs?: number;
}

/** What was asked, and by which execution it was taken. */
export interface Turn {
  runId: string;
  /** Place of the turn in its run: the execution's epoch; what waits for an execution stands behind all of them. */
  epoch: number;
  /** The execution; of what waits for one, the run or the first follow-up. */
  id: string;
  asked: readonly { text: string; atMs: number }[];
  execution?: SpokenExecution;
}

/** Turns of one run in order. An execution that ended before it began said and heard nothing, and is none. */
export function turnsOf(run: SpokenRun): Turn[] {
  const first = run.executions.find(({ tookPrompt }) => tookPrompt);
  const isWithPrompt = ({ outcome }: SpokenRun['followups'][number]): boolean => outcome === 'queued_prompt';
  const opening = [{ text: run.prompt, atMs: run.createdAtMs }, ...run.followups.filter(isWithPrompt).map(toAsked)];
  const taken = run.executions.filter(({ startedAtMs }) => startedAtMs !== undefined).map((execution): Turn => {
    const own = run.followups.filter((followup) => !isWithPrompt(followup) && followup.executionId === execution.executionId).map(toAsked);
    return { runId: run.runId, epoch: execution.epoch, id: execution.executionId, asked: [...(execution === first ? opening : []), ...own], execution };
  });
  const waiting = run.followups.filter((followup) => !isWithPrompt(followup) && followup.executionId === undefined);
  const isPromptOpen = first === undefined && !run.promptTaken;
  const open = [...(isPromptOpen ? opening : []), ...waiting.map(toAsked)];
  if (open.length === 0) return taken;
  const behind = (run.executions.at(-1)?.epoch ?? 0) + 1;
  return [...taken, { runId: run.runId, epoch: behind, id: isPromptOpen ? run.runId : (waiting[0]?.followupId ?? run.runId), asked: open }];
}

function toAsked({ message, atMs }: SpokenRun['followups'][number]): { text: string; atMs: number } {
  return { text: message, atMs };
}
