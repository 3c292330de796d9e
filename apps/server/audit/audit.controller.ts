/** The audit trail over the API. contract §2, §4. */
import { Controller, Get, Query } from '@nestjs/common';
import type { AuditEntry as AuditEntryItem, AuditList, RawQuery } from '#contracts';
import { queryDigest } from '#runs';
import { Allow } from '../http/access-guard.ts';
import { pageOf, pageKeyOf, queryOf, fromTime, toTime } from '../http/queries.ts';
import { AuditStore, type AuditEntry, type AuditFilter, type AuditCursor } from '../store/access/audit.ts';

interface AuditQuery {
  limit: number;
  cursor?: string;
  actor?: string;
  action?: string;
  subject?: string;
  factory_uid?: string;
  since?: string;
  until?: string;
}

@Controller('api/v1/audit')
export class AuditController {
  constructor(private readonly trail: AuditStore) {}

  /** Newest first. */
  @Get()
  @Allow('admin')
  async list(@Query() query: RawQuery): Promise<AuditList> {
    const { limit, cursor, ...asked } = queryOf<AuditQuery>('listAuditEntries', query);
    const digest = queryDigest({ list: 'audit', ...asked });
    const after = pageKeyOf(cursor, digest, ['number', 'string']);
    const found = await this.trail.list(toFilter(asked), limit + 1, after as AuditCursor | undefined);
    const { page, pageInfo } = pageOf(found, limit, digest, ({ atMs, id }) => [atMs, id]);
    return { entries: page.map(toAuditEntryItem), page_info: pageInfo };
  }
}

function toFilter({
  actor,
  action,
  subject,
  factory_uid: factoryUid,
  since,
  until,
}: Omit<AuditQuery, 'limit' | 'cursor'>): AuditFilter {
  return {
    principalUid: actor,
    action,
    subject,
    factoryUid,
    sinceMs: since === undefined ? undefined : fromTime(since),
    untilMs: until === undefined ? undefined : fromTime(until),
  };
}

function toAuditEntryItem(entry: AuditEntry): AuditEntryItem {
  return {
    id: entry.id,
    at: toTime(entry.atMs),
    principal: { uid: entry.principal.uid, display_name: entry.principal.displayName },
    key_id: entry.keyId ?? null,
    action: entry.action,
    subject: entry.subject,
    factory_uid: entry.factoryUid ?? null,
    address: entry.address ?? null,
    details: entry.details,
  };
}
