/** Managed secrets as the API shows them: everything but their values. contract §4. */
import type { Secret as SecretItem, SecretUser as SecretUserItem } from '#contracts';
import type { SecretReference } from '../store/secrets/secret-references.ts';
import type { Secret } from '../store/secrets/secrets.ts';
import { toTime } from '../http/queries.ts';

export function toSecretItem(secret: Secret, usedBy: readonly SecretReference[]): SecretItem {
  return {
    name: secret.name,
    owner: secret.owner,
    grants: { ...secret.grants },
    version: secret.version,
    set: secret.version > 0,
    url_safe: secret.usableFor?.url_token ?? false,
    updated_at: toTime(secret.updatedAtMs),
    used_by: usedBy.map(toSecretUserItem),
  };
}

export function toSecretUserItem({ kind, factoryUid, slug, webhookUid }: SecretReference): SecretUserItem {
  return { kind, factory_uid: factoryUid, slug, ...(webhookUid === undefined ? {} : { webhook_uid: webhookUid }) };
}
