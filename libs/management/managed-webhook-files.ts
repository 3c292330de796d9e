/**
 * What answers a change of a webhook that files decide: the file, the key in it, and the text that does what was asked.
 * contract §4.5 (managed definitions).
 */
import type { WebhookCreate, WebhookPatch } from '#contracts';
import {
  checkWebhookValue,
  editedWebhookFile,
  slugOf,
  suggestedSecretName,
  webhookFileText,
  webhookKeys,
  type KnownFacts,
  type ValueProblem,
} from '#definitions';
import { webhookDefinitionOf, type EditRefusal, type WebhookRecord } from './factory-edits.ts';
import { problemRefusal } from './validation-facts.ts';
import { changedWebhookKeys, newWebhookKeys, toWebhookMember } from './webhook-keys.ts';

/** A webhook and the text of its file, as far as that is stored. */
export interface ManagedWebhook {
  webhook: WebhookRecord;
  text: string | undefined;
}

/** Which edit of which file does what was asked; further members are told as they are. */
export interface FileAdvice {
  file: string;
  /** Null where it is about the whole file. */
  key: string | null;
  /** Null where no edit does it. */
  editedText: string | null;
}

/** The refusal of a change that belongs into a file. */
export function managedInFile(
  detail: string,
  { file, key, editedText, ...further }: FileAdvice & Readonly<Record<string, unknown>>,
): EditRefusal {
  return {
    kind: 'conflict',
    detail: `the definitions of this factory are managed in its files: ${detail}`,
    members: { file, key, edited_text: editedText, ...further },
  };
}

/** A webhook to be made is a file to be added. What the file could not say is 400 here already. */
export function refuseWebhookCreate(wanted: WebhookCreate, live: readonly WebhookRecord[]): EditRefusal {
  const slug = slugOf(wanted.name, 'webhook', new Set(live.map((webhook) => webhook.slug)));
  const secretName = wanted.secret_name ?? suggestedSecretName(slug);
  const keys = newWebhookKeys(wanted, secretName, wanted.enabled);
  const known: KnownFacts = { liveWebhooks: new Map(live.map((webhook) => [webhook.uid, webhook.slug])) };
  const refusal = refusalOfBody(checkWebhookValue(slug, keys, live.map(webhookDefinitionOf), known).problems);
  const file = `webhooks/${slug}.yaml`;
  const first = `set the secret first (millwright secrets set ${secretName})`;
  const detail = `add ${file} with the text in edited_text, and ${first}`;
  return (
    refusal ?? managedInFile(detail, { file, key: null, editedText: webhookFileText(keys), secret_name: secretName })
  );
}

/** A change is an edit of the file, a new name another file. */
export function refuseWebhookChange({ webhook, text }: ManagedWebhook, wanted: WebhookPatch): EditRefusal {
  const definition = webhookDefinitionOf(webhook);
  const changes = changedWebhookKeys(definition, wanted);
  const refusal = refusalOfBody(
    checkWebhookValue(webhook.slug, { ...webhookKeys(definition), ...changes }, [], {}).problems,
  );
  if (refusal !== undefined) return refusal;
  const edited = editedWebhookFile(textOf(webhook, text), changes);
  if (wanted.name !== undefined && wanted.name !== webhook.name) return refuseRename(webhook, wanted.name, edited);
  const keys = Object.keys(changes).join(', ');
  return managedInFile(`edit ${keys === '' ? 'it' : keys} in ${fileOf(webhook)}`, {
    file: fileOf(webhook),
    key: keys === '' ? null : keys,
    editedText: edited,
  });
}

function refuseRename(webhook: WebhookRecord, name: string, text: string): EditRefusal {
  const newFile = `webhooks/${slugOf(name, 'webhook', new Set([webhook.slug]))}.yaml`;
  return managedInFile(
    'the name of a webhook is the name of its file, so that it cannot be renamed; ' +
      `as ${newFile} it is another webhook with another URL`,
    { file: fileOf(webhook), key: null, editedText: text, new_file: newFile },
  );
}

/**
 * The emergency stop of a managed webhook is its secret: no file has to change. spec: Webhook management (Rotate
 * secret).
 */
export function refuseWebhookRotate(webhook: WebhookRecord): EditRefusal {
  const { secret_name: name } = webhook;
  const detail =
    `set a new value of the secret ${name} instead (millwright secrets set ${name}, or PUT /secrets/${name}; ` +
    `with PUT /factory/{factory_uid}/secrets/${name} if it is the factory's own); ` +
    'the webhook takes it over at its next sync';
  return managedInFile(detail, { file: fileOf(webhook), key: 'secretName', editedText: null, secret_name: name });
}

/** Another value would not stop whoever knows the one of before, where the webhook has an overlap. contract §9.5. */
export function refuseWebhookDelete(webhook: WebhookRecord): EditRefusal {
  const { secret_name: name } = webhook;
  const path = fileOf(webhook);
  const detail =
    `remove the file ${path}; to stop deliveries at once, withdraw the grant of the secret ${name} ` +
    `(millwright secrets grant ${name} --uses none) or delete it (millwright secrets delete ${name} --force), ` +
    "with --factory if it is the factory's own";
  return managedInFile(detail, { file: path, key: null, editedText: null, secret_name: name });
}

/** Whether the secret is in order is checked when the file is applied. */
function refusalOfBody(problems: readonly ValueProblem[]): EditRefusal | undefined {
  return problemRefusal(problems, toWebhookMember);
}

/** Its file; of a webhook that no file has taken over yet, the one that will be its own. */
function fileOf({ path, slug }: WebhookRecord): string {
  return path === '' ? `webhooks/${slug}.yaml` : path;
}

function textOf(webhook: WebhookRecord, text: string | undefined): string {
  return text ?? webhookFileText(webhookKeys(webhookDefinitionOf(webhook)));
}
