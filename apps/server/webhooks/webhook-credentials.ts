/** Which secret a webhook of a dashboard factory gets, and what replaces it. contract 2 (Managed secrets), 4 (Create, Rotate). */
import {
  isUsable,
  secretFromRandom,
  secretRequirement,
  secretUse,
  unusableReason,
  type SecretUse,
} from '#authentication';
import { suggestedSecretName, type AuthMode, type SecretFacts } from '#definitions';
import type { EditableFactory } from '../store/definitions/definition-edits.ts';
import { TEAM } from '../store/secrets/secret-rows.ts';
import type { NewValue, WantedSecret } from '../store/secrets/secrets.ts';
import type { WebhookRow } from '../store/definitions/definition.entities.ts';
import { lastingConflict, RefusalError, type MemberError } from '../http/error-codes.ts';
import { factsOf } from './validation-facts.ts';

/** What making a secret takes from outside: nothing here is random or secret by itself. */
export interface SecretMeans {
  newId(): string;
  /** 32 fresh bytes that nobody can guess. */
  random(): Uint8Array;
  /** A value on its way into the store. */
  sealing(value: Uint8Array): NewValue;
}

/** The secret that a new webhook names. */
export interface NewCredential {
  facts: SecretFacts;
  /** What is to be written: a secret that did not exist. */
  write?: WantedSecret;
  /** A value that was not there before, and whether it was made here, so that it is shown. */
  value?: { text: string; generated: boolean };
  /** What is wrong with the members of the body. */
  errors: readonly MemberError[];
  /** What stands in the way, told only when the body is in order. */
  obstacle?: RefusalError;
}

export interface CredentialRequest {
  slug: string;
  authMode: AuthMode;
  signatureScheme?: string;
  secret?: string;
  secretName?: string;
}

/** Half of a surrogate pair has no bytes: the value could not be kept as it is. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** An existing secret is used as it is; any other is made, with the given value, a generated one, or for a provider's scheme none yet. */
export function newCredential(factory: EditableFactory, wish: CredentialRequest, means: SecretMeans): NewCredential {
  const name = wish.secretName ?? freeSecretName(factory, wish.slug);
  const existing = factory.webhookSecrets.get(name);
  if (existing !== undefined) {
    const obstacle =
      wish.secret === undefined
        ? undefined
        : lastingConflict(
            `the secret ${name} exists: leave out secret to use it as it is, or choose another secret_name`,
          );
    return { facts: factsOf(existing), errors: [], obstacle };
  }
  const use = secretUse(wish.authMode, wish.signatureScheme);
  const text = wish.secret ?? (use === 'signature' ? undefined : secretFromRandom(use, means.random()));
  return {
    facts: { name, set: text !== undefined }, // whether the value fits is told at its own member
    write: {
      id: means.newId(),
      owner: factory.uid,
      name,
      value: text === undefined ? undefined : means.sealing(Buffer.from(text, 'utf8')),
    },
    value: text === undefined ? undefined : { text, generated: wish.secret === undefined },
    errors: wish.secret === undefined ? [] : valueErrors(wish.secret, use),
    obstacle: factory.ownSecretNames.has(name) ? notForWebhooks(name) : undefined,
  };
}

/** A name that no secret of the factory has and no webhook waits for. */
function freeSecretName(factory: EditableFactory, slug: string): string {
  const taken = new Set([
    ...factory.ownSecretNames,
    ...factory.webhookSecrets.keys(),
    ...factory.webhooks.map(({ secret_name: name }) => name),
  ]);
  for (let count = 1; ; count += 1) {
    const name = suggestedSecretName(slug) + (count === 1 ? '' : `-${count}`);
    if (!taken.has(name)) return name;
  }
}

/** A new value for a secret that webhooks share. */
export interface Rotation {
  write: WantedSecret;
  text: string;
  generated: boolean;
  /** Webhooks of the factory that use it from then on. */
  moved: readonly WebhookRow[];
}

/** Decides on a rotation. `mayChangeTeamSecrets`: an admin of everything asks. */
export function rotationOf(
  factory: EditableFactory,
  webhook: WebhookRow,
  supplied: string | undefined,
  mayChangeTeamSecrets: boolean,
  means: SecretMeans,
): Rotation | RefusalError {
  const name = webhook.secret_name;
  const moved = factory.webhooks.filter(({ secret_name: other }) => other === name);
  const malformed = suppliedRefusal(useOf(webhook), supplied, moved);
  if (malformed !== undefined) return malformed;
  const existing = factory.webhookSecrets.get(name);
  if (existing === undefined && factory.ownSecretNames.has(name)) return notForWebhooks(name);
  if (existing?.owner === TEAM && !mayChangeTeamSecrets) {
    return new RefusalError(
      'not_authorized',
      `the secret ${name} belongs to the team: an admin rotates it (PUT /secrets/${name}), or give the webhook a secret_name of its own`,
    );
  }
  if (existing !== undefined && factory.secretsUsedElsewhere.has(existing.id)) {
    return lastingConflict(
      `the secret ${name} is used in another factory too: set it with PUT /secrets/${name}, which moves every webhook that uses it`,
    );
  }
  const text = supplied ?? generatedFor(moved, means);
  if (text === undefined)
    return lastingConflict(
      `webhooks that share the secret ${name} need different kinds of secret (${moved.map(({ slug }) => slug).join(', ')}); give one of them a secret_name of its own`,
    );
  const owner = existing?.owner ?? factory.uid;
  return {
    write: { id: means.newId(), owner, name, value: means.sealing(Buffer.from(text, 'utf8')) },
    text,
    generated: supplied === undefined,
    moved,
  };
}

/** Provider schemes need a secret, tokens take none; a given one must fit every webhook that shares it. */
function suppliedRefusal(
  use: SecretUse,
  supplied: string | undefined,
  moved: readonly WebhookRow[],
): RefusalError | undefined {
  const errorsAt = (messages: readonly string[]): { errors: MemberError[] } => ({
    errors: messages.map((message) => ({ pointer: '/secret', message })),
  });
  if (supplied === undefined) {
    const needed = 'is required: the new signing secret comes from the provider';
    return use === 'signature'
      ? new RefusalError('invalid_request', `secret ${needed}`, errorsAt([needed]))
      : undefined;
  }
  if (use === 'token' || use === 'url_token') {
    const refused = 'is not taken in this mode: a new one is generated and shown once';
    return new RefusalError('operation_not_supported', `secret ${refused}`, errorsAt([refused]));
  }
  const unfit = moved.flatMap((webhook) =>
    valueErrors(supplied, useOf(webhook)).map(({ message }) => `webhook ${webhook.slug} cannot use it: ${message}`),
  );
  return unfit.length === 0
    ? undefined
    : new RefusalError(
        'invalid_request',
        'a webhook that uses this secret could not authenticate with the value',
        errorsAt(unfit),
      );
}

/** One value that every one of these webhooks can use; undefined when there is none. */
function generatedFor(webhooks: readonly WebhookRow[], means: SecretMeans): string | undefined {
  const uses = webhooks.map(useOf);
  const text = secretFromRandom(uses.find((use) => use === 'standard_webhooks') ?? 'token', means.random());
  return uses.every((use) => isUsable(use, Buffer.from(text))) ? text : undefined;
}

/** What is wrong with a value for one use; never repeats it. */
export function valueErrors(secret: string, use: SecretUse): MemberError[] {
  const reason = HALF_CHARACTER.test(secret)
    ? `${secretRequirement(use)}, and Unicode text`
    : unusableReason(use, Buffer.from(secret, 'utf8'));
  return reason === undefined ? [] : [{ pointer: '/secret', message: reason }];
}

function useOf({ auth_mode: mode, signature_scheme: scheme }: WebhookRow): SecretUse {
  return secretUse(mode as AuthMode, scheme ?? undefined);
}

function notForWebhooks(name: string): RefusalError {
  return lastingConflict(
    `the factory has a secret ${name} that is not granted for webhooks: grant it (PUT /factory/{factory_uid}/secrets/${name}), or choose another secret_name`,
  );
}
