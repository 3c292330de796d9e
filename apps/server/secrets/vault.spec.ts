/**
 * Encryption at rest: what was sealed opens for its own row and key only, and nothing that was touched opens at all.
 * contract §2.
 */
import { randomBytes } from 'node:crypto';
import { masterKeyNameOf } from '#management';
import { keyProof, MissingMasterKeyError, sameProof, Vault } from './vault.ts';

const MASTER = randomBytes(32);
const VALUE = Buffer.from('the value of a secret');
/** What node:crypto says of a tag, nonce or key that does not fit. */
const NOT_OPENED = /unable to authenticate|[Ii]nvalid/;

describe('a sealed value', () => {
  const vault = new Vault(MASTER);
  const stored = vault.seal(VALUE, 'secret-1', 3);

  it.each([
    { value: VALUE, why: 'text' },
    { value: Buffer.alloc(0), why: 'nothing' },
    { value: Buffer.from([0, 255, 0, 10, 13]), why: 'any bytes' },
    { value: randomBytes(65_536), why: 'a lot' },
  ])('opens to the exact bytes: $why', ({ value }) => {
    expect(Buffer.compare(vault.open(vault.seal(value, 's', 1), 's', 1), value)).toBe(0);
  });

  it('opens with the same key in another process', () => {
    expect(Buffer.from(new Vault(Buffer.from(MASTER)).open(stored, 'secret-1', 3))).toEqual(VALUE);
  });

  it.each([
    { id: 'secret-2', version: 3, why: 'another secret’s row' },
    { id: 'secret-1', version: 2, why: 'an older version: nobody rolls a rotation back in the database' },
    { id: 'secret-1', version: 4, why: 'a newer version' },
    { id: 'secret-1 version 3', version: 3, why: 'a name that imitates the binding' },
  ])('does not open in $why', ({ id, version }) => {
    expect(() => vault.open(stored, id, version)).toThrow(NOT_OPENED);
  });

  it('does not open with another master key', () => {
    expect(() => new Vault(randomBytes(32)).open({ ...stored, wrappedBy: undefined }, 'secret-1', 3)).toThrow(
      NOT_OPENED,
    );
  });

  it.each(['wrappedKey', 'sealed'] as const)('does not open when one bit of %s was changed, wherever', (part) => {
    for (let position = 0; position < stored[part].length; position += 1) {
      const bytes = Buffer.from(stored[part]);
      bytes[position] = (bytes[position] as number) ^ 1;
      expect(() => vault.open({ ...stored, [part]: bytes }, 'secret-1', 3)).toThrow(NOT_OPENED);
    }
  });

  it.each([0, 1, 11, 12, 27, 28])('does not open when it was cut to %i bytes', (length) => {
    expect(() => vault.open({ ...stored, sealed: stored.sealed.subarray(0, length) }, 'secret-1', 3)).toThrow(
      NOT_OPENED,
    );
    expect(() => vault.open({ ...stored, wrappedKey: stored.wrappedKey.subarray(0, length) }, 'secret-1', 3)).toThrow(
      NOT_OPENED,
    );
  });

  it('does not open with the data key of another value', () => {
    const other = vault.seal(VALUE, 'secret-1', 3);
    expect(() => vault.open({ wrappedKey: other.wrappedKey, sealed: stored.sealed }, 'secret-1', 3)).toThrow(
      NOT_OPENED,
    );
  });

  it('shows neither the value nor that two values are equal', () => {
    const again = vault.seal(VALUE, 'secret-1', 3);
    expect(Buffer.compare(again.sealed, stored.sealed)).not.toBe(0);
    expect(Buffer.compare(again.wrappedKey, stored.wrappedKey)).not.toBe(0);
    expect(Buffer.from(stored.sealed).includes(VALUE)).toBe(false);
  });

  it('says nothing of the value when it does not open', () => {
    expect.assertions(1);
    try {
      vault.open(stored, 'secret-1', 2);
    } catch (error) {
      expect(String((error as Error).stack)).not.toContain(VALUE.toString());
    }
  });
});

describe('a master key', () => {
  it.each([0, 16, 31, 33, 64])('of %i bytes is none', (bytes) => {
    expect(() => new Vault(randomBytes(bytes))).toThrow(/32 bytes/);
  });

  it('is recognised by its proof, which differs by key and purpose', () => {
    const proof = keyProof(MASTER, 'master');
    expect(sameProof(proof, keyProof(MASTER, 'master'))).toBe(true);
    expect(sameProof(proof, keyProof(randomBytes(32), 'master'))).toBe(false);
    expect(sameProof(proof, keyProof(MASTER, 'uid'))).toBe(false);
    expect(sameProof(proof, proof.subarray(1))).toBe(false);
    expect(Buffer.compare(proof, MASTER)).not.toBe(0);
  });
});

describe('two master keys, while the master key rotates', () => {
  const next = randomBytes(32);
  const nameOf = (key: Uint8Array): string => masterKeyNameOf(keyProof(key, 'master'));

  it('open what either wraps, by its name or without one', () => {
    const both = new Vault(() => [MASTER, next]);
    const before = { ...new Vault(MASTER).seal(VALUE, 's', 1), wrappedBy: undefined };
    expect(Buffer.from(both.open(before, 's', 1))).toEqual(VALUE);
    const after = both.seal(VALUE, 's', 1, nameOf(next));
    expect(after.wrappedBy).toBe(nameOf(next));
    expect(Buffer.from(new Vault(next).open(after, 's', 1))).toEqual(VALUE);
    expect(() => new Vault(MASTER).open(after, 's', 1)).toThrow(MissingMasterKeyError);
  });

  it('rewrap a value so that only the next one opens it, in its row alone', () => {
    const both = new Vault(() => [MASTER, next]);
    const before = both.seal(VALUE, 's', 1, nameOf(MASTER));
    const after = { ...before, wrappedKey: both.rewrap(before, 's', 1, nameOf(next)), wrappedBy: nameOf(next) };
    expect(Buffer.from(new Vault(next).open(after, 's', 1))).toEqual(VALUE);
    expect(() => new Vault(next).open(after, 's', 2)).toThrow(NOT_OPENED);
    expect(() => both.rewrap(before, 'other', 1, nameOf(next))).toThrow(NOT_OPENED);
  });

  it('are looked for again when a value names one that is not known yet', () => {
    const keys: Uint8Array[] = [MASTER];
    const vault = new Vault(() => keys);
    const after = new Vault(next).seal(VALUE, 's', 1);
    expect(() => vault.open(after, 's', 1)).toThrow(MissingMasterKeyError);
    keys.push(next);
    expect(Buffer.from(vault.open(after, 's', 1))).toEqual(VALUE);
  });

  it('stay known while a file cannot be read', () => {
    let isAway = false;
    const vault = new Vault(() => {
      if (isAway) throw new Error('EACCES');
      return [MASTER];
    });
    isAway = true;
    expect(vault.lookAgain()).toEqual([nameOf(MASTER)]);
  });
});
