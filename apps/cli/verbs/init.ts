/** `millwright init`: writes a starter factory repository that validates. contract §8, §11. */
import { resolve } from 'node:path';
import { CommandError, UsageError, verb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CI_HOSTS, PRE_COMMIT_PLACEHOLDERS, type CiHost } from '../starter/ci-jobs.ts';
import { ownFile } from '../starter/own-file.ts';
import { checkFiles, starterFiles, type StarterFile } from '../starter/starter-files.ts';
import { obstacles, writeFiles, type Obstacle } from '../starter/write-files.ts';
import { count, Output } from '../terminal/output.ts';

/** The verb `init`. */
export const init = verb({
  name: 'init',
  arguments: '[DIR]',
  summary:
    'Writes a starter factory repository into a folder (default: the current one): definitions, their schemas, ' +
    'editor settings.',
  details: [
    'Nothing is overwritten: where a file exists already, it is named and nothing at all is written.',
    'Settings of an editor that exist already stay as they are, also with --force.',
  ],
  positionals: [0, 1],
  surplus: 'takes one DIR at most',
  options: {
    ci: { type: 'string', value: CI_HOSTS.join('|'), help: 'the build server to write a job for (default: none)' },
    'checks-only': {
      type: 'boolean',
      help: 'write only what --ci and --pre-commit ask for, into a repository that has its definitions',
    },
    'pre-commit': { type: 'boolean', help: 'also write the settings of a hook that checks before each commit' },
    force: { type: 'boolean', help: 'overwrite the files that it writes; others stay as they are' },
  },
  async run({ values, positionals: [folder = '.'] }, io) {
    const output = new Output(io, 'text');
    const files = filesFor(values);
    const root = resolve(io.cwd, folder);
    const kept = await write(root, folder, files, values.force === true);
    const written = files.filter((file) => !kept.includes(file));
    for (const { path } of written) output.line(path);
    for (const { path } of kept) output.note(`${path} exists already and stays as it is`);
    const next = values['checks-only'] === true ? 'next' : 'README.md says what to do next, first';
    output.note(`${count(written.length, 'file')} written; ${next}: millwright validate ${folder}`);
    if (values['pre-commit'] === true && ownFile() === undefined)
      output.note(
        `before the hook works: put the address and a tag of Millwright's repository into ` +
          `.pre-commit-config.yaml (${Object.values(PRE_COMMIT_PLACEHOLDERS).join(', ')}), then: pre-commit ` +
          'install',
      );
    return EXIT.ok;
  },
});

function filesFor(values: { ci?: string; 'pre-commit'?: boolean; 'checks-only'?: boolean }): StarterFile[] {
  const options = { ci: readHost(values.ci), preCommit: values['pre-commit'] === true, own: ownFile() };
  if (values['checks-only'] !== true) return starterFiles(options);
  const files = checkFiles(options);
  if (files.length === 0) throw new UsageError('--checks-only goes with --ci or --pre-commit');
  return files;
}

function readHost(text = 'none'): CiHost {
  const host = CI_HOSTS.find((name) => name === text);
  if (host === undefined) throw new UsageError(`--ci must be one of ${CI_HOSTS.join(', ')}`);
  return host;
}

/** Answers the files that stay as they are. */
async function write(
  root: string,
  folder: string,
  files: readonly StarterFile[],
  force: boolean,
): Promise<readonly StarterFile[]> {
  try {
    const found = await obstacles(root, files);
    const there = new Set(found.filter(({ kind }) => kind === 'exists').map(({ path }) => path));
    const kept = files.filter(({ path, isUserOwned }) => isUserOwned === true && there.has(path));
    const isRetained = (path: string): boolean => kept.some((file) => file.path === path);
    const inTheWay = found.filter(({ path, kind }) => !(kind === 'exists' && (force || isRetained(path))));
    if (inTheWay.length > 0)
      throw new CommandError(`nothing was written, because ${folder} is not free`, EXIT.problems, [
        ...inTheWay.map(wordsOf),
        ...wayOut(inTheWay),
      ]);
    const wanted = files.filter((file) => !kept.includes(file));
    await writeFiles(root, wanted, force);
    return kept;
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(
      `the folder ${folder} cannot be written (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`,
      EXIT.usage,
      [],
      { cause },
    );
  }
}

const WORDS: Readonly<Record<Obstacle['kind'], string>> = {
  exists: 'exists already',
  link: 'is a symbolic link, and none is followed',
  special: 'is a pipe, a device, or has another name elsewhere, and is not written through',
  folder: 'is a folder, and a file of that name is to be written',
  'no-folder': 'is no folder, and files below it are to be written',
};

function wordsOf({ path, kind }: Obstacle): string {
  return `${path} ${WORDS[kind]}`;
}

function wayOut(inTheWay: readonly Obstacle[]): string[] {
  return inTheWay.every(({ kind }) => kind === 'exists')
    ? ['choose another folder, or overwrite these files with --force']
    : ['choose another folder, or move these away'];
}
