/** `/factory`: factories, and what they are made of. */
import type { APIPromise } from '../../answers.ts';
import type {
  Approval,
  Factory,
  FactoryCreate,
  FactoryDispatchRequest,
  FactoryDispatchResponse,
  FactoryEvent,
  FactoryEventList,
  FactoryList,
  FactoryPatch,
  FactoryStatus,
  FilterReplayRequest,
  FilterReplayResult,
  FilterSuggestion,
  FilterSuggestRequest,
  FilterTestRequest,
  FilterTestResult,
  Plan,
  PlanApproval,
  PlanRequest,
  RevisionStatus,
} from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import { PASS_TIMEOUT_MS } from '../limits.ts';
import type { QueryOf } from '../params.ts';
import { Automations } from './automations.ts';
import { Deliveries } from './deliveries.ts';
import { PullRequests } from './pull-requests.ts';
import { FactorySecrets } from './secrets.ts';
import { Syncs } from './syncs.ts';
import { Webhooks } from './webhooks.ts';

/** Which factories to list. */
export type FactoryListParams = QueryOf<'listFactories'>;
/** Whether to answer only when the pass is over. */
export type FactorySyncParams = QueryOf<'syncFactory'>;
/** Where a page of events begins, and how many it has at most. */
export type FactoryEventsParams = QueryOf<'listFactoryEvents'>;

/** Factories: webhooks, automations and secrets with one source of definitions. */
export class Factories extends Resource {
  /** Passes over a factory's definitions. */
  readonly syncs: Syncs = new Syncs(this.client);
  /** Open pull requests of the followed repository. */
  readonly pullRequests: PullRequests = new PullRequests(this.client);
  /** Where deliveries come in. */
  readonly webhooks: Webhooks = new Webhooks(this.client);
  /** What came in. */
  readonly deliveries: Deliveries = new Deliveries(this.client);
  /** What starts runs. */
  readonly automations: Automations = new Automations(this.client);
  /** Secrets of one factory. */
  readonly secrets: FactorySecrets = new FactorySecrets(this.client);

  /**
   * Lists the factories that the key may see, in order of their UIDs; `search` looks into slugs and names. Role:
   * viewer.
   */
  list(params: FactoryListParams = {}, options?: RequestOptions): PagePromise<Factory, FactoryList, 'factories'> {
    return this.client.page(
      { method: 'GET', template: '/factory', query: params, answer: 'FactoryList', options },
      'factories',
    );
  }

  /**
   * Makes a factory. A slug that was used before gives the same UIDs and ingress URLs again. Role: admin. Throws
   * ConflictError (409) for a slug in use.
   */
  create(params: FactoryCreate, options?: RequestOptions): APIPromise<Factory> {
    return this.client.call({ method: 'POST', template: '/factory', body: params, answer: 'Factory', options });
  }

  /** Looks at a factory. Role: viewer. */
  retrieve(factoryUid: string, options?: RequestOptions): APIPromise<Factory> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}',
      path: { factory_uid: factoryUid },
      answer: 'Factory',
      options,
    });
  }

  /** Changes a factory. A new source or sync policy is followed from the next pass on. Role: admin. */
  update(factoryUid: string, params: FactoryPatch, options?: RequestOptions): APIPromise<Factory> {
    return this.client.call({
      method: 'PATCH',
      template: '/factory/{factory_uid}',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'Factory',
      options,
    });
  }

  /**
   * Deletes a factory: its webhooks answer 404 at once, its waiting runs are cancelled, live ones finish. Role: admin.
   */
  delete(factoryUid: string, options?: RequestOptions): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/factory/{factory_uid}',
      path: { factory_uid: factoryUid },
      answer: 'none',
      options,
    });
  }

  /**
   * Dispatches a run to a factory, with the factory's defaults. Follow-ups, cancellation and state are those of any
   * run. Role: operator.
   */
  dispatch(
    factoryUid: string,
    params: FactoryDispatchRequest,
    options?: RequestOptions,
  ): APIPromise<FactoryDispatchResponse> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/runs',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'FactoryDispatchResponse',
      options,
    });
  }

  /**
   * Looks at where a factory stands: its conditions, the revisions seen, attempted and applied, what it is made of.
   * Role: viewer.
   */
  status(factoryUid: string, options?: RequestOptions): APIPromise<FactoryStatus> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/status',
      path: { factory_uid: factoryUid },
      answer: 'FactoryStatus',
      options,
    });
  }

  /**
   * Asks for a pass over the factory's definitions; `generation_requested` of the answer is this request. With `wait`
   * it answers when the pass is over.
   * Role: manager. Throws InternalServerError (503) when a pass that is waited for takes more than two minutes.
   */
  sync(factoryUid: string, params: FactorySyncParams = {}, options?: RequestOptions): APIPromise<FactoryStatus> {
    const timeout = params.wait === true ? PASS_TIMEOUT_MS : undefined;
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/sync',
      path: { factory_uid: factoryUid },
      query: params,
      answer: 'FactoryStatus',
      timeout,
      options,
    });
  }

  /**
   * Looks at what a tree of definition files, or a ref of the followed repository, would change: reads, checks and
   * plans like a pass and writes nothing. The body is at most 1 MiB. A ref may take two minutes. Role: viewer.
   */
  plan(factoryUid: string, params: PlanRequest, options?: RequestOptions): APIPromise<Plan> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/plan',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'Plan',
      options,
    });
  }

  /** Approves held deletions or a rewritten history: exactly those that the plan's digest covers. Role: manager. */
  approve(factoryUid: string, params: PlanApproval, options?: RequestOptions): APIPromise<Approval> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/approve',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'Approval',
      options,
    });
  }

  /** Stops reconciling: webhooks and automations serve on. Role: manager. */
  suspend(factoryUid: string, options?: RequestOptions): APIPromise<Factory> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/suspend',
      path: { factory_uid: factoryUid },
      answer: 'Factory',
      options,
    });
  }

  /** Goes on with reconciling. Role: manager. */
  resume(factoryUid: string, options?: RequestOptions): APIPromise<Factory> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/resume',
      path: { factory_uid: factoryUid },
      answer: 'Factory',
      options,
    });
  }

  /** Lists what happened to a factory: what passes found and changed, and what people asked for. Role: viewer. */
  events(
    factoryUid: string,
    params: FactoryEventsParams = {},
    options?: RequestOptions,
  ): PagePromise<FactoryEvent, FactoryEventList, 'events'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/factory/{factory_uid}/events',
        path: { factory_uid: factoryUid },
        query: params,
        answer: 'FactoryEventList',
        options,
      },
      'events',
    );
  }

  /**
   * Looks at what became of a revision: ask again until it is `serving`, or will not be. `revision` is a whole revision
   * (`main@sha1:…`), a commit ID, or 7 or more of its first hexadecimal digits.
   * One that no pass has seen is `unknown`, which is no error. Role: viewer. Throws BadRequestError (400) for digits
   * that several commits share.
   */
  revision(factoryUid: string, revision: string, options?: RequestOptions): APIPromise<RevisionStatus> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/revisions/{revision}',
      path: { factory_uid: factoryUid, revision },
      answer: 'RevisionStatus',
      options,
    });
  }

  /**
   * Tests a payload filter against a stored delivery or a payload of your own.
   * Role: viewer. Throws BadRequestError (400) with the filter's problems by pointers below `/filter`,
   * UnprocessableEntityError (422) for a delivery that was not accepted.
   */
  testFilter(factoryUid: string, params: FilterTestRequest, options?: RequestOptions): APIPromise<FilterTestResult> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/filters/test',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'FilterTestResult',
      options,
    });
  }

  /** Tests a payload filter against the newest accepted deliveries, at most 50. Role: viewer. */
  replayFilter(
    factoryUid: string,
    params: FilterReplayRequest,
    options?: RequestOptions,
  ): APIPromise<FilterReplayResult> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/filters/replay',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'FilterReplayResult',
      options,
    });
  }

  /**
   * Makes a payload filter from deliveries that it has to take. Role: viewer. Throws UnprocessableEntityError (422) for
   * a delivery that was not accepted.
   */
  suggestFilter(
    factoryUid: string,
    params: FilterSuggestRequest,
    options?: RequestOptions,
  ): APIPromise<FilterSuggestion> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/filters/suggest',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'FilterSuggestion',
      options,
    });
  }
}
