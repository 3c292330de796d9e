/** API keys of any role, put into the store as the service stores them. */
import { createHash, randomBytes } from 'node:crypto';
import { insert } from '../../../apps/server/store/database/transactions.ts';
import type { Role } from '../../../apps/server/store/access/access.ts';
import type { TestService } from './service.ts';

export interface KeyOptions {
  /** Factories that the key is limited to. */
  factories?: readonly string[];
  /** UID of its principal; without it the key has one of its own. */
  principal?: string;
  expiresAtMs?: number;
  revokedAtMs?: number;
}

/** Makes a key of a role; answers its text. */
export async function makeKey({ service }: TestService, role: Role, options: KeyOptions = {}): Promise<string> {
  const key = `mw_${randomBytes(32).toString('base64url')}`;
  const name = randomBytes(6).toString('hex');
  const uid = options.principal ?? `user_${name}`;
  await service.database.run(function* () {
    yield* insert('principal', ['uid', 'kind', 'display_name', 'created_at'], [[uid, 'user', `the ${role}`, 0]], {
      ignoreConflicts: true,
    });
    const columns = [
      'id',
      'principal_uid',
      'name',
      'key_hash',
      'role',
      'factories',
      'created_at',
      'expires_at',
      'revoked_at',
    ] as const;
    const { factories, expiresAtMs, revokedAtMs } = options;
    yield* insert('api_key', columns, [
      [
        `00000000-0000-7000-8000-${name}`,
        uid,
        role,
        createHash('sha256').update(key).digest(),
        role,
        factories === undefined ? null : JSON.stringify(factories),
        0,
        expiresAtMs ?? null,
        revokedAtMs ?? null,
      ],
    ]);
  });
  return key;
}
