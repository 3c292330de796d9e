/** Knows how a plan reads as text: one line a change, the same text for the same plan. contract 11. */
import type { Change, ChangeAction, Plan } from './types.ts';

const SIGNS: Record<ChangeAction, string> = { create: '+', update: '~', delete: '-' };
const NO_CHANGES = 'No changes.';

/**
 * The plan as lines (`+` create, `~` update, `-` delete, `!` deletion held back) and a summary, each ended by a line feed. Shows
 * names, UIDs, paths and names of members, never values; control and direction characters are escaped.
 */
export function printPlan(plan: Plan): string {
  const changes = plan.changes.map((change) => line(SIGNS[change.action], change));
  const held = plan.heldDeletions.map((change) => line('!', change));
  return [...changes, ...held, summary(plan)].map((text) => `${printable(text)}\n`).join('');
}

function line(sign: string, change: Change): string {
  const subject = change.kind === 'factory' ? `factory (${change.uid})` : `${change.kind} ${change.slug} (${change.uid})`;
  return `${sign} ${subject} ${change.path}${remark(sign, change)}`;
}

function remark(sign: string, change: Change): string {
  if (sign === '!') return ': deletion held back';
  if (change.changes.length > 0) return `: ${change.changes.join(', ')}`;
  if (change.renamedFrom === undefined) return '';
  return `: renamed from ${change.renamedFrom}, ${change.kind === 'webhook' ? 'its UID and URL are new' : 'its UID is new'}`;
}

function summary({ changes, heldDeletions }: Plan): string {
  const deletions = heldDeletions.length === 1 ? '1 deletion' : `${heldDeletions.length} deletions`;
  const held = heldDeletions.length === 0 ? undefined : `${deletions} held back`;
  if (changes.length === 0) return held === undefined ? NO_CHANGES : `${NO_CHANGES} ${held}.`;
  const count = (action: ChangeAction): number => changes.filter((change) => change.action === action).length;
  const counts = `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete`;
  return held === undefined ? `${counts}.` : `${counts}, ${held}.`;
}

/** A plan may come from a server: what it names must not move a terminal's cursor or turn a line around. */
function printable(text: string): string {
  const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
  return text.replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
