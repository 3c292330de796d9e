/** The members of an automation, as people read them beside each other. */
import type { SeenAutomation } from '../../../api/automations.ts';
import { draftOf, membersOf, type MemberName, type Members } from './draft.ts';

export const LABELS: Readonly<Record<MemberName, string>> = {
  name: 'Name',
  description: 'Description',
  enabled: 'Enabled',
  triggers: 'Triggers',
  prompt: 'Prompt',
  agent: 'Agent',
  concurrency: 'Concurrency',
  limits: 'Limits',
  network: 'Network',
};

export function readMembers({ body }: SeenAutomation): Members {
  const reading = membersOf(draftOf(body));
  if (!reading.ok) throw new Error('what the service says of an automation is not readable');
  return reading.members;
}

/** `nameOf` names webhooks by their UIDs. */
export function textOf(value: unknown, nameOf: (webhookUid: string) => string | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return JSON.stringify(
    value,
    (key, part: unknown) =>
      key === 'webhook_uids' && Array.isArray(part) ? part.map((uid) => nameOf(String(uid)) ?? String(uid)) : part,
    2,
  );
}
