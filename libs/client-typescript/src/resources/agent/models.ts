/** `/agent/models`: language models that are known here. */
import type { APIPromise } from '../../answers.ts';
import type { ModelList } from '../../models.ts';
import type { RequestOptions } from '../../options.ts';
import { Resource } from '../../resource.ts';

/** Language models that are known here. */
export class Models extends Resource {
  /**
   * Lists the models that the operator lists and those that definitions name, by ID. Any other ID may be named, too:
   * what it does is up to the harness. Role: viewer.
   */
  list(options?: RequestOptions): APIPromise<ModelList> {
    return this.client.call({ method: 'GET', template: '/agent/models', answer: 'ModelList', options });
  }
}
