/**
 * What clients of the hosted service ask for and runs and automations answer: a run by its ticket, transcripts,
 * follow-ups to conversations, files of ended runs, schedules. contract §3.11 (Published clients).
 */
import { Inject, Injectable } from '@nestjs/common';
import { publishedHarness, toAgentConfig, withoutAbsent } from '#agents';
import type {
  Conversation,
  ConversationFollowupResponse,
  HandoffAttachmentList,
  HarnessUsage,
  RequestBody,
  RunReference,
  ScheduleItem,
  ScheduleList,
} from '#contracts';
import { nextDue, schedulesOf } from '#definitions';
import { isEnded, type RunState } from '#runs';
import type { Config } from '../config/config.ts';
import type { Caller } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import { toTime } from '../http/queries.ts';
import { CONFIG, Clock } from '../process/injection-tokens.ts';
import type { Access } from '../store/access/access.ts';
import { CatalogueStore, type ScheduledAutomationRow } from '../store/definitions/catalogue.ts';
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
    private readonly catalogue: CatalogueStore,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
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

  async schedules(access: Access): Promise<ScheduleList> {
    const automations = await this.catalogue.scheduled(access.factories);
    return { schedules: automations.flatMap((automation) => toScheduleItems(automation, this.clock.nowMs())) };
  }

  /** 404 for a schedule that is none, and for one of a factory that the key may not see. */
  async schedule(scheduleId: string, access: Access): Promise<ScheduleItem> {
    const { schedules } = await this.schedules(access);
    const found = schedules.find(({ id }) => id === scheduleId);
    if (found === undefined) throw notFound('the schedule');
    return found;
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

function toScheduleItems(automation: ScheduledAutomationRow, nowMs: number): ScheduleItem[] {
  const { definition, firedMs } = automation;
  return schedulesOf(automation.uid, definition).map(({ scheduleId, name, cron, fields }) => {
    const [lastMs, nextMs] = [firedMs.get(scheduleId), nextDue(fields, nowMs, nowMs)];
    return {
      id: scheduleId,
      name: name ?? automation.name,
      cron_schedule: cron,
      enabled: automation.isEnabled,
      prompt: definition.prompt,
      agent_config: publishedHarness(toAgentConfig(definition.agent)) as ScheduleItem['agent_config'],
      metadata: withoutAbsent({
        factory_uid: automation.factoryUid,
        automation_id: automation.uid,
        file: automation.path === '' ? undefined : automation.path,
      }) as Record<string, string>,
      created_at: toTime(automation.createdAtMs),
      updated_at: toTime(automation.updatedAtMs),
      history: withoutAbsent({
        last_ran: lastMs === undefined ? undefined : toTime(lastMs),
        next_run: nextMs === undefined || !automation.isEnabled ? undefined : toTime(nextMs),
      }),
    };
  });
}
