/** Who can write what a trigger reads: by the scheme of its webhooks, what its payload looks like, and its filter. */
import type { JsonValue } from '#filters';
import type { WebhookDefinition } from '../types.ts';
import { filterTests, type FilterTest } from './filter-tests.ts';

/**
 * From the narrowest to the widest: `files`, who commits definitions; `members`, people whom the filter names or who
 * may write to the project; `senders`, who holds the webhook's credential; `anyone` on the internet.
 */
export type Writer = 'files' | 'members' | 'senders' | 'anyone';

/**
 * What the filter says of authors: `none` where the provider tells of none; `unfiltered`; `forgeable`, a name that
 * authors choose themselves; `filtered`.
 */
export type AuthorCheck = 'none' | 'unfiltered' | 'forgeable' | 'filtered';

export const WRITERS: readonly Writer[] = ['files', 'members', 'senders', 'anyone'];

interface TriggerWriter {
  provider: string;
  writer: Writer;
  authors: AuthorCheck;
}

/** Of several webhooks, the widest. */
export function writerOf(webhooks: readonly WebhookDefinition[], payload: JsonValue | undefined): TriggerWriter {
  const tests = filterTests(payload);
  const all = webhooks.map((webhook) => writerAt(providerOf(webhook, tests), tests));
  const widest = (a: TriggerWriter, b: TriggerWriter): TriggerWriter =>
    WRITERS.indexOf(b.writer) > WRITERS.indexOf(a.writer) ? b : a;
  return all.length === 0 ? { provider: 'unknown', writer: 'senders', authors: 'none' } : all.reduce(widest);
}

/** Hosts of code whose issues, comments and pull requests strangers write. */
const FORGES: ReadonlySet<string> = new Set(['github', 'gitlab', 'bitbucket', 'forge']);

/** Names that only the payloads of one kind of sender have at their root. */
const TELLTALES: readonly (readonly [provider: string, field: RegExp])[] = [
  ['gitlab', /^(?:object_kind|object_attributes|event_type)$/],
  ['bitbucket', /^pullrequest$/],
  ['forge', /^(?:pull_request|issue|issue_comment|discussion|sender)$/],
];

function providerOf({ signatureScheme }: WebhookDefinition, tests: readonly FilterTest[]): string {
  if (signatureScheme !== undefined && signatureScheme !== 'standard_webhooks') return signatureScheme;
  const told = TELLTALES.find(([, field]) => tests.some(({ path }) => field.test(path[0] ?? '')));
  return told?.[0] ?? signatureScheme ?? 'unknown';
}

function writerAt(provider: string, tests: readonly FilterTest[]): TriggerWriter {
  if (FORGES.has(provider)) return forgeWriter(provider, tests);
  switch (provider) {
    // Whoever has the key that every page of the application shows reports errors, and chooses their words.
    case 'sentry':
      return { provider, writer: tests.some(isMetricAlert) ? 'senders' : 'anyone', authors: 'none' };
    // Customers choose names, descriptions and addresses.
    case 'stripe':
      return { provider, writer: 'anyone', authors: 'none' };
    default:
      return { provider, writer: 'senders', authors: 'none' };
  }
}

function isMetricAlert({ path, exists, values }: FilterTest): boolean {
  return path.join('.').startsWith('data.metric_alert') && (exists === true || values !== undefined);
}

function forgeWriter(provider: string, tests: readonly FilterTest[]): TriggerWriter {
  if (tests.some(isOfMembers)) return { provider, writer: 'members', authors: 'filtered' };
  const authors = tests.some(isForgeable) ? 'forgeable' : 'unfiltered';
  return { provider, writer: 'anyone', authors };
}

/** Whether only people of the project pass the test, or start what passes it. */
function isOfMembers(test: FilterTest): boolean {
  return [isNamedAccount, isAssociation, isOwnBranch, isPrivate, isOfWriters, isApproved].some((check) => check(test));
}

const ACCOUNTS = /^(?:sender|user|author|actor|assignee|merged_by|pusher|triggering_actor)$/;
const ACCOUNT_NAMES = /^(?:login|id|node_id|username|nickname|account_id|uuid)$/;

/** An account of the forge by a name that nobody else can have. */
function isNamedAccount({ path, values }: FilterTest): boolean {
  if (values === undefined) return false;
  const [parent, name] = [path.at(-2) ?? '', path.at(-1) ?? ''];
  if (path.length === 1) return /^(?:user_username|user_id)$/.test(name);
  return !isOfCommit(path) && ACCOUNTS.test(parent) && (ACCOUNT_NAMES.test(name) || path.join('.') === 'pusher.name');
}

function isAssociation({ path, values }: FilterTest): boolean {
  return (
    path.at(-1) === 'author_association' &&
    values !== undefined &&
    values.every((value) => value === 'OWNER' || value === 'MEMBER' || value === 'COLLABORATOR')
  );
}

/** Branches of the repository itself are pushed by people who may. */
function isOwnBranch({ path, values }: FilterTest): boolean {
  return path.at(-1) === 'fork' && path.some((name) => name.startsWith('head')) && isOnly(values, [false]);
}

function isPrivate({ path, values }: FilterTest): boolean {
  const name = path.join('.');
  return (
    (/(?:^|\.)repository\.(?:private|is_private)$/.test(name) && isOnly(values, [true])) ||
    (/(?:^|\.)repository\.visibility$/.test(name) && isOnly(values, ['private', 'internal'])) ||
    (/(?:^|\.)project\.visibility_level$/.test(name) && isOnly(values, [0, 10]))
  );
}

/** Events of pushes, deployments and releases come from people who may write. */
const FIELDS_OF_WRITERS =
  /^(?:pusher|head_commit|commits|deployment|deployment_status|release|member|team|alert|inputs|installation)$/;
const KINDS_OF_WRITERS = ['push', 'tag_push', 'pipeline', 'build', 'job', 'deployment', 'release', 'schedule'];

function isOfWriters({ path, values, exists }: FilterTest): boolean {
  const [root = '', name = ''] = [path[0], path.at(-1)];
  if (FIELDS_OF_WRITERS.test(root)) return exists === true || values !== undefined;
  if (path.length === 1 && root === 'ref') return exists === true || values !== undefined;
  const saysKind = root === 'object_kind' || root === 'event_name' || (root === 'workflow_run' && name === 'event');
  return saysKind && isOnly(values, [...KINDS_OF_WRITERS, 'workflow_dispatch']);
}

/** A label that people with rights put on, or a merge: somebody has looked. */
function isApproved({ path, values }: FilterTest): boolean {
  return (
    (path.join('.') === 'label.name' && values !== undefined) || (path.at(-1) === 'merged' && isOnly(values, [true]))
  );
}

/** A name or address that whoever writes the commit, or signs up, chooses. */
function isForgeable({ path, values }: FilterTest): boolean {
  if (values === undefined) return false;
  const [parent, name] = [path.at(-2) ?? '', path.at(-1) ?? ''];
  if (/^(?:user_name|user_email)$/.test(name)) return true;
  if (/^(?:email|name|display_name)$/.test(name)) return ACCOUNTS.test(parent) || parent === 'committer';
  return isOfCommit(path) && ACCOUNT_NAMES.test(name);
}

/** Git lets whoever commits say who has. */
function isOfCommit(path: readonly string[]): boolean {
  return path.some((name) => /^(?:commits?|head_commit|last_commit|committer)$/.test(name));
}

function isOnly(values: readonly JsonValue[] | undefined, allowed: readonly JsonValue[]): boolean {
  return values !== undefined && values.length > 0 && values.every((value) => allowed.includes(value));
}
