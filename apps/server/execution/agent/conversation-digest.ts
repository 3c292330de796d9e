/**
 * What was said in a conversation before an execution, for an agent that does not know it. Read from its end until
 * there is enough. contract §3.1 (conversation).
 */
import { digestOf, DIGEST_BYTES_MAX, TURN_SHARE_MAX, conversationOf, type DigestTurn, type Turn } from '#agents';
import type { RunHistoryStore } from '../../store/runs/run-history.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';

/** Runs of a conversation that are read, the latest ones before this one and the first. */
const RUNS_MAX = 100;
const RUNS_PER_PAGE = 500;

/**
 * The digest for an execution of this run; empty when nothing was said before. `now`: what the execution gets itself,
 * which a lost one may have got too.
 */
export async function conversationDigest(
  histories: RunHistoryStore,
  run: ClaimedRun,
  now: readonly string[],
): Promise<string> {
  const turns: Turn[] = [];
  for (const runId of [...few(await runsBefore(histories, run)), run.runId])
    turns.push(...(await turnsBefore(histories, run, runId)));
  const entries = turns.map(({ asked, runId }): DigestTurn => ({
    asked: withoutNow(
      asked.map(({ text }) => text),
      runId === run.runId ? now : [],
    ),
    said: '',
  }));
  // The first, then from the end: what is not reached any more does not fit in, and need not be read.
  let left = DIGEST_BYTES_MAX;
  for (const at of [0, ...Array.from(turns.keys()).slice(1).toReversed()]) {
    const turn = turns[at];
    if (turn === undefined || left < 0) break;
    const answered = { ...entries[at], said: await saidIn(histories, turn) } as DigestTurn;
    entries[at] = answered;
    left -= Math.min(bytesOf(answered), DIGEST_BYTES_MAX * TURN_SHARE_MAX);
  }
  return digestOf(entries);
}

function withoutNow(asked: readonly string[], now: readonly string[]): string[] {
  // A prompt and what was joined to it are one part.
  return now.includes(asked.join('\n\n')) ? [] : asked.filter((text) => !now.includes(text));
}

function few(runIds: readonly string[]): string[] {
  return runIds.length > RUNS_MAX ? [...runIds.slice(0, 1), ...runIds.slice(1 - RUNS_MAX)] : [...runIds];
}

function bytesOf({ asked, said }: DigestTurn): number {
  return [...asked, said].reduce((total, text) => total + Buffer.byteLength(text), 0);
}

/**
 * Runs that were in the conversation before this one. Of a run of a factory only those of the same one: whoever may see
 * it may not see others. contract §2.
 */
async function runsBefore(
  histories: RunHistoryStore,
  { runId, conversationId, factoryUid }: ClaimedRun,
): Promise<string[]> {
  if (conversationId === runId) return [];
  const visible = factoryUid === undefined ? undefined : [factoryUid];
  const found = new Set<string>();
  for (let from: string | undefined; ;) {
    const page = (await histories.runsIn(conversationId, visible, RUNS_PER_PAGE, from)).filter((id) => !found.has(id));
    for (const id of page) found.add(id);
    from = page.at(-1);
    if (from === undefined || from >= runId) return [...found].filter((id) => id < runId);
  }
}

/** Turns of a run, without that of the execution which is about to begin, and without what waits. */
async function turnsBefore(histories: RunHistoryStore, { executionId }: ClaimedRun, runId: string): Promise<Turn[]> {
  const spoken = await histories.spoken(runId);
  return spoken === undefined
    ? []
    : conversationOf(spoken).filter(
        ({ execution }) => execution !== undefined && execution.executionId !== executionId,
      );
}

async function saidIn(histories: RunHistoryStore, { runId, execution, fromSeq, untilSeq }: Turn): Promise<string> {
  return (execution && (await histories.said(runId, { ...execution, fromSeq, untilSeq })))?.text ?? '';
}
