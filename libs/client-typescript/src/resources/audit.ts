/** `/audit`: who did what. */
import type { AuditEntry, AuditList } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import type { PagePromise } from '../pages.ts';
import { Resource } from '../resource.ts';
import type { QueryOf } from './params.ts';

/** Which entries to list; every filter given has to fit. */
export type AuditListParams = QueryOf<'listAuditEntries'>;

/** The audit trail. */
export class Audit extends Resource {
  /** Reads the audit trail, newest first. Role: admin. */
  list(params: AuditListParams = {}, options?: RequestOptions): PagePromise<AuditEntry, AuditList, 'entries'> {
    return this.client.page(
      { method: 'GET', template: '/audit', query: params, answer: 'AuditList', options },
      'entries',
    );
  }
}
