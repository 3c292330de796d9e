/**
 * What a request to make, change, rotate or delete a webhook of a dashboard factory comes to, decided on the factory as
 * it is.
 * spec: Webhook management; contract §4.
 */
import type { WebhookCreate, WebhookPatch } from '#contracts';
import { checkWebhookValue, slugOf, webhookKeys, type WebhookDefinition } from '#definitions';
import { deriveUid } from '#reconcile';
import {
  refusedEdit,
  webhookDefinitionOf,
  type DecidedEdit,
  type EditRefusal,
  type EditVerdict,
  type FactoryRecord,
  type RefusedEdit,
  type WebhookRecord,
  type WebhookTarget,
} from './factory-edits.ts';
import { problemRefusal, validationFacts } from './validation-facts.ts';
import { newCredential, rotationOf, type RotationRequest } from './webhook-credentials.ts';
import { changedWebhookKeys, newWebhookKeys, toWebhookMember } from './webhook-keys.ts';

/** What making a webhook takes from outside. */
export interface NewWebhookOptions {
  uidKey: Uint8Array;
  /** 32 fresh bytes that nobody can guess. */
  random: Uint8Array;
}

/** contract §4.3 (Create on a dashboard factory). */
export function createdWebhook(
  factory: FactoryRecord,
  wanted: WebhookCreate,
  { uidKey, random }: NewWebhookOptions,
): EditVerdict {
  const slug = slugOf(wanted.name, 'webhook', new Set(factory.webhooks.map((webhook) => webhook.slug)));
  const authMode = wanted.auth_mode ?? 'token';
  const { signature_scheme: signatureScheme, secret, secret_name: secretName } = wanted;
  const credential = newCredential(factory, { slug, authMode, signatureScheme, secret, secretName }, random);
  const { definition, problems } = checkWebhookValue(
    slug,
    newWebhookKeys(wanted, credential.facts.name, wanted.enabled ?? credential.facts.set),
    factory.webhooks.map(webhookDefinitionOf),
    validationFacts(factory, uidKey, credential.facts),
  );
  const refusal = problemRefusal(problems, toWebhookMember, credential.errors) ?? credential.obstacle;
  if (refusal !== undefined || definition === undefined) return refusedEdit(refusal ?? unexplained());
  const uid = deriveUid(uidKey, 'webhook', factory.slug, slug);
  return {
    ok: true,
    uid,
    secrets: credential.write === undefined ? [] : [credential.write],
    objects: [labelled(uid, wanted.name, definition)],
    change: {
      action: 'webhook.create',
      subject: uid,
      factoryUid: factory.uid,
      details: { slug, auth_mode: authMode, secret: definition.secretName, enabled: definition.enabled },
    },
    value: credential.value,
  };
}

/**
 * Members that are absent stay; a name is a label. Whether the secret is in order is asked only when the change
 * concerns it: a webhook can always be disabled.
 */
export function changedWebhook(
  factory: FactoryRecord,
  target: WebhookTarget,
  wanted: WebhookPatch,
  uidKey: Uint8Array,
): EditVerdict {
  const found = foundWebhook(factory, target);
  if (!found.ok) return found;
  const { webhook } = found;
  const before = webhookDefinitionOf(webhook);
  const known = validationFacts(factory, uidKey);
  const others = factory.webhooks.filter((other) => other.uid !== webhook.uid).map(webhookDefinitionOf);
  const { definition, problems } = checkWebhookValue(
    webhook.slug,
    { ...webhookKeys(before), ...changedWebhookKeys(before, wanted) },
    others,
    concernsSecret(wanted) ? known : { ...known, webhookSecrets: undefined },
  );
  const refusal = problemRefusal(problems, toWebhookMember);
  if (refusal !== undefined || definition === undefined) return refusedEdit(refusal ?? unexplained());
  const name = wanted.name ?? webhook.name;
  const isSame = name === webhook.name && JSON.stringify(definition) === JSON.stringify(before);
  return {
    ok: true,
    uid: webhook.uid,
    ...(isSame
      ? {}
      : { objects: [labelled(webhook.uid, name, definition)], change: changeOf(factory, webhook, wanted, definition) }),
  };
}

/** The entry of the audit trail: names of members, never what they say. */
function changeOf(
  factory: FactoryRecord,
  webhook: WebhookRecord,
  wanted: WebhookPatch,
  { enabled }: WebhookDefinition,
): DecidedEdit['change'] {
  const keys = Object.keys(changedWebhookKeys(webhookDefinitionOf(webhook), wanted));
  const changed = keys.map((key) => toWebhookMember(`/${key}`).slice(1));
  return {
    action: 'webhook.change',
    subject: webhook.uid,
    factoryUid: factory.uid,
    details: { slug: webhook.slug, changed: [...(wanted.name === undefined ? [] : ['name']), ...changed], enabled },
  };
}

function concernsSecret({
  auth_mode: mode,
  signature_scheme: scheme,
  secret_name: name,
  enabled,
}: WebhookPatch): boolean {
  return enabled === true || mode !== undefined || scheme !== undefined || name !== undefined;
}

/** contract §4.4 (Rotate): every webhook that shares the secret moves in the same transaction. */
export function rotatedWebhook(factory: FactoryRecord, target: WebhookTarget, request: RotationRequest): EditVerdict {
  const found = foundWebhook(factory, target);
  if (!found.ok) return found;
  const rotation = rotationOf(factory, found.webhook, request);
  if (!rotation.ok) return rotation;
  const { write, value, moved } = rotation;
  const { uid, slug } = found.webhook;
  return {
    ok: true,
    uid,
    secrets: [write],
    moved: moved.map((webhook) => webhook.uid),
    change: {
      action: 'webhook.rotate',
      subject: uid,
      factoryUid: factory.uid,
      details: { slug, secret: write.name, webhooks: moved.map((webhook) => webhook.slug) },
    },
    value,
  };
}

/** Deleting what is gone is 404: it looks like what never was. */
export function deletedWebhook(factory: FactoryRecord, target: WebhookTarget): EditVerdict {
  const found = foundWebhook(factory, target);
  if (!found.ok) return found;
  const { uid, slug, secret_name: secret } = found.webhook;
  return {
    ok: true,
    uid,
    deletions: [{ kind: 'webhook', uid }],
    change: { action: 'webhook.delete', subject: uid, factoryUid: factory.uid, details: { slug, secret } },
  };
}

function foundWebhook(
  factory: FactoryRecord,
  { uid, isWanted }: WebhookTarget,
): { ok: true; webhook: WebhookRecord } | RefusedEdit {
  const webhook = factory.webhooks.find((candidate) => candidate.uid === uid);
  if (webhook === undefined) return refusedEdit({ kind: 'not-found', what: 'the webhook' });
  return isWanted(webhook.version)
    ? { ok: true, webhook }
    : refusedEdit({ kind: 'stale-version', what: 'the webhook', version: webhook.version });
}

function labelled(uid: string, name: string, definition: WebhookDefinition) {
  // Nothing of a dashboard factory stands in a file.
  return { name, object: { kind: 'webhook' as const, uid, slug: definition.name, path: '', definition } };
}

function unexplained(): EditRefusal {
  throw new Error('a definition was refused without a problem');
}
