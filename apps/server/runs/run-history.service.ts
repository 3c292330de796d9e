/**
 * What is told of runs afterwards: timelines, conversations and artifacts. Decisions are `#runs` and `#agents`.
 * contract §3.1 (timeline, conversation, artifacts).
 */
import { Injectable, Inject } from '@nestjs/common';
import { conversationOf, withoutAbsent, type Turn } from '#agents';
import type { Conversation, ConversationStep, RunTimeline, ArtifactItem } from '#contracts';
import { encodeCursor, isPublishedEvent, queryDigest, runsOnPage, timelineOf } from '#runs';
import { notFound } from '../http/error-codes.ts';
import { pageKeyOf, toTime } from '../http/queries.ts';
import type { Access } from '../store/access/access.ts';
import { RunHistoryStore } from '../store/runs/run-history.ts';
import { RunStore } from '../store/runs/runs.ts';
import { maySee } from '../http/access-guard.ts';
import { type Artifact, ArtifactStore } from '../store/runs/run-files.ts';
import { CONFIG, Clock } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { visibleRun, visibleRunStatus } from './runs.requests.ts';
import { toArtifactItem } from './runs.items.ts';

/** What published clients read as the time for which an address of a file is good. */
const ADDRESS_GOOD_MS = 86_400_000;

/** Runs of a conversation looked up at a time. */
const RUNS_PER_LOOK = 20;

/** How much of a timeline. */
export type TimelineDetail = 'published' | 'all';

/** Which page of a conversation. */
export interface ConversationQuery {
  limit: number;
  cursor?: string;
}

/** Behind which turn a page begins: its run, the epoch of its execution, the entry of the log at which it begins. */
type TurnPlace = [runId: string, epoch: number, fromSeq: number];

@Injectable()
export class HistoryService {
  constructor(
    private readonly runs: RunStore,
    private readonly histories: RunHistoryStore,
  ) {}

  /** What happened to a run, oldest first; `all`: also what published clients have no name for. */
  async timeline(runId: string, detail: TimelineDetail, access: Access): Promise<RunTimeline> {
    await visibleRunStatus(this.runs, runId, access);
    const history = await this.histories.history(runId);
    if (history === undefined) throw notFound('the run');
    return {
      events: timelineOf(history)
        .filter((event) => detail === 'all' || isPublishedEvent(event))
        .map(({ uuid, type, atMs, payload }) =>
          withoutAbsent({ event_uuid: uuid, event_type: type, occurred_at: toTime(atMs), run_id: runId, payload }),
        ),
    };
  }

  /** The conversation that a run belongs to. */
  async ofRun(runId: string, query: ConversationQuery, access: Access): Promise<Conversation> {
    const run = await visibleRun(this.runs, runId, access);
    const conversation = await this.conversation(run.conversation_id ?? runId, query, access);
    const isSeen =
      run.conversation_id === null ||
      access.factories === undefined ||
      (await this.runs.among([run.conversation_id], access.factories)).size > 0;
    // Called by what the key may see of it.
    return isSeen ? conversation : { ...conversation, conversation_id: runId };
  }

  /** A conversation as far as the key may see its runs; 404 when it may see none. */
  async conversation(
    conversationId: string,
    { limit, cursor }: ConversationQuery,
    access: Access,
  ): Promise<Conversation> {
    const digest = queryDigest({ conversation: conversationId });
    const place = pageKeyOf(cursor, digest, ['string', 'number', 'number']) as TurnPlace | undefined;
    if (!(await this.histories.hasConversation(conversationId, access.factories))) throw notFound('the conversation');
    const { steps, last } = await this.page(conversationId, limit, access, place);
    const next = last === undefined ? {} : { next_cursor: encodeCursor({ query: digest, key: last }) };
    return { conversation_id: conversationId, steps, page_info: { has_next_page: last !== undefined, ...next } };
  }

  /** Turns behind a place until the page is full; `last` is the place of its last one, while there are more. */
  private async page(
    conversationId: string,
    limit: number,
    access: Access,
    place: TurnPlace | undefined,
  ): Promise<{ steps: ConversationStep[]; last?: TurnPlace }> {
    const steps: ConversationStep[] = [];
    const sizes: number[] = [];
    let last: TurnPlace | undefined;
    for await (const turn of this.turns(conversationId, access, place)) {
      if (steps.length === limit) return { steps, last };
      const said =
        turn.execution &&
        (await this.histories.said(turn.runId, { ...turn.execution, fromSeq: turn.fromSeq, untilSeq: turn.untilSeq }));
      sizes.push(
        Buffer.byteLength(said?.text ?? '') +
          turn.asked.reduce((total, { text }) => total + Buffer.byteLength(text), 0),
      );
      if (runsOnPage(sizes, limit) <= steps.length) return { steps, last };
      steps.push(toStep(turn, said));
      last = [turn.runId, turn.epoch, turn.fromSeq];
    }
    return { steps };
  }

  /** Turns of the visible runs of a conversation, in order, from behind a place. */
  private async *turns(conversationId: string, access: Access, place: TurnPlace | undefined): AsyncGenerator<Turn> {
    const [placeRun, placeEpoch, placeSeq] = place ?? [undefined, Number.NEGATIVE_INFINITY, 0];
    const isBehind = ({ epoch, fromSeq }: Turn): boolean =>
      epoch > placeEpoch || (epoch === placeEpoch && fromSeq > placeSeq);
    const done = new Set<string>();
    for (let from = placeRun; ;) {
      const found = await this.histories.runsIn(conversationId, access.factories, RUNS_PER_LOOK, from);
      const fresh = found.filter((runId) => !done.has(runId));
      for (const runId of fresh) {
        done.add(runId);
        const run = await this.histories.spoken(runId);
        for (const turn of run === undefined ? [] : conversationOf(run))
          if (runId !== placeRun || isBehind(turn)) yield turn;
      }
      if (fresh.length === 0) return;
      from = fresh.at(-1);
    }
  }
}

function toStep(
  { id, runId, asked, startedAtMs, finishedAtMs }: Turn,
  said: { text: string; atMs: number } | undefined,
): ConversationStep {
  const message =
    (role: 'user' | 'assistant') =>
    ({ text, atMs }: { text: string; atMs: number }): ConversationStep['messages'][number] => ({
      role,
      content: [{ type: 'text', text }],
      timestamp: toTime(atMs),
    });
  return withoutAbsent({
    id,
    run_id: runId,
    messages: [...asked.map(message('user')), ...(said === undefined ? [] : [message('assistant')(said)])],
    steps: [],
    started_at: startedAtMs === undefined ? undefined : toTime(startedAtMs),
    completed_at: finishedAtMs === undefined ? undefined : toTime(finishedAtMs),
  });
}

@Injectable()
export class ArtifactService {
  constructor(
    private readonly artifacts: ArtifactStore,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  async get(artifactUid: string, access: Access): Promise<ArtifactItem> {
    const artifact = await this.visible(artifactUid, access);
    const item = toArtifactItem(artifact, this.config.publicUrl);
    const { type, details } = artifact;
    if (type === 'PLAN' && details.fileName !== undefined) {
      const content = await this.artifacts.content(artifactUid);
      return { ...item, data: { ...item.data, content: Buffer.from(content ?? []).toString('utf8') } };
    }
    if (details.fileName === undefined) return item;
    // The address is the same for as long as the run is there; clients ask again after that time.
    const expiresAt = toTime(this.clock.nowMs() + ADDRESS_GOOD_MS);
    return { ...item, data: { ...item.data, expires_at: expiresAt } };
  }

  /** Name and bytes of an artifact that is a file; 404 for any other. */
  async file(artifactUid: string, access: Access): Promise<{ fileName: string; content: Uint8Array }> {
    const { details } = await this.visible(artifactUid, access);
    const content = await this.artifacts.content(artifactUid);
    if (details.fileName === undefined || content === undefined) throw notFound('a file of the artifact');
    return { fileName: details.fileName, content };
  }

  /** Whoever may see the run may see what it made. contract §2. */
  private async visible(artifactUid: string, access: Access): Promise<Artifact> {
    const artifact = await this.artifacts.find(artifactUid);
    if (artifact === undefined || !maySee(access, artifact.factoryUid)) throw notFound('the artifact');
    return artifact;
  }
}
