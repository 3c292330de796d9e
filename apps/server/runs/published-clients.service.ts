/**
 * What clients of the hosted service ask for and runs and automations answer: a run by its ticket, transcripts,
 * follow-ups to conversations, files of ended runs. contract §3.11 (Published clients).
 */
import { Inject, Injectable } from '@nestjs/common';
import { withoutAbsent } from '#agents';
import type {
  Conversation,
  ConversationFollowupResponse,
  HandoffAttachmentList,
  HarnessUsage,
  RequestBody,
  RunReference,
} from '#contracts';
import { isEnded, type RunState } from '#runs';
import type { Config } from '../config/config.ts';
import { maySee, type Caller } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import type { Access } from '../store/access/access.ts';
import { ArtifactStore } from '../store/runs/run-files.ts';
import { RunHistoryStore } from '../store/runs/run-history.ts';
import { RunStore } from '../store/runs/runs.ts';
import { HistoryService } from './run-history.service.ts';
import { RunListing } from './run-list.service.ts';
import { toArtifactItem } from './runs.items.ts';
import { visibleRun, visibleRunStatus } from './runs.requests.ts';
import { RunService } from './runs.service.ts';

/** Steps of a transcript that are read at a time. */
const STEPS_AT_ONCE = 200;
/** Artifacts of a run that are looked at, the latest. */
const FILES_MAX = 100;

type Page = (cursor: string | undefined) => Promise<Conversation>;

@Injectable()
export class PublishedClientService {
  constructor(
    private readonly runs: RunService,
    private readonly listing: RunListing,
    private readonly history: HistoryService,
    private readonly runStore: RunStore,
    private readonly histories: RunHistoryStore,
    private readonly artifacts: ArtifactStore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The latest run that was dispatched for a ticket; 404 where the key sees none. */
  async byReference(url: string, access: Access): Promise<RunReference> {
    const runId = await this.listing.latestOfTicket(url, access);
    if (runId === undefined) throw notFound('a run of this reference');
    return { run_id: runId };
  }

  /** Lines of the conversation that a run belongs to. */
  runTranscript(runId: string, access: Access): Promise<AsyncIterable<string>> {
    return linesOf((cursor) => this.history.ofRun(runId, { limit: STEPS_AT_ONCE, cursor }, access));
  }

  /** Lines of a conversation. */
  transcript(conversationId: string, access: Access): Promise<AsyncIterable<string>> {
    return linesOf((cursor) => this.history.conversation(conversationId, { limit: STEPS_AT_ONCE, cursor }, access));
  }

  /** Goes to the latest run of the conversation that the key may see. */
  async followup(
    conversationId: string,
    body: RequestBody<'run-followup-request'>,
    by: Caller,
  ): Promise<ConversationFollowupResponse> {
    const runId = await this.histories.latestRunIn(conversationId, by.access.factories);
    if (runId === undefined) throw notFound('the conversation');
    return { run_id: runId, ...(await this.runs.followup(runId, body, by, { run_id: runId })) };
  }

  /** Of the same run. */
  async interrupt(conversationId: string, by: Caller): Promise<RunReference> {
    const runId = await this.histories.latestRunIn(conversationId, by.access.factories);
    if (runId === undefined) throw notFound('the conversation');
    return this.runs.interrupt(runId, by);
  }

  /** Name and bytes of an image that a run of the conversation has made; 404 for anything else. */
  async screenshot(
    conversationId: string,
    artifactUid: string,
    access: Access,
  ): Promise<{ fileName: string; content: Uint8Array }> {
    const artifact = await this.artifacts.find(artifactUid);
    if (artifact === undefined || !maySee(access, artifact.factoryUid)) throw notFound('the screenshot');
    const run = await visibleRun(this.runStore, artifact.runId, access);
    const { fileName, mimeType = '' } = artifact.details;
    const content = await this.artifacts.content(artifactUid);
    const isOfIt = (run.conversation_id ?? artifact.runId) === conversationId && mimeType.startsWith('image/');
    if (!isOfIt || fileName === undefined || content === undefined) throw notFound('the screenshot');
    return { fileName, content };
  }

  async harnessUsage(runId: string, access: Access): Promise<HarnessUsage> {
    const run = await visibleRun(this.runStore, runId, access);
    return { available: false, conversation_id: run.conversation_id ?? runId, run_id: runId };
  }

  async handoffAttachments(runId: string, access: Access): Promise<HandoffAttachmentList> {
    const { state } = await visibleRunStatus(this.runStore, runId, access);
    if (!isEnded(state as RunState)) return { attachments: [] };
    const made = (await this.artifacts.ofRuns([runId], FILES_MAX)).get(runId) ?? [];
    return {
      attachments: made.flatMap((artifact) => {
        const { data } = toArtifactItem(artifact, this.config.publicUrl);
        const { filename, download_url: url, mime_type: type } = data;
        if (filename === undefined || url === undefined) return [];
        return [withoutAbsent({ attachment_id: artifact.artifactUid, filename, download_url: url, mime_type: type })];
      }),
    };
  }
}

/** The first page is read before anything is answered: what is not there is a 404. */
async function linesOf(page: Page): Promise<AsyncIterable<string>> {
  const first = await page(undefined);
  return (async function* () {
    for (let current = first; ;) {
      for (const step of current.steps) yield `${JSON.stringify(step)}\n`;
      const { next_cursor: cursor } = current.page_info;
      if (cursor === undefined) return;
      current = await page(cursor);
    }
  })();
}
