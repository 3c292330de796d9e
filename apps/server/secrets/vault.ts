/**
 * Encryption at rest: AES-256-GCM, one data key per value, wrapped by the master key and bound to its row. contract §2.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A value as it is stored. Both parts are nonce, ciphertext and tag in one. */
export interface SealedValue {
  wrappedKey: Uint8Array;
  sealed: Uint8Array;
}

export class Vault {
  private readonly masterKey: Uint8Array;

  /** `masterKey`: exactly 32 bytes. */
  constructor(masterKey: Uint8Array) {
    if (masterKey.length !== KEY_BYTES) throw new Error(`a master key has ${KEY_BYTES} bytes`);
    this.masterKey = masterKey;
  }

  /** Encrypts a value so that it opens only for the same secret and version. */
  seal(value: Uint8Array, secretId: string, version: number): SealedValue {
    const dataKey = randomBytes(KEY_BYTES);
    const row = rowOf(secretId, version);
    return { wrappedKey: encrypt(this.masterKey, dataKey, row), sealed: encrypt(dataKey, value, row) };
  }

  /** Throws when the row was tampered with or sealed under another key. */
  open({ wrappedKey, sealed }: SealedValue, secretId: string, version: number): Uint8Array {
    const row = rowOf(secretId, version);
    return decrypt(decrypt(this.masterKey, wrappedKey, row), sealed, row);
  }

  /** A digest that tells whether another process has the same master key; says nothing about the key. */
  proof(): Uint8Array {
    return keyProof(this.masterKey, 'master');
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
