/** `/agent`: skills, and what belongs to runs. */
import type { APIPromise } from '../../answers.ts';
import type { AgentListResponse, RunAgentRequest, RunAgentResponse } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';
import { Artifacts } from './artifacts.ts';
import { Conversations } from './conversations.ts';
import { Environments } from './environments.ts';
import { Identities } from './identities.ts';
import { Models } from './models.ts';
import { Runs } from './runs.ts';
import { Schedules } from './schedules.ts';

/** Which skills to list, and in which order. */
export type AgentListParams = QueryOf<'listAgents'>;

/** Skills, and the ways to runs, conversations, artifacts, models, environments and schedules. */
export class Agent extends Resource {
  /** Runs: create, look at, follow, steer, cancel. */
  readonly runs: Runs = new Runs(this.client);
  /** Conversations, each of one run or several. */
  readonly conversations: Conversations = new Conversations(this.client);
  /** What runs have made. */
  readonly artifacts: Artifacts = new Artifacts(this.client);
  /** Language models that are known here. */
  readonly models: Models = new Models(this.client);
  /** Named defaults of runs. */
  readonly identities: Identities = new Identities(this.client);
  /** Environments that runs can be prepared with. */
  readonly environments: Environments = new Environments(this.client);
  /** What starts runs by the clock. */
  readonly schedules: Schedules = new Schedules(this.client);

  /**
   * Lists the skills of the factories that the key may see, by name unless asked otherwise; each factory's own is a
   * variant, at most 1,000 of them. Role: viewer.
   */
  list(params: AgentListParams = {}, options?: RequestOptions): APIPromise<AgentListResponse> {
    return this.client.call({ method: 'GET', template: '/agent', query: params, answer: 'AgentListResponse', options });
  }

  /** Creates a run by the older path; the same as `agent.runs.create`. Role: operator. */
  run(params: RunAgentRequest, options?: RequestOptions): APIPromise<RunAgentResponse> {
    return this.client.call({
      method: 'POST',
      template: '/agent/run',
      body: params,
      answer: 'RunAgentResponse',
      options,
    });
  }
}
