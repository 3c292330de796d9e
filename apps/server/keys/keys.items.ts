/** API keys as the API shows them. contract §2. */
import type { ApiKey as ApiKeyItem, Principal as PrincipalItem } from '#contracts';
import type { Principal } from '../store/access/access.ts';
import type { ApiKey } from '../store/access/keys.ts';
import { toTime } from '../http/queries.ts';

export function toApiKeyItem(key: ApiKey): ApiKeyItem {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    principal: toPrincipalItem(key.principal),
    factories: key.factories === undefined ? null : [...key.factories],
    hint: key.hint,
    created_at: toTime(key.createdAtMs),
    created_by: key.createdBy ?? null,
    expires_at: toTimeOrNull(key.expiresAtMs),
    revoked_at: toTimeOrNull(key.revokedAtMs),
    last_used_at: toTimeOrNull(key.lastUsedAtMs),
    ...(key.federatedCredentialId === undefined ? {} : { federated_credential_id: key.federatedCredentialId }),
  };
}

/** A principal as the API shows it. */
export function toPrincipalItem({ uid, kind, displayName, email }: Principal): PrincipalItem {
  return { uid, type: kind, display_name: displayName, email: email ?? null };
}

function toTimeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : toTime(ms);
}
