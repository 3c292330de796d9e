/** `/signature-schemes`: how providers sign what they send. */
import type { APIPromise } from '../answers.ts';
import type { SignatureSchemeList } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import { Resource } from '../resource.ts';

/** How providers sign what they send. */
export class SignatureSchemes extends Resource {
  /** Lists the signature schemes that webhooks can have. Role: viewer. */
  list(options?: RequestOptions): APIPromise<SignatureSchemeList> {
    return this.client.call({ method: 'GET', template: '/signature-schemes', answer: 'SignatureSchemeList', options });
  }
}
