/** `millwright backup` and `restore`: the database and its keys, in one file and back. contract §1.5, §11. */
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import type { BackupManifest } from '#management';
import type { DecryptionKey, EncryptionKey } from '../../../server/backup/encryption.ts';
import { CommandError, UsageError, verb, type CliIo } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { count, FORMAT_OPTION, outputFor } from '../../terminal/output.ts';

/** The verb `backup`. */
export const backup = verb({
  name: 'backup',
  arguments: 'FILE|-',
  summary: 'Writes the database, as of one moment, and its two keys to a file (or standard output).',
  details: [
    'Reads the same MILLWRIGHT_ variables as start. The service may run meanwhile; nothing waits.',
    'PostgreSQL is dumped by pg_dump, which has to be on the PATH and not older than the server.',
    'Encrypted backups are files of age: `age --decrypt` opens them to a tar. Standard output is encrypted only.',
  ],
  positionals: [1, 1],
  options: {
    recipient: {
      type: 'string',
      multiple: true,
      commas: true,
      value: 'AGE-KEY,…',
      help: 'encrypt for these public keys of age (age1…); may be repeated',
    },
    'passphrase-file': { type: 'string', value: 'FILE', help: "encrypt with the passphrase in the file's first line" },
    'without-keys': { type: 'boolean', help: 'leave the master key and the UID key out; keep them elsewhere' },
    format: FORMAT_OPTION,
  },
  async run({ values, positionals: [to = ''] }, io) {
    const { makeBackup } = await import('../../../server/backup/backup.ts');
    const { readPassphrase } = await import('../../../server/backup/encryption.ts');
    const { readConfig } = await import('../../../server/config/config.ts');
    const { recipient = [], 'passphrase-file': passphraseFile } = values;
    if (recipient.length > 0 && passphraseFile !== undefined)
      throw new UsageError('give --recipient or --passphrase-file, not both');
    return orExplain(async () => {
      const encryption: EncryptionKey | undefined =
        passphraseFile === undefined
          ? recipient.length > 0
            ? { recipients: recipient }
            : undefined
          : { passphrase: readPassphrase(resolve(io.cwd, passphraseFile)) };
      const manifest = await makeBackup({
        config: readConfig(io.environment),
        to: to === '-' ? { stream: encryptedStream(io, encryption) } : { file: resolve(io.cwd, to) },
        encryption,
        withKeys: values['without-keys'] !== true,
        nowMs: Date.now(),
      });
      await report(manifest, to, values.format, io);
      return EXIT.ok;
    });
  },
});

/** The verb `restore`. */
export const restore = verb({
  name: 'restore',
  arguments: 'FILE|-',
  summary: 'Restores a backup into an empty data folder, or an empty PostgreSQL database.',
  details: [
    'Reads the same MILLWRIGHT_ variables as start, and overwrites nothing. Everything is compared, row by row, with',
    'what the backup says of itself before it gets its place. The next start migrates what an older version wrote.',
  ],
  positionals: [1, 1],
  options: {
    identity: { type: 'string', value: 'FILE', help: 'file with the secret key of age (AGE-SECRET-KEY-…)' },
    'passphrase-file': { type: 'string', value: 'FILE', help: 'file whose first line is the passphrase' },
    format: FORMAT_OPTION,
  },
  async run({ values, positionals: [from = ''] }, io) {
    const { restoreBackup } = await import('../../../server/backup/restore.ts');
    const { readIdentities, readPassphrase } = await import('../../../server/backup/encryption.ts');
    const { readConfig } = await import('../../../server/config/config.ts');
    const { identity, 'passphrase-file': passphraseFile } = values;
    if (identity !== undefined && passphraseFile !== undefined)
      throw new UsageError('give --identity or --passphrase-file, not both');
    return orExplain(async () => {
      let key: DecryptionKey | undefined;
      if (identity !== undefined) key = { identities: readIdentities(resolve(io.cwd, identity)) };
      if (passphraseFile !== undefined) key = { passphrase: readPassphrase(resolve(io.cwd, passphraseFile)) };
      const { manifest, keys } = await restoreBackup({
        config: readConfig(io.environment),
        archive: archiveFrom(from, io),
        key,
      });
      const output = await outputFor(io, values.format);
      output.result({ ...summaryOf(manifest), keys_restored: keys }, () => {
        output.line(`restored the backup of ${manifest.created_at}: ${rowsOf(manifest)}, every row compared`);
        if (!keys) output.note('it holds no keys: put the two key files where the service looks for them');
      });
      return EXIT.ok;
    });
  },
});

/** Standard output leaves the machine, and a terminal shows it to whoever looks. */
function encryptedStream(io: CliIo, encryption: EncryptionKey | undefined): Writable {
  if (encryption === undefined)
    throw new UsageError('standard output is encrypted only: give --recipient or --passphrase-file');
  if (io.stdout.isTTY === true) throw new UsageError('a terminal is no place for a backup: send it on, or name a FILE');
  return io.stdout as Writable;
}

function archiveFrom(from: string, io: CliIo): Readable {
  if (from === '-') return Readable.from(io.stdin as AsyncIterable<Buffer>, { objectMode: false });
  const path = resolve(io.cwd, from);
  if (!existsSync(path)) throw new CommandError(`there is no file ${from}`, EXIT.usage);
  return createReadStream(path);
}

async function orExplain(act: () => Promise<number>): Promise<number> {
  const { BackupError } = await import('../../../server/store/backup/backup-errors.ts');
  const { ConfigError } = await import('../../../server/config/config.ts');
  try {
    return await act();
  } catch (error) {
    if (error instanceof BackupError) throw new CommandError(error.message, EXIT.problems, [], { cause: error });
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.faults.map(({ variable, rule }) => `${variable} ${rule}`);
    throw new CommandError('the configuration is wrong', EXIT.usage, lines, { cause: error });
  }
}

/** To standard error where the archive takes standard output. */
async function report(manifest: BackupManifest, to: string, format: string | undefined, io: CliIo): Promise<void> {
  const output = await outputFor(to === '-' ? { ...io, stdout: io.stderr } : io, format);
  output.result({ ...summaryOf(manifest), file: to }, () => {
    const keys = manifest.files.length > 1 ? 'with' : 'without';
    output.line(`backed up ${rowsOf(manifest)} as of ${manifest.created_at}, ${keys} the keys`);
  });
}

function summaryOf({ program, created_at: createdAt, database, tables, files }: BackupManifest): object {
  return { program, created_at: createdAt, database, tables, files };
}

function rowsOf({ tables }: BackupManifest): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return `${count(rows, 'row')} of ${count(tables.length, 'table')}`;
}
