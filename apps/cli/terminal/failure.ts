/** How a verb says that it failed: lines for people, or one line of JSON where JSON was asked for. contract §11.2. */
import { EXIT } from '../exit-codes.ts';
import { printable, printableJson } from '../reports/report.ts';

/** What the API said of a refusal, for programs. */
export interface ApiAnswer {
  status: number;
  /** Its code, such as `resource_not_found`. */
  code?: string;
  traceId?: string;
}

export interface Failure {
  message: string;
  exit: number;
  details?: readonly string[];
  /** What to type instead: behind `usage:`. */
  usage?: string;
  answer?: ApiAnswer;
}

/** Says it on stderr; answers the exit code. */
export function printFailure(
  name: string,
  failure: Failure,
  argv: readonly string[],
  { stderr }: { stderr: NodeJS.WritableStream },
): number {
  stderr.write(isStructured(askedFormat(argv)) ? toJson(name, failure) : toText(name, failure));
  return failure.exit;
}

function toText(name: string, { message, details = [], usage }: Failure): string {
  const lines = [
    `${commandOf(name)}: ${printable(message)}`,
    ...details.map((line) => `  ${printable(line)}`),
    ...(usage === undefined ? [] : [`usage:${usage}`]),
  ];
  return `${lines.join('\n')}\n`;
}

function commandOf(name: string): string {
  return name === '' ? 'millwright' : `millwright ${name}`;
}

const KINDS: Readonly<Record<number, string>> = {
  [EXIT.problems]: 'problems',
  [EXIT.internal]: 'internal',
  [EXIT.held]: 'held',
  [EXIT.notFound]: 'not-found',
  [EXIT.notAllowed]: 'not-allowed',
  [EXIT.usage]: 'usage',
};

/** One line, so that it can be told from the remarks before it. JSON is YAML, too. */
function toJson(name: string, { message, exit, details = [], answer }: Failure): string {
  const error = {
    command: commandOf(name),
    kind: KINDS[exit] ?? 'internal',
    exit_code: exit,
    message,
    details,
    status: answer?.status,
    code: answer?.code,
    trace_id: answer?.traceId,
  };
  return printableJson({ error }, 0);
}

/** Formats for programs. */
function isStructured(format: string | undefined): boolean {
  return format === 'json' || format === 'yaml';
}

/** The value of the last `--format` or `-o`, before anything else is known of the arguments. */
function askedFormat(argv: readonly string[]): string | undefined {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const found = words.flatMap((word, at) => {
    const attached = /^(?:--format=|-o=?)(.+)$/s.exec(word)?.[1];
    return attached ?? (word === '--format' || word === '-o' ? [words[at + 1]] : []);
  });
  return found.at(-1);
}
