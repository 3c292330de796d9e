/** `/agent/runs`: create runs, look at them, follow, steer and cancel them. */
import type { APIPromise } from '../../answers.ts';
import type { EventStream } from '../../event-stream.ts';
import type {
  Conversation,
  ConversationStep,
  ListRunsResponse,
  RunAgentRequest,
  RunAgentResponse,
  RunEventList,
  RunFollowupRequest,
  RunFollowupResponse,
  RunId,
  RunItem,
  RunReference,
  RunTimeline,
} from '../../models.ts';
import type { RequestOptions, StreamOptions, WaitOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';
import { RunPermissions } from './permissions.ts';
import { waitForRun, type RunWaitParams } from './waiting.ts';

/** Which runs to list, in which order; every filter given has to fit. */
export type RunListParams = QueryOf<'listRuns'>;
/** Where to begin to follow a run's log. */
export interface RunEventsParams {
  /** Entry behind which to begin; 0, as when nothing is said: the first. */
  after?: number | undefined;
}
/** Which entries of a run's log to read. */
export type RunListEventsParams = QueryOf<'listRunEvents'>;
/** How much of what happened to a run to tell. */
export type RunTimelineParams = QueryOf<'getRunTimeline'>;
/** Where a page of a conversation begins, and how many turns it has at most. */
export type RunConversationParams = QueryOf<'getRunConversation'>;

/** Runs: one piece of work of an agent each, with its follow-ups. */
export class Runs extends Resource {
  /** What agents ask permission for, and the answers. */
  readonly permissions: RunPermissions = new RunPermissions(this.client);

  /**
   * Lists the runs that the key may see, newest change first unless asked otherwise. Await it for one page, iterate it
   * for every run of every page.
   * Role: viewer. Throws UnprocessableEntityError (422) for filters and orders that only the hosted service has.
   */
  list(params: RunListParams = {}, options?: RequestOptions): PagePromise<RunItem, ListRunsResponse, 'runs'> {
    return this.client.page(
      { method: 'GET', template: '/agent/runs', query: params, answer: 'ListRunsResponse', options },
      'runs',
    );
  }

  /**
   * Creates a run, which waits until an execution takes it (`at_capacity`: it has to wait). `prompt` is needed unless a
   * skill is named. A key that is limited to factories names one as `factory_uid`.
   * Bodies of up to 8 MiB with attachments, of up to 1 MiB without. The call's idempotency key makes sure that its
   * retries create one run only.
   * Role: operator. Throws BadRequestError (400) with every problem by JSON pointer, UnprocessableEntityError (422) for
   * what only the hosted service has, RateLimitError (429) when too many runs wait.
   */
  create(params: RunAgentRequest, options?: RequestOptions): APIPromise<RunAgentResponse> {
    return this.client.call({
      method: 'POST',
      template: '/agent/runs',
      body: params,
      answer: 'RunAgentResponse',
      options,
    });
  }

  /** Looks at a run. Role: viewer. Throws NotFoundError (404) also where the key may not see the run. */
  retrieve(runId: string, options?: RequestOptions): APIPromise<RunItem> {
    return this.client.call({
      method: 'GET',
      template: '/agent/runs/{run_id}',
      path: { run_id: runId },
      answer: 'RunItem',
      options,
    });
  }

  /**
   * Sends a message to a run: steers a live one, continues an ended one. `outcome` says what became of it; it is stored
   * before this answers.
   * Role: operator. Throws ConflictError (409) while a cancel is under way, and when the run's factory was deleted.
   */
  submitFollowup(runId: string, params: RunFollowupRequest, options?: RequestOptions): APIPromise<RunFollowupResponse> {
    return this.client.call({
      method: 'POST',
      template: '/agent/runs/{run_id}/followups',
      path: { run_id: runId },
      body: params,
      answer: 'RunFollowupResponse',
      options,
    });
  }

  /**
   * Cancels a run and answers its ID. A waiting run is cancelled at once; a live one is asked to end, and ended.
   * Repeating it is no error.
   * Role: operator. Throws BadRequestError (400) where another end came first.
   */
  cancel(runId: string, options?: RequestOptions): APIPromise<RunId> {
    return this.client.call({
      method: 'POST',
      template: '/agent/runs/{run_id}/cancel',
      path: { run_id: runId },
      answer: 'RunId',
      options,
    });
  }

  /**
   * Asks the agent to end the turn that it works on; the run does not end. It goes on with the follow-ups that wait;
   * without any it is BLOCKED until one comes, for its idle timeout. Repeating it is no error.
   * Role: operator. Throws BadRequestError (400) where the run has ended, ConflictError (409) where no agent works on
   * it yet, UnprocessableEntityError (422) where a command does.
   */
  interrupt(runId: string, options?: RequestOptions): APIPromise<RunReference> {
    return this.client.call({
      method: 'POST',
      template: '/agent/runs/{run_id}/interrupt',
      path: { run_id: runId },
      answer: 'RunReference',
      options,
    });
  }

  /**
   * Follows a run's log as it is written, from the entry behind `after` (0: the first) to the run's end. Iterate it; a
   * connection that breaks is taken up again behind the last entry, so that none is missing and none comes twice.
   * Role: viewer. Throws RateLimitError (429) over 20 streams of one key, and the last error when nothing new came for
   * `reconnectTimeout` (null: no limit) or a pause would end behind `totalTimeout`.
   */
  events(runId: string, params: RunEventsParams = {}, options?: StreamOptions): EventStream {
    return this.client.stream(runId, params, options);
  }

  /**
   * Reads what there is of a run's log behind the entry `after`, `limit` entries at most (1 to 1,000; 200). An empty
   * list: nothing new. Role: viewer.
   */
  listEvents(runId: string, params: RunListEventsParams = {}, options?: RequestOptions): APIPromise<RunEventList> {
    return this.client.call({
      method: 'GET',
      template: '/agent/runs/{run_id}/events',
      path: { run_id: runId },
      query: params,
      answer: 'RunEventList',
      options,
    });
  }

  /**
   * Looks at what happened to a run: its states and executions; with `detail: 'all'` also follow-ups, requests to
   * cancel and executions that were taken over. Role: viewer.
   */
  timeline(runId: string, params: RunTimelineParams = {}, options?: RequestOptions): APIPromise<RunTimeline> {
    return this.client.call({
      method: 'GET',
      template: '/agent/runs/{run_id}/timeline',
      path: { run_id: runId },
      query: params,
      answer: 'RunTimeline',
      options,
    });
  }

  /**
   * Reads the whole conversation that a run belongs to, as far as the key may see its runs: its turns, page by page.
   * Role: viewer.
   */
  conversation(
    runId: string,
    params: RunConversationParams = {},
    options?: RequestOptions,
  ): PagePromise<ConversationStep, Conversation, 'steps'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/agent/runs/{run_id}/conversation',
        path: { run_id: runId },
        query: params,
        answer: 'Conversation',
        options,
      },
      'steps',
    );
  }

  /**
   * Asks for a run until it has ended (or is in one of the states `until`) and answers it. It looks at once, after half
   * a second, then ever more seldom, at last every five seconds; `pollInterval` (milliseconds) fixes the pause.
   * Role: viewer. Throws WaitTimeoutError when it takes longer than `timeout` (milliseconds; no limit unless said),
   * with the run as it was last, undefined if it was never seen; WaitEndedError when it ends in none of the states; the
   * last error when no answer came for `reconnectTimeout` (milliseconds; 60,000; null: no limit); MillwrightError for
   * states and times that are none.
   */
  wait(runId: string, params: RunWaitParams = {}, options: WaitOptions = {}): Promise<RunItem> {
    const { reconnectTimeout, ...each } = options;
    return waitForRun((signal) => this.retrieve(runId, { ...each, signal }), this.client.clock, params, {
      signal: options.signal,
      reconnectTimeout,
    });
  }
}
