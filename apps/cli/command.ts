/** How a verb is declared: its arguments, its help, and what becomes of whatever it throws. contract §11. */
import { parseArgs } from 'node:util';
import { EXIT } from './exit-codes.ts';
import { printFailure, type ApiAnswer, type Failure } from './terminal/failure.ts';

type Terminal = { isTTY?: boolean; columns?: number };

/** The world of one call. Secrets come in through `stdin` and files, never through arguments. */
export interface CliIo {
  stdin: NodeJS.ReadableStream & Terminal;
  stdout: NodeJS.WritableStream & Terminal;
  stderr: NodeJS.WritableStream & Terminal;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Runs one verb with the arguments behind its name; resolves with the exit code. */
export type Verb = (argv: string[], io: CliIo) => Promise<number>;

/** A verb that can say what it is. */
export type DescribedVerb = Verb & {
  readonly synopsis: string;
  readonly summary: string;
  readonly options: OptionSpecs;
};

/** One option, in the form of node's parseArgs, with the words of its help. */
export interface OptionSpec {
  type: 'string' | 'boolean';
  multiple?: boolean;
  /** With `multiple`: a value is several, separated by commas. */
  commas?: boolean;
  short?: string;
  /** The verb does nothing without it. */
  required?: boolean;
  /** What the value is called in the help, for options that take one. */
  value?: string;
  /** What to write instead of an empty value, where people mean something by one. */
  insteadOfEmpty?: string;
  help: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;
type ValueOf<Spec extends OptionSpec> = Spec extends { type: 'boolean' }
  ? boolean
  : Spec extends { multiple: true }
    ? string[]
    : string;
type RequiredOf<Specs extends OptionSpecs> = {
  [Name in keyof Specs]: Specs[Name] extends { required: true } ? Name : never;
}[keyof Specs];
export type ValuesOf<Specs extends OptionSpecs> = { readonly [Name in RequiredOf<Specs>]: ValueOf<Specs[Name]> } & {
  readonly [Name in Exclude<keyof Specs, RequiredOf<Specs>>]?: ValueOf<Specs[Name]>;
};

export interface Asked<Specs extends OptionSpecs> {
  values: ValuesOf<Specs>;
  positionals: readonly string[];
}

export interface VerbSpec<Specs extends OptionSpecs> {
  /** The words behind `millwright`. */
  name: string;
  /** Positional arguments as the usage line shows them. */
  arguments?: string;
  summary: string;
  /** Paragraphs of help below the summary. */
  details?: readonly string[];
  options: Specs;
  /** Least and most positional arguments; none when absent. */
  positionals?: readonly [least: number, most: number];
  /** Hint for surplus arguments. */
  surplus?: string;
  run(asked: Asked<Specs>, io: CliIo): Promise<number>;
}

/**
 * The arguments cannot be right. The message repeats none of them, because one could be a secret in the wrong place.
 */
export class UsageError extends Error {
  /** An option that there is not. */
  readonly unknownOption?: string;
  constructor(message: string, unknownOption?: string, options?: ErrorOptions) {
    super(message, options);
    this.unknownOption = unknownOption;
  }
}

/** An expected end that is not fine: lines for people and the exit code. */
export class CommandError extends Error {
  readonly code: number;
  readonly details: readonly string[];
  /** What the API answered, where it was a refusal of the API. */
  readonly answer?: ApiAnswer;
  constructor(
    message: string,
    code: number,
    details: readonly string[] = [],
    options?: ErrorOptions & { answer?: ApiAnswer },
  ) {
    super(message, options);
    this.code = code;
    this.details = details;
    this.answer = options?.answer;
  }
}

const HELP = { help: { type: 'boolean', short: 'h', help: 'print this help' } } as const satisfies OptionSpecs;

/** Makes a verb of its declaration. The verb never rejects. */
export function verb<const Specs extends OptionSpecs>(spec: VerbSpec<Specs>): DescribedVerb {
  const synopsis =
    'millwright' +
    ` ${[spec.name, spec.arguments ?? '', ...optionWords(spec.options)].filter((word) => word !== '').join(' ')}`;
  const run: Verb = async (argv, io) => {
    try {
      const asked = read(spec, argv);
      if (asked !== 'help') return await spec.run(asked, io);
      io.stdout.write(helpOf(spec, synopsis));
      return EXIT.ok;
    } catch (cause) {
      const hint = await hintFor(cause, spec.options);
      return printFailure(spec.name, failureOf(cause, hint, synopsis), argv, io);
    }
  };
  return Object.assign(run, { synopsis, summary: spec.summary, options: { ...spec.options, ...HELP } });
}

/** Several verbs that share their first word. */
export interface VerbGroup extends Verb {
  readonly members: Readonly<Record<string, DescribedVerb>>;
  readonly byDefault?: DescribedVerb;
}

/**
 * Makes one verb of several that share their first word; `byDefault` runs when no second word is given. In an open
 * group it takes every word that is none of the members.
 */
export function group(
  name: string,
  members: Readonly<Record<string, DescribedVerb>>,
  byDefault?: DescribedVerb,
  { isOpen = false }: { isOpen?: boolean } = {},
): VerbGroup {
  const all = new Set([...(byDefault === undefined ? [] : [byDefault]), ...Object.values(members)]);
  const help = [...all].map(({ synopsis, summary }) => `  ${synopsis}\n      ${summary}\n`).join('');
  const run: Verb = async (argv, io) => {
    const [word = '', ...rest] = argv;
    const member = Object.hasOwn(members, word) ? members[word] : undefined;
    if (member !== undefined) return member(rest, io);
    if (word === '--help' || word === '-h') {
      io.stdout.write(`usage:\n${help}\nRun any of them with --help for its options.\n`);
      return EXIT.ok;
    }
    if (byDefault !== undefined && (isOpen || word === '' || word.startsWith('-'))) return byDefault(argv, io);
    const { didYouMean } = await import('#definitions');
    const message = `say one of ${Object.keys(members).join(', ')}${didYouMean(word, Object.keys(members))}`;
    return printFailure(name, { message, exit: EXIT.usage, usage: `\n${help.trimEnd()}` }, argv, io);
  };
  return Object.assign(run, { members, byDefault });
}

function read<Specs extends OptionSpecs>(spec: VerbSpec<Specs>, argv: string[]): Asked<Specs> | 'help' {
  const { values, positionals } = parse(spec.options, argv);
  if (values['help'] === true) return 'help';
  const [least, most] = spec.positionals ?? [0, 0];
  if (positionals.length < least) throw new UsageError(`${spec.arguments ?? 'an argument'} is missing`);
  if (positionals.length > most)
    throw new UsageError(
      spec.surplus ?? (most === 0 ? 'takes no arguments' : `takes nothing besides ${spec.arguments ?? 'its argument'}`),
    );
  const missing = Object.entries(spec.options).find(
    ([name, { required }]) => required === true && values[name] === undefined,
  );
  if (missing !== undefined) throw new UsageError(`--${missing[0]} ${missing[1].value ?? ''} is missing`);
  const empty = Object.entries(values).find(([, value]) => [value].flat().includes(''));
  if (empty !== undefined) throw new UsageError(`--${empty[0]} is empty${emptyHint(spec.options[empty[0]])}`);
  if (positionals.includes('')) throw new UsageError(`an argument is empty: ${spec.arguments ?? ''}`);
  return { values: values as ValuesOf<Specs>, positionals };
}

function emptyHint(option: OptionSpec | undefined): string {
  return option?.insteadOfEmpty === undefined ? '' : `; write ${option.insteadOfEmpty}`;
}

/** Values of options that take lists, each by itself and once. */
function splitLists(options: OptionSpecs, values: Record<string, unknown>): Record<string, unknown> {
  const lists = Object.entries(values).flatMap(([name, value]): [string, string[]][] =>
    options[name]?.commas === true && Array.isArray(value)
      ? [[name, [...new Set(value.flatMap((text: string) => text.split(',').map((item) => item.trim())))]]]
      : [],
  );
  return { ...values, ...Object.fromEntries(lists) };
}

function parse(options: OptionSpecs, argv: string[]): { values: Record<string, unknown>; positionals: string[] } {
  try {
    const asked = parseArgs({ args: argv, options: { ...options, ...HELP }, allowPositionals: true, strict: true });
    return { ...asked, values: splitLists(options, asked.values) };
  } catch (cause) {
    throw parseProblem(cause);
  }
}

/** node's message names the option and never its value; an option that looks like no option is not repeated either. */
export function parseProblem(cause: unknown): UsageError {
  const { code, message } = cause as { code?: string; message?: string };
  const option = /^(?:Unknown option|Option) '(?:-\w, )?(-{1,2}[a-z][a-z-]{0,20})(?: <value>)?'/.exec(
    message ?? '',
  )?.[1];
  const problem = (words: string, unknownOption?: string): UsageError =>
    new UsageError(words, unknownOption, { cause });
  if (option === undefined) return problem('an option cannot be read');
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return problem(`there is no option ${option}`, option);
  if (message?.includes('does not take an argument') === true) return problem(`${option} takes no value`);
  return problem(`${option} needs a value; write ${option}=VALUE when it starts with a dash`);
}

/** The option that was meant. What knows words from each other is loaded only now. */
async function hintFor(cause: unknown, options: OptionSpecs): Promise<string> {
  if (!(cause instanceof UsageError) || cause.unknownOption === undefined) return '';
  const { didYouMean } = await import('#definitions');
  return didYouMean(
    cause.unknownOption,
    Object.keys({ ...options, ...HELP }).map((name) => `--${name}`),
  );
}

/** What is not known to be wrong elsewhere is ours. */
function failureOf(cause: unknown, hint: string, synopsis: string): Failure {
  if (cause instanceof UsageError) return { message: cause.message + hint, exit: EXIT.usage, usage: ` ${synopsis}` };
  if (cause instanceof CommandError)
    return { message: cause.message, exit: cause.code, details: cause.details, answer: cause.answer };
  const words = cause instanceof Error ? cause.message : 'unknown';
  return { message: `a fault inside the command: ${words}`, exit: EXIT.internal };
}

function optionWords(options: OptionSpecs): string[] {
  const own = Object.entries(options).filter(([name]) => !SHARED.has(name));
  return own.map(([name, { type, value, multiple, required }]) => {
    const words = `--${name}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`;
    return `${required === true ? words : `[${words}]`}${multiple === true ? '…' : ''}`;
  });
}

/** Options that every verb of a server has: listed in its help, left out of its usage line. */
const SHARED: ReadonlySet<string> = new Set(['server', 'key-file', 'format', 'help']);

function helpOf(spec: VerbSpec<OptionSpecs>, synopsis: string): string {
  const rows = Object.entries({ ...spec.options, ...HELP }).map(([name, option]) => {
    const { short, type, value, help } = option as OptionSpec;
    return [
      `${short === undefined ? '' : `-${short}, `}--${name}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`,
      help,
    ] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  const options = rows.map(([left, help]) => `  ${left.padEnd(width)}  ${help}\n`).join('');
  const details = (spec.details ?? []).map((line) => `${line}\n`).join('');
  return `usage: ${synopsis}\n\n${spec.summary}\n${details === '' ? '' : `\n${details}`}\n${options}`;
}
