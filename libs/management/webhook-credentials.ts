/**
 * Which secret a webhook of a dashboard factory gets, and what replaces it. contract §2.2, §4.3, §4.4.
 */
import {
  isUsable,
  secretFromRandom,
  secretRequirement,
  secretUse,
  unusableReason,
  type SecretUse,
} from '#authentication';
import { suggestedSecretName, type AuthMode, type SecretFacts } from '#definitions';
import type { RequestProblem } from '#runs';
import {
  refusedEdit,
  type EditRefusal,
  type FactoryRecord,
  type NewSecretValue,
  type RefusedEdit,
  type SecretWrite,
  type WebhookRecord,
} from './factory-edits.ts';
import { secretFactsOf } from './validation-facts.ts';

/** The secret that a new webhook names. */
export interface NewCredential {
  facts: SecretFacts;
  /** What is to be written: a secret that did not exist. */
  write?: SecretWrite;
  /** A value that was not there before. */
  value?: NewSecretValue;
  /** What is wrong with the members of the body. */
  errors: readonly RequestProblem[];
  /** Why it cannot be had, reported only when the body is in order. */
  obstacle?: EditRefusal;
}

/** What a request says of the secret of a new webhook. */
export interface CredentialRequest {
  slug: string;
  authMode: AuthMode;
  signatureScheme?: string;
  secret?: string;
  secretName?: string;
}

/** Half of a surrogate pair has no bytes: the value could not be stored as it is. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/**
 * An existing secret is used as it is; any other is made, with the given value, a generated one, or for a provider's
 * scheme none yet.
 * `random`: 32 fresh bytes that nobody can guess.
 */
export function newCredential(factory: FactoryRecord, request: CredentialRequest, random: Uint8Array): NewCredential {
  const name = request.secretName ?? freeSecretName(factory, request.slug);
  const existing = factory.webhookSecrets.get(name);
  if (existing !== undefined) {
    const detail = `the secret ${name} exists: leave out secret to use it as it is, or choose another secret_name`;
    const obstacle = request.secret === undefined ? undefined : lastingConflict(detail);
    return { facts: secretFactsOf(existing), errors: [], obstacle };
  }
  const use = secretUse(request.authMode, request.signatureScheme);
  const text = request.secret ?? (use === 'signature' ? undefined : secretFromRandom(use, random));
  return {
    facts: { name, set: text !== undefined }, // whether the value fits is said at its own member
    write: { owner: factory.uid, name, text },
    value: text === undefined ? undefined : { text, generated: request.secret === undefined },
    errors: request.secret === undefined ? [] : secretValueErrors(request.secret, use),
    obstacle: factory.ownSecretNames.has(name) ? notForWebhooks(name) : undefined,
  };
}

/** A name that no secret of the factory has and no webhook waits for. */
function freeSecretName(factory: FactoryRecord, slug: string): string {
  const used = new Set([
    ...factory.ownSecretNames,
    ...factory.webhookSecrets.keys(),
    ...factory.webhooks.map(({ secret_name: name }) => name),
  ]);
  for (let count = 1; ; count += 1) {
    const name = suggestedSecretName(slug) + (count === 1 ? '' : `-${count}`);
    if (!used.has(name)) return name;
  }
}

/** What a rotation is asked to do. */
export interface RotationRequest {
  /** The new value; absent: one is generated. */
  secret?: string;
  /** An admin of everything asks. */
  mayChangeTeamSecrets: boolean;
  /** 32 fresh bytes that nobody can guess. */
  random: Uint8Array;
}

/** A new value for a secret that webhooks share. */
export interface Rotation {
  ok: true;
  write: SecretWrite;
  value: NewSecretValue;
  /** Webhooks of the factory that use it from then on. */
  moved: readonly WebhookRecord[];
}

/** Decides on a rotation. */
export function rotationOf(
  factory: FactoryRecord,
  webhook: WebhookRecord,
  { secret, mayChangeTeamSecrets, random }: RotationRequest,
): Rotation | RefusedEdit {
  const name = webhook.secret_name;
  const moved = factory.webhooks.filter(({ secret_name: other }) => other === name);
  const reason =
    suppliedRefusal(useOf(webhook), secret, moved) ?? ownershipRefusal(factory, name, mayChangeTeamSecrets);
  if (reason !== undefined) return refusedEdit(reason);
  const text = secret ?? generatedFor(moved, random);
  if (text === undefined)
    return refusedEdit(
      lastingConflict(
        `webhooks that share the secret ${name} need different kinds of secret (${moved
          .map(({ slug }) => slug)
          .join(', ')}); give one of them a secret_name of its own`,
      ),
    );
  const owner = factory.webhookSecrets.get(name)?.owner ?? factory.uid;
  return {
    ok: true,
    write: { owner, name, text },
    value: { text, generated: secret === undefined },
    moved,
  };
}

/** Why the secret of this name is not the factory's to change. */
function ownershipRefusal(
  factory: FactoryRecord,
  name: string,
  mayChangeTeamSecrets: boolean,
): EditRefusal | undefined {
  const existing = factory.webhookSecrets.get(name);
  if (existing === undefined) return factory.ownSecretNames.has(name) ? notForWebhooks(name) : undefined;
  if (existing.owner !== factory.uid && !mayChangeTeamSecrets) {
    const wayOut = `an admin rotates it (PUT /secrets/${name}), or give the webhook a secret_name of its own`;
    return { kind: 'not-authorized', detail: `the secret ${name} belongs to the team: ${wayOut}` };
  }
  if (!factory.secretsUsedElsewhere.has(existing.id)) return undefined;
  const wayOut = `set it with PUT /secrets/${name}, which moves every webhook that uses it`;
  return lastingConflict(`the secret ${name} is used in another factory too: ${wayOut}`);
}

/** Provider schemes need a secret, tokens take none; a given one must fit every webhook that shares it. */
function suppliedRefusal(
  use: SecretUse,
  supplied: string | undefined,
  moved: readonly WebhookRecord[],
): EditRefusal | undefined {
  if (supplied === undefined) {
    const needed = 'is required: the new signing secret comes from the provider';
    const errors = secretErrors([needed]);
    return use === 'signature' ? { kind: 'invalid-request', detail: `secret ${needed}`, errors } : undefined;
  }
  if (use === 'token' || use === 'url_token') {
    const refused = 'is not taken in this mode: a new one is generated and shown once';
    return { kind: 'not-supported', detail: `secret ${refused}`, errors: secretErrors([refused]) };
  }
  const unfit = moved.flatMap((webhook) =>
    secretValueErrors(supplied, useOf(webhook)).map(
      ({ message }) => `webhook ${webhook.slug} cannot use it: ${message}`,
    ),
  );
  if (unfit.length === 0) return undefined;
  const detail = 'a webhook that uses this secret could not authenticate with the value';
  return { kind: 'invalid-request', detail, errors: secretErrors(unfit) };
}

function secretErrors(messages: readonly string[]): RequestProblem[] {
  return messages.map((message) => ({ pointer: '/secret', message }));
}

/** One value that every one of these webhooks can use; undefined when there is none. */
function generatedFor(webhooks: readonly WebhookRecord[], random: Uint8Array): string | undefined {
  const uses = webhooks.map(useOf);
  const text = secretFromRandom(uses.find((use) => use === 'standard_webhooks') ?? 'token', random);
  return uses.every((use) => isUsable(use, Buffer.from(text))) ? text : undefined;
}

/** What is wrong with a value for one use; never repeats it. */
export function secretValueErrors(secret: string, use: SecretUse): RequestProblem[] {
  const reason = HALF_CHARACTER.test(secret)
    ? `${secretRequirement(use)}, and Unicode text`
    : unusableReason(use, Buffer.from(secret, 'utf8'));
  return reason === undefined ? [] : [{ pointer: '/secret', message: reason }];
}

function useOf({ auth_mode: mode, signature_scheme: scheme }: WebhookRecord): SecretUse {
  return secretUse(mode as AuthMode, scheme ?? undefined);
}

function notForWebhooks(name: string): EditRefusal {
  const wayOut = `grant it (PUT /factory/{factory_uid}/secrets/${name}), or choose another secret_name`;
  return lastingConflict(`the factory has a secret ${name} that is not granted for webhooks: ${wayOut}`);
}

function lastingConflict(detail: string): EditRefusal {
  return { kind: 'conflict', detail };
}
