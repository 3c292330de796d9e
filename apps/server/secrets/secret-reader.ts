/**
 * Opens secrets for the few places that need a value: git credentials and runs, and the marks by which plans tell
 * values apart. contract §12.1 (Plan).
 */
import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { SecretMark } from '#reconcile';
import { SecretStore, type SecretUsage } from '../store/secrets/secrets.ts';
import { Installation } from '../keys/installation.ts';
import { Vault } from './vault.ts';

@Injectable()
export class SecretReader {
  constructor(
    private readonly store: SecretStore,
    private readonly vault: Vault,
  ) {}

  /**
   * Newest value of a secret that this factory may use for this purpose; undefined when there is none, which looks the
   * same as "not granted".
   */
  async value(factoryUid: string, name: string, use: SecretUsage): Promise<Uint8Array | undefined> {
    const secret = (await this.store.visibleTo(factoryUid, use)).get(name);
    if (secret === undefined) return undefined;
    const newest = await this.store.newest(secret.id);
    return newest && this.vault.open(newest, newest.secretId, newest.version);
  }
}

/** Enough to tell the values of one factory apart, too few to be worth keeping. */
const HEX_DIGITS = 12;

@Injectable()
export class SecretFingerprints {
  constructor(
    private readonly store: SecretStore,
    private readonly vault: Vault,
    private readonly installation: Installation,
  ) {}

  /**
   * A mark for each of these names as a webhook of this factory may use it. Not set, not granted and not there look the
   * same: version 0.
   */
  async marks(factoryUid: string, names: readonly string[]): Promise<Map<string, SecretMark>> {
    const visible = names.length === 0 ? undefined : await this.store.visibleTo(factoryUid, 'webhook');
    const marks = new Map<string, SecretMark>();
    for (const name of new Set(names)) {
      const secret = visible?.get(name);
      const newest = secret === undefined ? undefined : await this.store.newest(secret.id);
      marks.set(
        name,
        newest === undefined
          ? { name, version: 0 }
          : { name, version: newest.version, fingerprint: this.fingerprint(factoryUid, newest) },
      );
    }
    return marks;
  }

  /**
   * Of one factory: marks of two factories do not tell that these share a value. Undefined for a value that was damaged
   * at rest.
   */
  private fingerprint(
    factoryUid: string,
    sealed: NonNullable<Awaited<ReturnType<SecretStore['newest']>>>,
  ): string | undefined {
    const value = this.opened(sealed);
    if (value === undefined) return undefined;
    return createHmac('sha256', this.installation.uidKey)
      .update(`millwright secret fingerprint 1\n${factoryUid}\n`)
      .update(value)
      .digest('hex')
      .slice(0, HEX_DIGITS);
  }

  private opened(sealed: NonNullable<Awaited<ReturnType<SecretStore['newest']>>>): Uint8Array | undefined {
    try {
      return this.vault.open(sealed, sealed.secretId, sealed.version);
    } catch {
      return undefined; // the serving state reports it, with the secret's ID
    }
  }
}
