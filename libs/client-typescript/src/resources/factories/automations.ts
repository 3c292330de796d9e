/** `/factory/{factory_uid}/automations`: what starts runs. */
import type { APIPromise } from '../../answers.ts';
import type { Automation, AutomationCreate, AutomationList, AutomationPatch } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import { whenMatching, type IfMatch, type QueryOf } from '../params.ts';

/** Where a page of automations begins, and how many it has at most. */
export type AutomationListParams = QueryOf<'listAutomations'>;
/** What to change, and of which state: the `ETag` of what was read, or `*` for whichever there is. */
export type AutomationUpdateParams = AutomationPatch & { ifMatch: string };

/**
 * Automations of a factory. On a factory whose definitions are managed in files, whatever changes one throws
 * ConflictError (409):
 * its `problem` has the `file`, the `key` in it and the `edited_text` that does what was asked.
 */
export class Automations extends Resource {
  /** Lists a factory's automations. Role: viewer. */
  list(
    factoryUid: string,
    params: AutomationListParams = {},
    options?: RequestOptions,
  ): PagePromise<Automation, AutomationList, 'automations'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/factory/{factory_uid}/automations',
        path: { factory_uid: factoryUid },
        query: params,
        answer: 'AutomationList',
        options,
      },
      'automations',
    );
  }

  /**
   * Makes an automation; every rule of automation files holds. Role: manager. Throws BadRequestError (400) with every
   * problem by JSON pointer.
   */
  create(factoryUid: string, params: AutomationCreate, options?: RequestOptions): APIPromise<Automation> {
    return this.client.call({
      method: 'POST',
      template: '/factory/{factory_uid}/automations',
      path: { factory_uid: factoryUid },
      body: params,
      answer: 'Automation',
      options,
    });
  }

  /** Looks at an automation. The `ETag` of the answer is what `ifMatch` takes. Role: viewer. */
  retrieve(factoryUid: string, automationId: string, options?: RequestOptions): APIPromise<Automation> {
    return this.client.call({
      method: 'GET',
      template: '/factory/{factory_uid}/automations/{automation_id}',
      path: { factory_uid: factoryUid, automation_id: automationId },
      answer: 'Automation',
      options,
    });
  }

  /**
   * Edits an automation; acts on the next delivery, what was accepted before keeps what it was accepted with. Role:
   * manager. Throws ConflictError (409) for another state than `ifMatch`.
   */
  update(
    factoryUid: string,
    automationId: string,
    params: AutomationUpdateParams,
    options?: RequestOptions,
  ): APIPromise<Automation> {
    const { ifMatch, ...patch } = params;
    return this.client.call({
      method: 'PATCH',
      template: '/factory/{factory_uid}/automations/{automation_id}',
      path: { factory_uid: factoryUid, automation_id: automationId },
      headers: whenMatching(ifMatch),
      body: patch,
      answer: 'Automation',
      options,
    });
  }

  /**
   * Deletes an automation: it starts nothing from now on, runs that it started go on. Role: manager. Throws
   * ConflictError (409) for another state than `ifMatch`.
   */
  delete(factoryUid: string, automationId: string, params: IfMatch = {}, options?: RequestOptions): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/factory/{factory_uid}/automations/{automation_id}',
      path: { factory_uid: factoryUid, automation_id: automationId },
      headers: whenMatching(params.ifMatch),
      answer: 'none',
      options,
    });
  }
}
