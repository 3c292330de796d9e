/** `/agent/identities`: named defaults of runs. */
import type { APIPromise } from '../../answers.ts';
import type { AgentIdentity, AgentIdentityCreate, AgentIdentityList, AgentIdentityUpdate } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';

/** Whose agent identities to list. */
export type AgentIdentityListParams = QueryOf<'listAgentIdentities'>;

/** Named defaults of runs, which name one as `agent_identity_uid`. */
export class Identities extends Resource {
  /** Lists those that the key may see, in the order in which they were made. Role: viewer. */
  list(params: AgentIdentityListParams = {}, options?: RequestOptions): APIPromise<AgentIdentityList> {
    return this.client.call({
      method: 'GET',
      template: '/agent/identities',
      query: params,
      answer: 'AgentIdentityList',
      options,
    });
  }

  /**
   * Makes one. Role: operator. Throws UnprocessableEntityError (422) naming members that are not served, ConflictError
   * (409) over 200 of them.
   */
  create(params: AgentIdentityCreate, options?: RequestOptions): APIPromise<AgentIdentity> {
    return this.client.call({
      method: 'POST',
      template: '/agent/identities',
      body: params,
      answer: 'AgentIdentity',
      options,
    });
  }

  /** Looks at one. Role: viewer. */
  retrieve(uid: string, options?: RequestOptions): APIPromise<AgentIdentity> {
    return this.client.call({
      method: 'GET',
      template: '/agent/identities/{uid}',
      path: { uid },
      answer: 'AgentIdentity',
      options,
    });
  }

  /** Changes one: what is left out stays, what is empty goes. Runs that exist keep what they have. Role: operator. */
  update(uid: string, params: AgentIdentityUpdate, options?: RequestOptions): APIPromise<AgentIdentity> {
    return this.client.call({
      method: 'PUT',
      template: '/agent/identities/{uid}',
      path: { uid },
      body: params,
      answer: 'AgentIdentity',
      options,
    });
  }

  /** Deletes one. Runs that exist go on. Role: operator. Throws ConflictError (409) where schedules name it. */
  delete(uid: string, options?: RequestOptions): APIPromise<void> {
    return this.client.call({
      method: 'DELETE',
      template: '/agent/identities/{uid}',
      path: { uid },
      answer: 'none',
      options,
    });
  }
}
