/**
 * What triggers and groups say that nobody meant: providers that are nearly ours, groups that are nearly pointers.
 * contract §8.3 (other providers, concurrency), §8.4.
 */
import { SIGNATURE_SCHEMES } from '#authentication/schemes';
import type { JsonValue } from '#filters';
import { WATCHED_SCHEDULES } from '../hosted/hosted-shapes.ts';
import type { RuleId } from '../rules/rules.ts';
import { nearest } from '../suggest.ts';
import type { WrittenTrigger } from '../types.ts';

/** UIDs of webhooks: 130 bits in lower-case Crockford base32. contract §1.3 (Identifiers). */
export const WEBHOOK_UID = /^wh_[0-9a-hjkmnp-tv-z]{26}$/;

/** A rule that is broken, how, and the one word that puts it right. */
type Doubt = [rule: RuleId, message: string, meant?: string];

/** What the clock is called elsewhere, and what a request over HTTP is. */
const SCHEDULE_WORDS = words('cron crontab cronjob cron_fired timer time clock scheduled scheduler schedules interval');
const WEBHOOK_WORDS = words('webhooks web-hook web_hook webhook_received hook hooks http https post url');

/** Why a trigger of this provider starts nothing here. */
export function providerWords(provider: string): Doubt {
  if (provider === WATCHED_SCHEDULES) return ['provider-inactive', WATCHED_WORDS];
  const meant = providerMeantBy(provider);
  const named = `provider ${JSON.stringify(provider)}`;
  if (meant !== undefined) {
    const message = `${named} does not exist, so the trigger would never fire; write provider: ${WAYS[meant]}`;
    return ['provider-near', message, meant];
  }
  const way = SIGNATURE_SCHEMES.has(provider.toLowerCase())
    ? `; for its deliveries write provider: webhook, and a file of webhooks/ with authMode: signature, ` +
      `signatureScheme: ${provider.toLowerCase()}`
    : '; what fires here is webhook and schedule';
  return ['provider-inactive', `${named} is not served here: the trigger is kept and never fires${way}`];
}

const WATCHED_WORDS =
  'filter.schedule_ids names schedules that the hosted service keeps: the trigger is kept and never fires; write ' +
  'schedule: {cron: …} in its place';

const WAYS = {
  schedule: 'schedule, with event: cron_fired and schedule: {cron: …}',
  webhook: 'webhook, with event: received and filter: {webhooks: […]}',
} as const;

function providerMeantBy(provider: string): keyof typeof WAYS | undefined {
  const word = provider.toLowerCase().trim();
  if (SCHEDULE_WORDS.has(word)) return 'schedule';
  if (WEBHOOK_WORDS.has(word)) return 'webhook';
  return nearest(provider, ['webhook', 'schedule']) as keyof typeof WAYS | undefined;
}

/** What is wrong with a group, or doubtful: one that begins with a slash points into the payload (RFC 6901). */
export function groupProblem(group: string | undefined, triggers: readonly WrittenTrigger[]): Doubt | undefined {
  if (group === undefined) return undefined;
  const named = `concurrency.group ${JSON.stringify(group)}`;
  if (!group.startsWith('/')) {
    const pointer = pointerMeantBy(group, triggers);
    const meaning = 'is one name that all automations of the factory share, not a place in the payload';
    return pointer === undefined ? undefined : ['group-literal', `${named} ${meaning}; write ${pointer}`];
  }
  const stray = /~(?![01])/.exec(group);
  if (stray !== null) {
    const where = `the ~ at character ${stray.index + 1} is followed by neither 0 nor 1`;
    return ['group-pointer', `${named} is no JSON pointer: ${where}; write ~0 for ~ and ~1 for / inside a name`];
  }
  if (triggers.length === 0 || triggers.some(mayBeWebhook)) return undefined;
  const why = 'points into the payload of deliveries, and no trigger here is a webhook: the runs are in no group';
  return ['group-without-payload', `${named} ${why}; leave group out to let all of them take turns`];
}

/** Whether a trigger is one of a webhook, or is to become one: its provider is wrong, as was told. */
function mayBeWebhook(trigger: WrittenTrigger): boolean {
  if (trigger.provider !== 'inactive') return trigger.provider === 'webhook';
  return trigger.declaredProvider === '' || providerMeantBy(trigger.declaredProvider) === 'webhook';
}

/** Where payloads are called so elsewhere. */
const PAYLOAD_WORDS = words('$ payload body event data inputs github.event github context json');
/** What runs are told apart by, in payloads. */
const LAST_WORDS = words('id uid iid key number ref sha login full_name branch action node_id head_ref slug');
const EXPRESSION = /^(?:\$?\{\{\s*(.*?)\s*\}\}|\$\{(.*)\})$/;
const PATH = /^[\w$-]+(?:[./][\w$-]+|\[\d+\])+$/;

/** The pointer that somebody meant who wrote a path of another language; undefined for a name. */
function pointerMeantBy(group: string, triggers: readonly WrittenTrigger[]): string | undefined {
  const expression = EXPRESSION.exec(group);
  const text = (expression?.[1] ?? expression?.[2] ?? group).replace(/^#?[./]/, '');
  const isPath = PATH.test(text);
  if (!isPath) return expression === null && !/\$?\{\{/.test(group) ? undefined : '/ and the names on the way to it';
  const segments = text.replace(/\[(\d+)\]/g, '.$1').split(/[./]/);
  const inPayload = segments.slice(rootLength(segments));
  const isSure =
    expression !== null ||
    text !== group ||
    inPayload.length < segments.length ||
    LAST_WORDS.has(inPayload.at(-1) ?? '') ||
    triggers.some((trigger) => trigger.provider === 'webhook' && names(trigger.payload, inPayload[0] ?? ''));
  return isSure && inPayload.length > 0 ? `/${inPayload.join('/')}` : undefined;
}

/** Segments at the beginning that stand for the payload as a whole. */
function rootLength(segments: readonly string[]): number {
  if (PAYLOAD_WORDS.has(segments.slice(0, 2).join('.'))) return 2;
  return PAYLOAD_WORDS.has(segments[0] ?? '') ? 1 : 0;
}

function names(payload: JsonValue | undefined, name: string): boolean {
  return typeof payload === 'object' && payload !== null && Object.hasOwn(payload, name);
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
