/**
 * What a definition that comes over the API is checked against, and what becomes of its problems. contract §2, §3.10
 * (Errors), §4, §8.
 */
import { labelOf } from '#contracts';
import type { KnownFacts, SecretFacts, ValueProblem } from '#definitions';
import { deriveUid } from '#reconcile';
import type { RequestProblem } from '#runs';
import type { EditRefusal, FactoryRecord, SecretRecord } from './factory-edits.ts';

/** Everything that the rules ask of a factory; `newSecret`: one that is made with the definition. */
export function validationFacts(factory: FactoryRecord, uidKey: Uint8Array, newSecret?: SecretFacts): KnownFacts {
  const secrets = new Map([...factory.webhookSecrets].map(([name, secret]) => [name, secretFactsOf(secret)]));
  if (newSecret !== undefined) secrets.set(newSecret.name, newSecret);
  return {
    webhookSecrets: secrets,
    runSecrets: factory.runSecretNames,
    runGrants: factory.runGrants,
    liveWebhooks: new Map(factory.webhooks.map(({ uid, slug }) => [uid, slug])),
    deletedWebhookUids: factory.deletedWebhookUids,
    environmentUids: new Set(factory.environments.map(({ uid }) => uid)),
    webhookUidOf: (slug) => deriveUid(uidKey, 'webhook', factory.slug, slug),
  };
}

/** What is known of a secret without its value. */
export function secretFactsOf({ name, version, usableFor }: SecretRecord): SecretFacts {
  return { name, set: version > 0, usableFor };
}

/** Where a file's key is on the wire, as a JSON pointer into the body. */
export type ToMember = (pointer: string) => string;

/** Errors that are no fault of the body: they are reported only when it has none. */
const STATES: ReadonlySet<string> = new Set(['webhook-quota', 'secret-unset']);

/**
 * The refusal that these problems amount to, or undefined when they are warnings only: a 400 that names each member,
 * else a 422 for a full factory, else a 409.
 */
export function problemRefusal(
  problems: readonly ValueProblem[],
  toMember: ToMember,
  further: readonly RequestProblem[] = [],
): EditRefusal | undefined {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const members = [...memberErrorsOf(problems, toMember), ...further];
  if (members.length > 0) return { kind: 'invalid-members', errors: members };
  const [state] = errors.sort((a, b) => Number(b.rule === 'webhook-quota') - Number(a.rule === 'webhook-quota'));
  if (state === undefined) return undefined;
  const error = toMemberError(state, toMember);
  if (state.rule === 'webhook-quota')
    return {
      kind: 'not-supported',
      detail: 'a factory has at most 20 webhooks, disabled ones counted; delete one, or use a second factory',
      errors: [error],
    };
  return { kind: 'conflict', detail: error.message, errors: [error], members: { rule: state.rule } };
}

/** The errors among these problems that are a fault of the body, in the wire's words. */
export function memberErrorsOf(problems: readonly ValueProblem[], toMember: ToMember): RequestProblem[] {
  return problems
    .filter(({ severity, rule }) => severity === 'error' && !STATES.has(rule))
    .map((problem) => toMemberError(problem, toMember));
}

function toMemberError({ pointer, message }: ValueProblem, toMember: ToMember): RequestProblem {
  const member = toMember(pointer);
  return { pointer: member, message: inWireWords(message, pointer, member) };
}

/** Messages begin with the key that they are about. */
function inWireWords(message: string, pointer: string, member: string): string {
  const label = labelOf(pointer);
  if (pointer !== '' && message.startsWith(label)) return labelOf(member) + message.slice(label.length);
  const [word = ''] = /^\w+/.exec(message) ?? [];
  const rest = message.slice(word.length).replace(KEYS_OF_FILES, (found) => WIRE_WORDS[found] ?? found);
  return (WIRE_WORDS[word] ?? word) + rest.replace(' below the front matter', '');
}

const WIRE_WORDS: Readonly<Record<string, string>> = {
  authMode: 'auth_mode',
  signatureScheme: 'signature_scheme',
  secretName: 'secret_name',
  deliveryIdHeader: 'delivery_id_header',
  replayProtection: 'replay_protection',
  secretOverlapMinutes: 'secret_overlap_minutes',
  environmentId: 'environment_id',
  skill: 'skill_spec',
  webhook_ids: 'webhook_uids',
};

/** Those of these words that are none of the language, and whatever is quoted, which stays. */
const KEYS_OF_FILES = /"(?:[^"\\]|\\.)*"|\b(?:[a-z]+[A-Z]\w*|webhook_ids)\b/g;
