/** The command table as completions need it: every call's words, options and what they take. contract §11.9. */
import type { DescribedVerb, OptionSpec, OptionSpecs, Verb, VerbGroup } from '../command.ts';

/** A word with what it means. */
export interface CompletionWord {
  word: string;
  meaning: string;
}

/** An option of a call. */
export interface CompletionOption extends CompletionWord {
  short?: string;
  takesValue: boolean;
  /** The values that there are, where they are few. */
  values: readonly string[];
  /** Whether the value is a file or a folder. */
  isPath: boolean;
}

/** What may follow the words of a call: `[]` behind the command itself, `['runs', 'get']` behind these. */
export interface CompletionCall {
  words: readonly string[];
  next: readonly CompletionWord[];
  options: readonly CompletionOption[];
  /** Whether its arguments are files or folders. */
  takesPaths: boolean;
}

/** A verb of the table: its name, its line in the help, and how it is loaded. */
export interface CompletionVerb {
  name: string;
  summary: string;
  verb: Verb;
  /** Text of its help, for one that is declared otherwise. */
  usage: string;
}

/** Every call that can be completed, the command itself first. */
export function completionCalls(verbs: readonly CompletionVerb[]): CompletionCall[] {
  const root: CompletionCall = {
    words: [],
    next: [...verbs.map(({ name, summary }) => ({ word: name, meaning: summary })), ...OWN_WORDS],
    options: [],
    takesPaths: false,
  };
  return [root, ...verbs.flatMap(callsOf)];
}

const OWN_WORDS: readonly CompletionWord[] = [
  { word: 'help', meaning: 'help of a verb' },
  { word: 'version', meaning: 'version of this command' },
];

function callsOf({ name, verb, usage }: CompletionVerb): CompletionCall[] {
  if (!isGroup(verb)) {
    const described = verb as Partial<DescribedVerb>;
    return [
      {
        words: [name],
        next: [],
        options: described.options === undefined ? optionsOfUsage(usage) : optionsOf(described.options),
        takesPaths: PATHS.test(described.synopsis ?? usage.split('\n')[0] ?? ''),
      },
    ];
  }
  const members = Object.entries(verb.members);
  return [
    {
      words: [name],
      next: members.map(([word, { summary }]) => ({ word, meaning: summary })),
      options: verb.byDefault === undefined ? [] : optionsOf(verb.byDefault.options),
      takesPaths: false,
    },
    ...members.map(([word, { options, synopsis }]) => ({
      words: [name, word],
      next: [],
      options: optionsOf(options),
      takesPaths: PATHS.test(synopsis),
    })),
  ];
}

/** Arguments that are files, as synopses name them: not options' values. */
const PATHS = /^(?:usage: )?millwright [a-z ]*\[?(?:DIR|FILE|[A-Z]+_FILE)\b/;

function isGroup(verb: Verb): verb is VerbGroup {
  return 'members' in verb;
}

function optionsOf(options: OptionSpecs): CompletionOption[] {
  return Object.entries(options).map(([name, { type, short, value, help }]: [string, OptionSpec]) => ({
    word: `--${name}`,
    short: short === undefined ? undefined : `-${short}`,
    meaning: help,
    takesValue: type === 'string',
    values: valuesOf(value),
    isPath: isPath(value),
  }));
}

/** Options by the lines of a help: `  --name VALUE  meaning`. */
function optionsOfUsage(usage: string): CompletionOption[] {
  const rows = [...usage.matchAll(/^ {2}(--[a-z][a-z-]*)((?: \S+)?) {2,}(\S.*)$/gm)];
  const found = rows.map(([, word = '', value = '', meaning = '']) => ({
    word,
    meaning,
    takesValue: value !== '' || FORMATS.test(usage.split(`${word} `)[1] ?? ''),
    values: valuesOf(value.trim() || /^(\S+?)\]/.exec(usage.split(`[${word} `)[1] ?? '')?.[1]),
    isPath: isPath(value.trim()),
  }));
  const help = {
    word: '--help',
    short: '-h',
    meaning: 'print this help',
    takesValue: false,
    values: [],
    isPath: false,
  };
  return [...found, help];
}

const FORMATS = /^[a-z]+(?:\|[a-z]+)+\]/;

/** `a|b|c` and `a|b|c,…`; what stands for something else in capitals is none. */
function valuesOf(value: string | undefined): string[] {
  const words = (value ?? '').replace(/,…$/, '').split('|');
  return words.length > 1 ? words.filter((word) => /^[a-z0-9][a-z0-9_.-]*$/.test(word)) : [];
}

function isPath(value: string | undefined): boolean {
  return /^(?:FILE|DIR)\b/.test(value ?? '');
}
