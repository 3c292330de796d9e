/**
 * Knows how a plan reads as text: one line a change and what is known of it below, the same text for the same plan.
 * contract §11.
 */
import {
  TRAFFIC_DAYS,
  type ChangeDetails,
  type ChangeTraffic,
  type DetailedChange,
  type EnvironmentUse,
  type SecretMark,
} from './details.ts';
import { MODEL_KEY_VARIABLES, type RunSecret } from '#definitions';
import { REPLAY_DELIVERIES_MAX, type Replay } from '../replay/replay.ts';
import type { ChangedValue } from './changed-values.ts';
import { growthWords, type CapabilityGrowth } from './growth.ts';
import type { ChangeAction } from '../types.ts';

const SIGNS: Record<ChangeAction, string> = { create: '+', update: '~', delete: '-' };
const NO_CHANGES = 'No changes.';
/** Stands for a UID that only a server can tell. */
const UNKNOWN_UID = 'assigned when it applies';
const LABEL_COLUMNS = 9;
const INDENT = '    ';

/** A plan as it is printed: details where they are known. */
export interface PrintedPlan {
  changes: readonly DetailedChange[];
  heldDeletions: readonly DetailedChange[];
  /** What runs could do more. */
  growth?: readonly CapabilityGrowth[];
}

/**
 * The plan as lines (`+` create, `~` update, `-` delete, `!` deletion held back) and a summary, each ended by a line
 * feed. Shows names, UIDs, paths and names of members, never values; control and direction characters are escaped.
 */
export function printPlan(plan: PrintedPlan): string {
  const changes = plan.changes.flatMap((change) => [
    headlineOf(change),
    ...detailLines(change).map((line) => INDENT + line),
  ]);
  const held = plan.heldDeletions.flatMap((change) => [
    headlineOf(change, true),
    ...detailLines(change).map((line) => INDENT + line),
  ]);
  return [...changes, ...held, ...growthLines(plan), summaryOf(plan)].map((text) => `${printable(text)}\n`).join('');
}

/** A section of its own: what a reviewer looks for first. */
export function growthLines({ growth = [] }: PrintedPlan): string[] {
  return growth.length === 0 ? [] : ['What grows:', ...growth.map((each) => `${INDENT}${growthWords(each)}`)];
}

/** What happens to one object, in one line. An empty UID is one that is not known yet. */
export function headlineOf(change: DetailedChange, held = false): string {
  const name = change.kind === 'factory' ? 'factory' : `${change.kind} ${change.slug}`;
  const sign = held ? '!' : SIGNS[change.action];
  return `${sign} ${name}${uidWords(change)} ${change.path}${held ? ': deletion held back' : remark(change)}`;
}

/** Without a server no UID is known: what is made has none yet, and what is there has one that is not told. */
function uidWords({ uid, action }: DetailedChange): string {
  if (uid !== '') return ` (${uid})`;
  return action === 'create' ? ` (${UNKNOWN_UID})` : '';
}

/** What is known of a change, a label and a sentence each, in a fixed order. */
export function detailLines({ details = {} }: DetailedChange): string[] {
  const { traffic, replay, secret, usedBy } = details;
  return [
    ...(details.values ?? []).map(valueLine),
    ...urlLines(details),
    ...(secret === undefined ? [] : [labelled('secret', secretWords(secret))]),
    ...(traffic === undefined ? [] : [labelled('traffic', trafficWords(traffic))]),
    ...(usedBy ?? []).map((use) => labelled('used by', useWords(use))),
    ...(replay === undefined ? [] : replayLines(replay)),
    ...(details.runSecrets ?? []).map(runSecretLine),
  ];
}

/** `/secretName "old" → "new"`; what comes or goes has one side only. */
function valueLine({ key, before, after }: ChangedValue): string {
  if (before === undefined) return `+ ${key} ${after}`;
  return after === undefined ? `- ${key} ${before}` : `~ ${key} ${before} → ${after}`;
}

/** How many changes there are of each kind. */
export function summaryOf({ changes, heldDeletions }: PrintedPlan): string {
  const deletions = heldDeletions.length === 1 ? '1 deletion' : `${heldDeletions.length} deletions`;
  const held = heldDeletions.length === 0 ? undefined : `${deletions} held back`;
  if (changes.length === 0) return held === undefined ? NO_CHANGES : `${held}; nothing else changes.`;
  const count = (action: ChangeAction): number => changes.filter((change) => change.action === action).length;
  const counts = `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete`;
  return held === undefined ? `${counts}.` : `${counts}, ${held}.`;
}

/** `would have fired 12 → 3 of the last 50 deliveries` */
function replayWords({ deliveries, before, after, cut }: Replay): string {
  if (cut && deliveries === 0) return 'too much work for a plan: no stored delivery was asked';
  if (deliveries === 0) return 'no stored deliveries to ask';
  const all =
    cut || deliveries === REPLAY_DELIVERIES_MAX
      ? `the last ${deliveries} deliveries`
      : `all ${deliveries} stored deliveries`;
  const asked = deliveries === 1 ? `the ${cut ? 'last' : 'only stored'} delivery` : all;
  const limit = cut ? '; asking older ones is too much work for a plan' : '';
  return `would have fired ${before} → ${after} of ${asked}${limit}`;
}

/** `last 7 days: 60 deliveries (55 accepted), 12 runs (1 failed); last delivery …, last run …` */
function trafficWords({ deliveries, accepted, runs, failedRuns, lastDeliveryAt, lastRunAt }: ChangeTraffic): string {
  if ((deliveries ?? 0) + runs === 0) return `none in the last ${TRAFFIC_DAYS} days`;
  const received =
    deliveries === undefined
      ? []
      : [`${counted(deliveries, 'delivery', 'deliveries')}${deliveries === 0 ? '' : ` (${accepted ?? 0} accepted)`}`];
  const started = `${counted(runs, 'run', 'runs')}${failedRuns === 0 ? '' : ` (${failedRuns} failed)`}`;
  const last = [
    ...(lastDeliveryAt === undefined ? [] : [`last delivery ${lastDeliveryAt}`]),
    ...(lastRunAt === undefined ? [] : [`last run ${lastRunAt}`]),
  ];
  const latest = last.length === 0 ? '' : `; ${last.join(', ')}`;
  return `last ${TRAFFIC_DAYS} days: ${[...received, started].join(', ')}${latest}`;
}

/** `schedule "weekly" (…), whose runs will fail` */
function useWords({ kind, name, uid }: EnvironmentUse): string {
  const which = uid === undefined ? '' : ` (${uid})`;
  return `${kind.replace('_', ' ')} ${JSON.stringify(name)}${which}, whose runs will fail`;
}

function remark(change: DetailedChange): string {
  if (change.changes.length > 0) return `: ${change.changes.join(', ')}`;
  if (change.renamedFrom === undefined) return '';
  return (
    ': renamed from ' +
    `${change.renamedFrom}, ${change.kind === 'webhook' ? 'its UID and URL are new' : 'its UID is new'}`
  );
}

function urlLines({ ingressUrl, ingressUrlBefore }: ChangeDetails): string[] {
  if (ingressUrl === undefined) return [];
  return ingressUrlBefore === undefined
    ? [labelled('url', ingressUrl)]
    : [labelled('url', `${ingressUrlBefore} →`), labelled('', ingressUrl)];
}

function secretWords({ before, after }: NonNullable<ChangeDetails['secret']>): string {
  return [before, after].flatMap((mark) => (mark === undefined ? [] : [markWords(mark)])).join(' → ');
}

function markWords({ name, version, fingerprint }: SecretMark): string {
  return version === 0
    ? `${name} (no value is set)`
    : `${name} (version ${version}${fingerprint === undefined ? '' : `, fingerprint ${fingerprint}`})`;
}

/** `outside  FORGE_TOKEN: Authorization at api.github.com (GET, POST; /repos/*)` */
function runSecretLine({ name, host, header, methods, paths, expose }: RunSecret): string {
  if (host !== undefined) {
    const requests = `${(methods ?? ['GET', 'HEAD']).join(', ')}; ${(paths ?? ['every path']).join(', ')}`;
    return labelled('outside', `${name}: ${header} at ${host} (${requests})`);
  }
  if (expose !== undefined) return labelled('inside', `${name}: a variable of the sandbox (expose: env)`);
  return MODEL_KEY_VARIABLES.includes(name)
    ? labelled('outside', `${name}: the key of a model; inside for a harness that takes no such key`)
    : labelled('inside', `${name}: a variable of the sandbox, because neither host nor expose is said`);
}

function replayLines(replay: Replay): string[] {
  const { starts, stops, unreadable, filtersUnreadable } = replay;
  return [
    labelled('replay', replayWords(replay)),
    ...(starts.length === 0 ? [] : [labelled('', `starts for ${starts.join(', ')}`)]),
    ...(stops.length === 0 ? [] : [labelled('', `stops for ${stops.join(', ')}`)]),
    ...(unreadable === 0
      ? []
      : [labelled('', `${counted(unreadable, 'stored payload', 'stored payloads')} cannot be read`)]),
    ...(filtersUnreadable === 0
      ? []
      : [labelled('', `${counted(filtersUnreadable, 'filter', 'filters')} cannot be used and match nothing`)]),
  ];
}

function labelled(label: string, words: string): string {
  return `${label.padEnd(LABEL_COLUMNS)}${words}`;
}

function counted(amount: number, one: string, many: string): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

/** A plan may come from a server: what it names must not move a terminal's cursor or turn a line around. */
function printable(text: string): string {
  const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
  return text.replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
