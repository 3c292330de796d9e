/**
 * What is true of an installation as a whole: its keys are the ones its database was made with, and somebody can sign
 * in. contract §1, §2.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_KEY, type Config } from '../config/config.ts';
import { writePrivateFile, KeyFileError } from '../process/key-files.ts';
import { keyProof, sameProof, type Vault } from '../secrets/vault.ts';
import type { AccessStore } from '../store/access/access.ts';
import { bySystem, type ChangedBy } from '../store/access/audit.ts';
import type { KeyStore } from '../store/access/keys.ts';
import { masterKeyNameOf } from '#management';
import { hashOfKey, hintOfKey, KEY_BYTES, keyFromRandom } from '#authentication';

/** A key file is not the one that this database was made with. */
export class WrongKeyError extends Error {}

export class Installation {
  private readonly accounts: AccessStore;
  private readonly keys: KeyStore;
  private readonly config: Config;
  private readonly newId: () => string;
  /** Derives every UID of this installation. */
  readonly uidKey: Uint8Array;
  constructor(accounts: AccessStore, keys: KeyStore, config: Config, uidKey: Uint8Array, newId: () => string) {
    this.uidKey = uidKey;
    this.accounts = accounts;
    this.keys = keys;
    this.config = config;
    this.newId = newId;
  }

  /** `masterKey`: what a new database is sealed with. Throws WrongKeyError. */
  async verifyKeys(masterKey: Uint8Array, vault: Vault): Promise<void> {
    const ours = { masterKey: keyProof(masterKey, 'master'), uidKey: keyProof(this.uidKey, 'uid') };
    const stored = await this.accounts.installation(ours);
    if (!vault.names.includes(masterKeyNameOf(stored.masterKey)))
      throw new WrongKeyError(
        'the master key is not the one of this database; set MILLWRIGHT_MASTER_KEY_FILE to that one ' +
          '(it is changed by millwright keys rotate-master, never by another file)',
      );
    if (stored.nextMasterKey !== undefined && !vault.names.includes(masterKeyNameOf(stored.nextMasterKey)))
      throw new WrongKeyError(
        'the master key rotates, and the next one is not here; put it beside the file that ' +
          'MILLWRIGHT_MASTER_KEY_FILE names, as the same name with .next',
      );
    if (!sameProof(stored.uidKey, ours.uidKey))
      throw new WrongKeyError(
        'the UID key is not the one this database was made with; set MILLWRIGHT_UID_KEY_FILE to that one, which ' +
          'every backup with keys holds as keys/uid-key. It is not changed: with another one every webhook would ' +
          'get another address; whoever wants that begins with an empty database',
      );
  }

  /**
   * Makes the first admin key on an empty database. `file` is where it lies; `key` only when it was made now. The file
   * comes first, so that a key that the database knows can always be read; one that lies there from before is taken.
   */
  async firstAdminKey(): Promise<{ file?: string; key?: string }> {
    const { adminKey, dataDir } = this.config;
    if (adminKey !== undefined) {
      await this.storeFirstKey(adminKey);
      return {};
    }
    const file = join(dataDir, 'admin-key');
    if (await this.keys.hasKeys()) return existsSync(file) ? { file } : {};
    const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
    if (known !== undefined && !ADMIN_KEY.test(known))
      throw new KeyFileError(`${file} does not hold an admin key; move it away and start again`);
    const key = known ?? keyFromRandom(randomBytes(KEY_BYTES));
    if (known === undefined) writePrivateFile(file, `${key}\n`);
    if (await this.storeFirstKey(key)) return { file, key };
    if (known === undefined) unlinkSync(file); // another process was faster: this key opens nothing
    return {};
  }

  /** Who has done what the service does at its start because of its command line or environment. */
  author(): ChangedBy {
    return bySystem(this.newId());
  }

  private storeFirstKey(key: string): Promise<boolean> {
    const first = { id: this.newId(), principalUid: 'user_admin', hash: hashOfKey(key), hint: hintOfKey(key) };
    return this.keys.createFirst(first, this.author());
  }
}
