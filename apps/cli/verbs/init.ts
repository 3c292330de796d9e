/** `millwright init`: writes a starter factory repository that validates. contract §8, §11. */
import { resolve } from 'node:path';
import { CommandError, UsageError, verb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CI_HOSTS, PRE_COMMIT_FILE, PRE_COMMIT_PLACEHOLDERS, type CiHost } from '../starter/ci-jobs.ts';
import { starterFiles, type StarterFile } from '../starter/starter-files.ts';
import { obstacles, writeFiles, type Obstacle } from '../starter/write-files.ts';
import { count, Output } from '../terminal/output.ts';

/** The verb `init`. */
export const init = verb({
  name: 'init',
  arguments: '[DIR]',
  summary:
    'Writes a starter factory repository into a folder (default: the current one): definitions, their schemas, ' +
    'editor settings.',
  details: ['Nothing is overwritten: where a file exists already, it is named and nothing at all is written.'],
  positionals: [0, 1],
  surplus: 'takes one DIR at most',
  options: {
    ci: { type: 'string', value: CI_HOSTS.join('|'), help: 'the build server to write a job for (default: none)' },
    'pre-commit': { type: 'boolean', help: 'also write the settings of a hook that checks before each commit' },
    force: { type: 'boolean', help: 'overwrite the files that it writes; others stay as they are' },
  },
  async run({ values, positionals: [folder = '.'] }, io) {
    const output = new Output(io, 'text');
    const files = starterFiles({ ci: readHost(values.ci), preCommit: values['pre-commit'] === true });
    const root = resolve(io.cwd, folder);
    await write(root, folder, files, values.force === true);
    for (const { path } of files) output.line(path);
    output.note(
      `${count(files.length, 'file')} written; README.md says what to do next, first: millwright validate ${folder}`,
    );
    if (values['pre-commit'] === true)
      output.note(
        `before the hook works: put the address and a tag of Millwright's repository into ` +
          `${PRE_COMMIT_FILE.path} (${Object.values(PRE_COMMIT_PLACEHOLDERS).join(', ')}), then: pre-commit ` +
          'install',
      );
    return EXIT.ok;
  },
});

function readHost(text = 'none'): CiHost {
  const host = CI_HOSTS.find((name) => name === text);
  if (host === undefined) throw new UsageError(`--ci must be one of ${CI_HOSTS.join(', ')}`);
  return host;
}

async function write(root: string, folder: string, files: readonly StarterFile[], force: boolean): Promise<void> {
  try {
    const found = await obstacles(root, files);
    const inTheWay = force ? found.filter(({ kind }) => kind !== 'exists') : found;
    if (inTheWay.length > 0)
      throw new CommandError(`nothing was written, because ${folder} is not free`, EXIT.problems, [
        ...inTheWay.map(wordsOf),
        ...wayOut(inTheWay),
      ]);
    await writeFiles(root, files, force);
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
