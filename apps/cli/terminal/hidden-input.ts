/** What people type at a terminal and nobody shall see. contract §2, §11. */
import { CommandError, UsageError, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

/** Characters that a line may have: a key is much shorter. */
const LINE_LENGTH_MAX = 4_096;

/** One line without echo. Throws UsageError where echo cannot be turned off, CommandError when it is interrupted. */
export async function readHidden(prompt: string, { stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>): Promise<string> {
  const terminal = stdin as NodeJS.ReadStream;
  // A stream that only says that it is a terminal.
  if (typeof terminal.setRawMode !== 'function') throw new UsageError('stdin is a terminal; redirect a file or a pipe');
  // First: what is typed or pasted ahead must not be shown either.
  terminal.setRawMode(true);
  stderr.write(prompt);
  try {
    let line = '';
    for await (const chunk of stdin) {
      for (const character of String(chunk)) {
        if (character === '\r' || character === '\n') return line;
        if (character === '\u0003' || character === '\u0004')
          throw new CommandError('interrupted; nothing was stored', EXIT.usage);
        line = character === '\u007f' || character === '\b' ? line.slice(0, -1) : line + character;
        if (line.length > LINE_LENGTH_MAX) throw new UsageError('the line is too long');
      }
    }
    return line;
  } finally {
    terminal.setRawMode(false);
    terminal.pause();
    stderr.write('\n');
  }
}
