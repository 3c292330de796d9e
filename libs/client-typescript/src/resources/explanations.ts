/** `/explanations`: why a delivery or a run was decided as it was. */
import type { APIPromise } from '../answers.ts';
import type { Explanation } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import { Resource } from '../resource.ts';

/** Why deliveries and runs were decided as they were. */
export class Explanations extends Resource {
  /**
   * Explains a log entry or a run: which revision, file, webhook, automation, trigger and filter decided it, and why
   * other automations did not fire. Holds no value of a payload. Role: viewer.
   */
  retrieve(id: string, options?: RequestOptions): APIPromise<Explanation> {
    return this.client.call({
      method: 'GET',
      template: '/explanations/{id}',
      path: { id },
      answer: 'Explanation',
      options,
    });
  }
}
