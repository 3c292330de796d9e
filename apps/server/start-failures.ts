/** What keeps a service from starting, as lines for the operator and an exit code. contract §11. */
import { ConfigError } from './config/config.ts';
import { TlsError } from './http/server.ts';
import { WrongKeyError } from './keys/installation.ts';
import { DataFolderError } from './process/data-folder.ts';
import { KeyFileError } from './process/key-files.ts';
import { SchemaTooNewError } from './store/database/migrations.ts';
import { PostgresUnusableError } from './store/database/postgres/postgres-refusals.ts';
import { VersionMismatchError } from './store/database/replicas.ts';
import { StoreError } from './store/database/store-errors.ts';
import { FactoryArgumentError } from './sync/sources/parse-source.ts';
import { ListenFdsError } from './upgrade/listening-socket.ts';

const EXIT = { internal: 3, usage: 64 } as const;

/** A usage error of the command line. */
export class UsageError extends Error {}

/** The lines for the operator, and the exit code. */
export function explainFailure(error: unknown): { lines: string[]; code: number } {
  if (error instanceof ConfigError)
    return { lines: error.faults.map(({ variable, rule }) => `${variable}: ${rule}`), code: EXIT.usage };
  if (error instanceof KeyFileError) return { lines: error.message.split('\n'), code: EXIT.usage };
  if (error instanceof UsageError || error instanceof FactoryArgumentError)
    return { lines: [error.message], code: EXIT.usage };
  if (
    error instanceof DataFolderError ||
    error instanceof WrongKeyError ||
    error instanceof SchemaTooNewError ||
    error instanceof VersionMismatchError ||
    error instanceof TlsError ||
    error instanceof ListenFdsError
  ) {
    return { lines: [error.message], code: EXIT.usage };
  }
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return { lines: ['the port is taken; stop the other program or set MILLWRIGHT_PORT'], code: EXIT.internal };
  if (code === 'EACCES' && syscall === 'listen')
    return {
      lines: ['the port may not be opened by this user; set MILLWRIGHT_PORT to one above 1023'],
      code: EXIT.internal,
    };
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined)
    return { lines: [`${path} may not be read or written by this user (${code})`], code: EXIT.usage };
  if (error instanceof PostgresUnusableError) return { lines: [error.message], code: EXIT.internal };
  if (error instanceof StoreError) return { lines: [databaseLine(error)], code: EXIT.internal };
  return {
    lines: [`a fault inside the service: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`],
    code: EXIT.internal,
  };
}

function databaseLine({ code }: StoreError): string {
  if (code === 'SQLITE_FULL')
    return 'the disk of the data folder is full; free some space (workspaces of runs lie in its folder runs/)';
  if (!code.startsWith('SQLITE_'))
    return `the database cannot be used (${code}); check MILLWRIGHT_DATABASE_URL and that the server runs`;
  return (
    `the database file in the data folder cannot be used (${code}); restore it from a backup, or move it away to ` +
    'begin anew'
  );
}
