/** `millwright completion`: prints the script that completes this command in a shell. contract §11.9. */
import { UsageError, verb, type DescribedVerb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { SCRIPTS, type Shell } from './scripts.ts';
import { completionCalls, type CompletionVerb } from './words.ts';

/** The verb `completion`, of the table that `load` answers. */
export function completionOf(load: () => Promise<CompletionVerb[]>): DescribedVerb {
  const shells = Object.keys(SCRIPTS);
  return verb({
    name: 'completion',
    arguments: shells.join('|'),
    summary: 'Prints the script that completes verbs, options and their values in a shell.',
    details: [
      'bash: eval "$(millwright completion bash)" in ~/.bashrc. zsh: the same behind compinit, or a file ' +
        '_millwright in $fpath.',
      'fish: millwright completion fish > ~/.config/fish/completions/millwright.fish',
    ],
    positionals: [1, 1],
    options: {},
    async run({ positionals: [shell = ''] }, io) {
      if (!Object.hasOwn(SCRIPTS, shell)) throw new UsageError(`the shells are ${shells.join(', ')}`);
      io.stdout.write(SCRIPTS[shell as Shell](completionCalls(await load())));
      return EXIT.ok;
    },
  });
}
