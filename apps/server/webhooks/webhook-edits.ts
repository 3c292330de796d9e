/** What a request to make, change, rotate or delete a webhook of a dashboard factory comes to, decided on the factory as it is. spec: Webhook management; contract 4. */
import type { WebhookCreate, WebhookPatch } from '#contracts';
import { checkWebhookValue, slugOf, webhookKeys, type FileKeys, type WebhookDefinition } from '#definitions';
import { deriveUid } from '#reconcile';
import type {
  EditableFactory,
  EditDecision,
  EditedFactory,
  LabelledObject,
} from '../store/definitions/definition-edits.ts';
import type { WebhookRow } from '../store/definitions/definition.entities.ts';
import { notFound, type RefusalError } from '../http/error-codes.ts';
import { staleVersion, type WantedVersion } from '../http/if-match.ts';
import { newCredential, rotationOf, type SecretMeans } from './webhook-credentials.ts';
import { validationFacts, refusalOf, type ToMember } from './validation-facts.ts';

/** The written webhook, as it is told of in the transaction. */
export interface WrittenWebhook {
  webhook: WebhookRow;
  lastDeliveryAtMs?: number;
  /** A value that came into use. */
  secret?: { text: string; generated: boolean };
  /** Of a rotation: every webhook that uses it now. */
  moved?: readonly WebhookRow[];
}

export type WebhookDecision = EditDecision<WrittenWebhook, RefusalError>;

/** contract 4 (Create on a dashboard factory). */
export function createdWebhook(
  factory: EditableFactory,
  wanted: WebhookCreate,
  uidKey: Uint8Array,
  means: SecretMeans,
): WebhookDecision {
  const slug = slugOf(wanted.name, 'webhook', new Set(factory.webhooks.map((webhook) => webhook.slug)));
  const authMode = wanted.auth_mode ?? 'token';
  const credential = newCredential(
    factory,
    { slug, authMode, signatureScheme: wanted.signature_scheme, secret: wanted.secret, secretName: wanted.secret_name },
    means,
  );
  const keys = newWebhookKeys(wanted, credential.facts.name, wanted.enabled ?? credential.facts.set);
  const { definition, problems } = checkWebhookValue(
    slug,
    keys,
    factory.webhooks.map(definitionOf),
    validationFacts(factory, uidKey, credential.facts),
  );
  const refusal = refusalOf(problems, toWebhookMember, credential.errors) ?? credential.obstacle;
  if (refusal !== undefined || definition === undefined) return { ok: false, no: refusal ?? unexplained() };
  const uid = deriveUid(uidKey, 'webhook', factory.slug, slug);
  const { secretName, enabled } = definition;
  return {
    ok: true,
    secrets: credential.write === undefined ? [] : [credential.write],
    objects: [labelled(uid, wanted.name, definition)],
    change: {
      action: 'webhook.create',
      subject: uid,
      factoryUid: factory.uid,
      details: { slug, auth_mode: authMode, secret: secretName, enabled },
    },
    answer: (after) => ({ ...written(after, uid), secret: credential.value }),
  };
}

/** The keys of the file that a request to make a webhook stands for. */
export function newWebhookKeys(wanted: WebhookCreate, secretName: string, enabled: boolean | undefined): FileKeys {
  const {
    auth_mode: authMode,
    signature_scheme: signatureScheme,
    delivery_id_header: deliveryIdHeader,
    description,
  } = wanted;
  return { description, enabled, authMode, signatureScheme, secretName, deliveryIdHeader };
}

/** Members that are absent stay; a name is a label. Whether the secret is in order is asked only when the change concerns it: a webhook can always be disabled. */
export function changedWebhook(
  factory: EditableFactory,
  uid: string,
  wanted: WebhookPatch,
  isWanted: WantedVersion,
  uidKey: Uint8Array,
): WebhookDecision {
  const found = foundWebhook(factory, uid, isWanted);
  if ('no' in found) return { ok: false, no: found.no };
  const { webhook } = found;
  const before = definitionOf(webhook);
  const changes = changedKeys(before, wanted);
  const known = validationFacts(factory, uidKey);
  const others = factory.webhooks.filter((other) => other.uid !== uid).map(definitionOf);
  const { definition, problems } = checkWebhookValue(
    webhook.slug,
    { ...webhookKeys(before), ...changes },
    others,
    concernsSecret(wanted) ? known : { ...known, webhookSecrets: undefined },
  );
  const refusal = refusalOf(problems, toWebhookMember);
  if (refusal !== undefined || definition === undefined) return { ok: false, no: refusal ?? unexplained() };
  const name = wanted.name ?? webhook.name;
  const changed = Object.keys(changes).map((key) => toWebhookMember(`/${key}`).slice(1));
  const isSame = name === webhook.name && JSON.stringify(definition) === JSON.stringify(before);
  return {
    ok: true,
    objects: isSame ? [] : [labelled(uid, name, definition)],
    change: isSame
      ? undefined
      : {
          action: 'webhook.change',
          subject: uid,
          factoryUid: factory.uid,
          details: {
            slug: webhook.slug,
            changed: [...(wanted.name === undefined ? [] : ['name']), ...changed],
            enabled: definition.enabled,
          },
        },
    answer: (after) => written(after, uid),
  };
}

/** The keys of the file that a request to change a webhook sets; undefined ones go. A mode without signatures takes its scheme along. */
export function changedKeys(before: WebhookDefinition, wanted: WebhookPatch): FileKeys {
  const {
    auth_mode: authMode,
    signature_scheme: scheme,
    secret_name: secretName,
    delivery_id_header: header,
    enabled,
    description,
  } = wanted;
  const leavesSignatures = authMode !== undefined && authMode !== 'signature' && before.signatureScheme !== undefined;
  return {
    ...(authMode === undefined ? {} : { authMode }),
    ...(scheme === undefined && !leavesSignatures ? {} : { signatureScheme: scheme ?? undefined }),
    ...(secretName === undefined ? {} : { secretName }),
    ...(header === undefined ? {} : { deliveryIdHeader: header ?? undefined }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(description === undefined ? {} : { description: description ?? undefined }),
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

/** contract 4 (Rotate): every webhook that shares the secret moves in the same transaction. */
export function rotatedWebhook(
  factory: EditableFactory,
  uid: string,
  secret: string | undefined,
  isWanted: WantedVersion,
  mayChangeTeamSecrets: boolean,
  means: SecretMeans,
): WebhookDecision {
  const found = foundWebhook(factory, uid, isWanted);
  if ('no' in found) return { ok: false, no: found.no };
  const rotation = rotationOf(factory, found.webhook, secret, mayChangeTeamSecrets, means);
  if (rotation instanceof Error) return { ok: false, no: rotation };
  const { write, text, generated, moved } = rotation;
  const uids = new Set(moved.map((webhook) => webhook.uid));
  return {
    ok: true,
    secrets: [write],
    moved: moved.map((webhook) => webhook.uid),
    change: {
      action: 'webhook.rotate',
      subject: uid,
      factoryUid: factory.uid,
      details: { slug: found.webhook.slug, secret: write.name, webhooks: moved.map(({ slug }) => slug) },
    },
    answer: (after) => ({
      ...written(after, uid),
      secret: { text, generated },
      moved: after.webhooks.filter((webhook) => uids.has(webhook.uid)),
    }),
  };
}

/** Deleting what is gone is 404: it looks like what never was. */
export function deletedWebhook(
  factory: EditableFactory,
  uid: string,
  isWanted: WantedVersion,
): EditDecision<undefined, RefusalError> {
  const found = foundWebhook(factory, uid, isWanted);
  if ('no' in found) return { ok: false, no: found.no };
  const { slug, secret_name: secret } = found.webhook;
  return {
    ok: true,
    deletions: [{ kind: 'webhook', uid }],
    change: { action: 'webhook.delete', subject: uid, factoryUid: factory.uid, details: { slug, secret } },
    answer: () => undefined,
  };
}

/** What a stored webhook says. */
export function definitionOf({ definition }: WebhookRow): WebhookDefinition {
  return JSON.parse(definition) as WebhookDefinition;
}

const MEMBERS: Readonly<Record<string, string>> = {
  authMode: 'auth_mode',
  signatureScheme: 'signature_scheme',
  secretName: 'secret_name',
  deliveryIdHeader: 'delivery_id_header',
};

/** Keys of webhook files in the wire's spelling. */
export const toWebhookMember: ToMember = (pointer) =>
  pointer.replace(/^\/(\w+)/, (_, key: string) => `/${MEMBERS[key] ?? key}`);

function foundWebhook(
  factory: EditableFactory,
  uid: string,
  isWanted: WantedVersion,
): { webhook: WebhookRow } | { no: RefusalError } {
  const webhook = factory.webhooks.find((candidate) => candidate.uid === uid);
  if (webhook === undefined) return { no: notFound('the webhook') };
  return isWanted(webhook.version) ? { webhook } : { no: staleVersion('the webhook', webhook.version) };
}

function labelled(uid: string, name: string, definition: WebhookDefinition): LabelledObject {
  // Nothing of a dashboard factory stands in a file.
  return { name, object: { kind: 'webhook', uid, slug: definition.name, path: '', definition } };
}

function written(after: EditedFactory, uid: string): WrittenWebhook {
  const webhook = after.webhooks.find((candidate) => candidate.uid === uid);
  if (webhook === undefined) throw new Error('a webhook that was written is not there');
  return { webhook, lastDeliveryAtMs: after.lastDeliveries.get(uid) };
}

function unexplained(): never {
  throw new Error('a definition was refused without a problem');
}
