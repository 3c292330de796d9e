/** `/agent/conversations`: what was said, over all runs of a conversation. */
import type { APIPromise } from '../../answers.ts';
import type { Conversation, ConversationStep, RunReference } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import type { PagePromise } from '../../pages.ts';
import { Resource } from '../../resource.ts';
import type { QueryOf } from '../params.ts';

/** Where a page of a conversation begins, and how many turns it has at most. */
export type ConversationRetrieveParams = QueryOf<'getConversation'>;

/** Conversations, each of one run or several. */
export class Conversations extends Resource {
  /**
   * Reads a conversation, as far as the key may see its runs: its turns, page by page. Role: viewer. Throws
   * NotFoundError (404) when the key may see none of the runs.
   */
  retrieve(
    conversationId: string,
    params: ConversationRetrieveParams = {},
    options?: RequestOptions,
  ): PagePromise<ConversationStep, Conversation, 'steps'> {
    return this.client.page(
      {
        method: 'GET',
        template: '/agent/conversations/{conversation_id}',
        path: { conversation_id: conversationId },
        query: params,
        answer: 'Conversation',
        options,
      },
      'steps',
    );
  }

  /** Interrupts the latest run that the key may see, as `agent.runs.interrupt` does. Role: operator. */
  interrupt(conversationId: string, options?: RequestOptions): APIPromise<RunReference> {
    return this.client.call({
      method: 'POST',
      template: '/agent/conversations/{conversation_id}/interrupt',
      path: { conversation_id: conversationId },
      answer: 'RunReference',
      options,
    });
  }
}
