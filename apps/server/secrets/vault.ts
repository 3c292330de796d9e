/**
 * Encryption at rest: AES-256-GCM, one data key per value, wrapped by the master key and bound to its row. While the
 * master key rotates there are two. contract §2.3 (Encryption at rest).
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { masterKeyNameOf } from '#management';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A value as it is stored. Both parts are nonce, ciphertext and tag in one. */
export interface SealedValue {
  wrappedKey: Uint8Array;
  sealed: Uint8Array;
  /** Which master key wraps it; undefined: of before master keys had names. */
  wrappedBy?: string;
}

/** The master keys that are to be had now, the one of every day first. */
export type MasterKeySource = () => readonly Uint8Array[];

/** No master key of this process has the name that is asked for. */
export class MissingMasterKeyError extends Error {
  constructor(name: string) {
    super(
      `the master key ${name} is not here; put it where MILLWRIGHT_MASTER_KEY_FILE names the file, or into the file ` +
        'of the same name with .next',
    );
  }
}

export class Vault {
  private readonly source: MasterKeySource;
  private keys = new Map<string, Uint8Array>();

  /** Each key: exactly 32 bytes. */
  constructor(keys: Uint8Array | MasterKeySource) {
    this.source = typeof keys === 'function' ? keys : () => [keys];
    this.reload();
  }

  /**
   * Takes in the keys that are to be had now, and keeps those that it had: what they wrapped may still be read.
   */
  reload(): void {
    for (const key of this.source()) {
      if (key.length !== KEY_BYTES) throw new Error(`a master key has ${KEY_BYTES} bytes`);
      this.keys.set(masterKeyNameOf(keyProof(key, 'master')), key);
    }
  }

  /** The same where a file that cannot be read changes nothing; answers the names. */
  lookAgain(): readonly string[] {
    try {
      this.reload();
    } catch {
      // a key is being put there, or was taken away: what it has goes on
    }
    return this.names;
  }

  /** Names of the keys that it has; they say nothing about the keys. */
  get names(): readonly string[] {
    return [...this.keys.keys()];
  }

  /**
   * Encrypts a value so that it opens only for the same secret and version. `wrappedBy`: the name of the key that the
   * database is sealed with. Throws MissingMasterKeyError.
   */
  seal(value: Uint8Array, secretId: string, version: number, wrappedBy = this.names[0] ?? ''): SealedValue {
    const dataKey = randomBytes(KEY_BYTES);
    const row = rowOf(secretId, version);
    const wrappedKey = encrypt(this.keyNamed(wrappedBy), dataKey, row);
    return { wrappedKey, sealed: encrypt(dataKey, value, row), wrappedBy };
  }

  /** Throws when the row was tampered with or sealed under a key that is not here. */
  open(stored: SealedValue, secretId: string, version: number): Uint8Array {
    const row = rowOf(secretId, version);
    return decrypt(this.unwrap(stored, row), stored.sealed, row);
  }

  /** The data key of a value wrapped by another master key; the value itself stays as it is. Throws as `open` does. */
  rewrap(stored: SealedValue, secretId: string, version: number, wrappedBy: string): Uint8Array {
    const row = rowOf(secretId, version);
    return encrypt(this.keyNamed(wrappedBy), this.unwrap(stored, row), row);
  }

  private unwrap({ wrappedKey, wrappedBy }: SealedValue, row: Uint8Array): Uint8Array {
    if (wrappedBy !== undefined) return decrypt(this.keyNamed(wrappedBy), wrappedKey, row);
    let fault: unknown;
    for (const key of this.keys.values()) {
      try {
        return decrypt(key, wrappedKey, row);
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  }

  /** One that came after the process began is looked for when it is first asked for. */
  private keyNamed(name: string): Uint8Array {
    if (!this.keys.has(name)) this.reload();
    const key = this.keys.get(name);
    if (key === undefined) throw new MissingMasterKeyError(name);
    return key;
  }
}

/** A digest by which a database recognises the key it was made with. */
export function keyProof(key: Uint8Array, purpose: 'master' | 'uid'): Uint8Array {
  return createHmac('sha256', key).update(`millwright ${purpose} key proof 1`).digest();
}

export function sameProof(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function rowOf(secretId: string, version: number): Uint8Array {
  return Buffer.from(`millwright secret ${secretId} version ${version}`);
}

function encrypt(key: Uint8Array, plain: Uint8Array, associated: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, stored: Uint8Array, associated: Uint8Array): Uint8Array {
  const nonce = stored.subarray(0, NONCE_BYTES);
  const tag = stored.subarray(stored.length - TAG_BYTES);
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(associated);
  cipher.setAuthTag(tag);
  return Buffer.concat([cipher.update(stored.subarray(NONCE_BYTES, stored.length - TAG_BYTES)), cipher.final()]);
}
