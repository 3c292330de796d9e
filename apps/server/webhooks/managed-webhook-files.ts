/** What answers a change of a webhook that files decide: the file, the key in it, and the text that does what was asked. contract 4 (managed definitions). */
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
import type { WebhookRow } from '../store/definitions/definition.entities.ts';
import { lastingConflict, type RefusalError } from '../http/error-codes.ts';
import { refusalOf } from './validation-facts.ts';
import { changedKeys, definitionOf, newWebhookKeys, toWebhookMember } from './webhook-edits.ts';

/** A webhook and the text of its file, as far as that was kept. */
export interface ManagedWebhook {
  webhook: WebhookRow;
  text: string | undefined;
}

/** The refusal of a change that belongs into a file. `key`: null where it is about the whole file; `edited_text`: null where no edit does it. */
export function belongsIntoFile(
  detail: string,
  file: string,
  key: string | null,
  editedText: string | null,
  further: Readonly<Record<string, unknown>> = {},
): RefusalError {
  return lastingConflict(`the definitions of this factory are managed in its files: ${detail}`, {
    file,
    key,
    edited_text: editedText,
    ...further,
  });
}

/** A webhook to be made is a file to be added. What the file could not say is 400 here already. */
export function refuseWebhookCreate(wanted: WebhookCreate, live: readonly WebhookRow[]): RefusalError {
  const slug = slugOf(wanted.name, 'webhook', new Set(live.map((webhook) => webhook.slug)));
  const secretName = wanted.secret_name ?? suggestedSecretName(slug);
  const keys = newWebhookKeys(wanted, secretName, wanted.enabled);
  const known: KnownFacts = { liveWebhooks: new Map(live.map((webhook) => [webhook.uid, webhook.slug])) };
  const refusal = refusalOfBody(checkWebhookValue(slug, keys, live.map(definitionOf), known).problems);
  const file = `webhooks/${slug}.yaml`;
  const detail = `add ${file} with the text in edited_text, and set the secret first (millwright secrets set ${secretName})`;
  return refusal ?? belongsIntoFile(detail, file, null, webhookFileText(keys), { secret_name: secretName });
}

/** A change is an edit of the file, a new name another file. */
export function refuseWebhookChange({ webhook, text }: ManagedWebhook, wanted: WebhookPatch): RefusalError {
  const definition = definitionOf(webhook);
  const changes = changedKeys(definition, wanted);
  const refusal = refusalOfBody(
    checkWebhookValue(webhook.slug, { ...webhookKeys(definition), ...changes }, [], {}).problems,
  );
  if (refusal !== undefined) return refusal;
  const edited = editedWebhookFile(textOf(webhook, text), changes);
  if (wanted.name !== undefined && wanted.name !== webhook.name) return refuseRename(webhook, wanted.name, edited);
  const keys = Object.keys(changes).join(', ');
  return belongsIntoFile(
    `edit ${keys === '' ? 'it' : keys} in ${fileOf(webhook)}`,
    fileOf(webhook),
    keys === '' ? null : keys,
    edited,
  );
}

function refuseRename(webhook: WebhookRow, name: string, text: string): RefusalError {
  const newFile = `webhooks/${slugOf(name, 'webhook', new Set([webhook.slug]))}.yaml`;
  return belongsIntoFile(
    `the name of a webhook is the name of its file, so that it cannot be renamed; as ${newFile} it is another webhook with another URL`,
    fileOf(webhook),
    null,
    text,
    { new_file: newFile },
  );
}

/** The emergency stop of a managed webhook is its secret: no file has to change. spec: Rotate secret. */
export function refuseRotate(webhook: WebhookRow): RefusalError {
  const { secret_name: name } = webhook;
  const detail = `set a new value of the secret ${name} instead (millwright secrets set ${name}, or PUT /secrets/${name}; with PUT /factory/{factory_uid}/secrets/${name} if it is the factory's own); the webhook takes it over at its next sync`;
  return belongsIntoFile(detail, fileOf(webhook), 'secretName', null, { secret_name: name });
}

export function refuseWebhookDelete(webhook: WebhookRow): RefusalError {
  const { secret_name: name } = webhook;
  const path = fileOf(webhook);
  return belongsIntoFile(
    `remove the file ${path}; to stop deliveries at once, set another value of the secret ${name}`,
    path,
    null,
    null,
    { secret_name: name },
  );
}

/** Whether the secret is in order is checked when the file is applied. */
function refusalOfBody(problems: readonly ValueProblem[]): RefusalError | undefined {
  return refusalOf(problems, toWebhookMember);
}

/** Its file; of a webhook that no file has taken over yet, the one that will be its own. */
function fileOf({ path, slug }: WebhookRow): string {
  return path === '' ? `webhooks/${slug}.yaml` : path;
}

function textOf(webhook: WebhookRow, text: string | undefined): string {
  return text ?? webhookFileText(webhookKeys(definitionOf(webhook)));
}
