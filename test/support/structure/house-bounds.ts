/** What the structure of the sources is held to, with the folders that it is measured in. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './house.ts';

export const BOUNDS = {
  /** One process with every role: grows with its features, never because one was cut too small. */
  serverFiles: 473,
  /** What one can read at a glance. */
  folderFiles: 20,
  /** Folders below apps/server. */
  levels: 3,
  columns: 120,
  /** 99th percentile: tables and switches may be longer. */
  functionLines: 40,
  storeArrows: 28,
  executionArrows: 27,
} as const;

/** Where sources are written by hand: the programs and the libraries, the published clients aside. */
export const SOURCE_FOLDERS: readonly string[] = [
  'apps/agent',
  'apps/cli',
  'apps/deploy',
  'apps/server',
  ...readdirSync(join(ROOT, 'libs'))
    .filter((lib) => !lib.startsWith('client-'))
    .map((lib) => join('libs', lib)),
];

/** The page: its elements are written as functions, which are as long as what they show. */
export const PAGE_FOLDER = 'apps/dashboard/src';

/** What tests and measurements share, in rooms of its own. */
export const TEST_FOLDERS: readonly string[] = ['test/bench', 'test/support'];

/** Sources and tests that are written by hand, as git knows them. */
export function writtenFiles(): string[] {
  return execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.mjs', '*.js'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
    .trim()
    .split('\n')
    .filter((file) => !/(^|[/.])generated(\/|\.ts$)|^test\/(definitions|vectors)\/|^libs\/client-python\//.test(file))
    .filter((file) => existsSync(join(ROOT, file)))
    .filter((file) => !readFileSync(join(ROOT, file), 'utf8').startsWith('/** Generated '));
}
