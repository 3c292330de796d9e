/** Opens secrets for the few places that need a value: git credentials and runs. Webhooks are opened by the serving state. */
import { Injectable } from '@nestjs/common';
import { SecretStore, type SecretUsage } from '../store/secrets/secrets.ts';
import { Vault } from './vault.ts';

@Injectable()
export class SecretReader {
  constructor(
    private readonly store: SecretStore,
    private readonly vault: Vault,
  ) {}

  /** Newest value of a secret that this factory may use for this purpose; undefined when there is none, which looks the same as "not granted". */
  async value(factoryUid: string, name: string, use: SecretUsage): Promise<Uint8Array | undefined> {
    const secret = (await this.store.visibleTo(factoryUid, use)).get(name);
    if (secret === undefined) return undefined;
    const newest = await this.store.newest(secret.id);
    return newest && this.vault.open(newest, newest.secretId, newest.version);
  }
}
