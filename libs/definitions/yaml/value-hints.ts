/** What is said beside a wrong value or an unknown key, where it is clear how it came about. contract §8.1. */
import type { SchemaError } from '#contracts';
import type { JsonValue } from '#filters';

/** Keys that stand inside another one, by that one. */
const INSIDE: Readonly<Record<string, ReadonlySet<string>>> = {
  filter: new Set(['payload', 'webhooks', 'webhook_ids']),
  schedule: new Set(['cron']),
  limits: new Set(['tokens', 'cost', 'minutes']),
  concurrency: new Set(['group', 'whenBusy']),
  agentDefaults: new Set(['model', 'harness', 'environmentId', 'skill', 'basePrompt', 'idleTimeoutMinutes', 'network']),
};

/** The key beside an unknown one that it belongs into. */
export function parentMeantBy({ kind, found = '', candidates = [] }: SchemaError): string | undefined {
  if (kind !== 'unknown-key') return undefined;
  return candidates.find((candidate) => Object.hasOwn(INSIDE, candidate) && INSIDE[candidate]?.has(found) === true);
}

/** Where an unknown key belongs; nothing where that is not clear. */
export function placeHint(error: SchemaError): string {
  const parent = parentMeantBy(error);
  if (parent !== undefined) return `; move it into ${parent}`;
  const isBesidePayload = error.kind === 'unknown-key' && /^\/triggers\/\d+\/filter\/[^/]+$/.test(error.pointer);
  return isBesidePayload ? '; move what is asked of the delivery into payload' : '';
}

/** How a value becomes right. Nothing of it is repeated but the address of a repository without a password. */
export function valueHint({ kind, pointer }: SchemaError, value: JsonValue | undefined): string {
  if (kind !== 'wrong-value' || typeof value !== 'string') return '';
  if (/\/(?:secretName|credentialSecret|secrets\/\d+(?:\/name)?)$/.test(pointer)) return nameHint(value);
  if (pointer.endsWith('/host') && /^[a-z]+:\/\//i.test(value)) return '; found a URL: write the host alone';
  const [, host, path] = /^git@([\w.-]+):([\w.-]+\/[\w.-]+)$/.exec(value) ?? [];
  if (path === undefined || !pointer.includes('/repositories/')) return '';
  return `; found an address of scp: write ssh://git@${host}/${path}, or ${path.replace(/\.git$/, '')}`;
}

function nameHint(value: string): string {
  if (/^\$|\{\{|^%.*%$/.test(value)) return '; found an expression, and nothing is expanded here: write the name alone';
  if (value.includes('#')) return '; found "#" in it: put a blank before it where a comment begins';
  return /\s$/.test(value) ? '; found a line end in it: write it on the line of its key' : '';
}
