/** `-o FORMAT` for verbs whose `--format` knows formats of build servers besides JSON. contract §11.2. */
import { Writable } from 'node:stream';
import type { CliIo, Verb } from '../command.ts';

/** The verb, which takes `-o` as `--format`, and prints its JSON as YAML where YAML was asked for. */
export function withOutputOption<V extends Verb>(verb: V): V {
  const run: Verb = async (argv, io) => {
    const asked = spelledOut(argv);
    const at = formatPlace(asked);
    if (at === undefined || asked[at] !== '--format=yaml') return verb(asked, io);
    const texts: string[] = [];
    const stdout = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        texts.push(chunk.toString());
        done();
      },
    });
    const code = await verb(asked.with(at, '--format=json'), { ...io, stdout } satisfies CliIo);
    const text = texts.join('');
    // Help is no document.
    if (!text.startsWith('{')) io.stdout.write(text);
    else io.stdout.write((await import('./yaml.ts')).printableYaml(JSON.parse(text)));
    return code;
  };
  // What a verb says of itself stays said.
  return Object.assign(run, verb);
}

/** Every spelling of the format as one word: `--format=FORMAT`. */
function spelledOut(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') return [...words, ...argv.slice(at)];
    const attached = /^-o=?(.+)$/s.exec(word)?.[1];
    const next = argv[at + 1];
    if (attached !== undefined) words.push(`--format=${attached}`);
    else if ((word === '-o' || word === '--format') && next !== undefined) words.push(`--format=${argv[(at += 1)]}`);
    else words.push(word === '-o' ? '--format' : word);
  }
  return words;
}

/** Place of the last word that says a format. */
function formatPlace(words: readonly string[]): number | undefined {
  const end = words.indexOf('--');
  const at = (end === -1 ? words : words.slice(0, end)).findLastIndex((word) => word.startsWith('--format='));
  return at === -1 ? undefined : at;
}
