/** Values of options that become members of a request, and what the answer says of them. contract §3.2 (Create). */
import { UsageError } from '../command.ts';
import { readStdin, toText, withoutFinalNewline } from '../terminal/input.ts';
import type { Calling } from './api.ts';

/** The text of an option, or what is on standard input where it is `-`. */
export async function textOf(text: string, option: string, { io }: Pick<Calling, 'io'>): Promise<string> {
  if (text !== '-') return text;
  return toText(
    withoutFinalNewline(await readStdin(io, `give the text behind ${option}, or redirect a file`)),
    'the text on stdin',
  );
}

/** Entries of metadata, each KEY=VALUE. */
export function entriesOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text): [key: string, value: string] => {
      const at = text.indexOf('=');
      if (at < 1) throw new UsageError(`--metadata ${JSON.stringify(text)} must be KEY=VALUE`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** Says on stderr what of the request the service does not serve. */
export function noteIgnored({ output }: Pick<Calling, 'output'>, pointers: readonly string[] = []): void {
  if (pointers.length > 0) output.note(`ignored, because it is not served here: ${pointers.join(', ')}`);
}
