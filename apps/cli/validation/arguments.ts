/** What `millwright validate` is asked: a folder, files, or a text on stdin. contract §11.3. */
import { parseArgs } from 'node:util';
import { didYouMean } from '#definitions';
import { parseProblem } from '../command.ts';
import { FORMATS, isFormatName, type FormatName } from '../reports/formats.ts';

const FORMAT_NAMES = Object.keys(FORMATS).join('|');

export const VALIDATE_USAGE = `usage: millwright validate [DIR | FILE… | -] [--format ${FORMAT_NAMES}]
       [--strict] [--fix] [--verbose] [--changed-since REF] [--secrets-list FILE | --server URL]

  DIR                  folder of the factory repository (default: the current one)
  FILE…                definition files: they are checked among the files of their repository, and only their
                       problems are told
  -                    the same for a text on stdin, as editors and hooks have it
  --stdin-path FILE    where the text on stdin belongs
  --format             text (default): file:line:column: message [rule], with the line itself on a terminal;
                       json: one object; github: workflow commands, and a summary where GITHUB_STEP_SUMMARY says;
                       sarif: SARIF 2.1.0; junit: JUnit XML
  --strict             warnings fail too
  --fix                mend what has one right answer (operators, folders, spelling of keys), and check the rest
  --verbose            say in full what is not checked without a server
  --changed-since REF  only what changed since the branch left REF: problems of those files, and those they cause
                       elsewhere
  --secrets-list FILE  names of the secrets that exist, one a line; checks secretName and secrets against them
  --server URL         checks them, environments and models against what a factory of this server has; the key has
                       to be one that may list secrets (MILLWRIGHT_API_KEY or --key-file FILE), and --factory FACTORY
                       names the factory, unless there is only one

FORCE_COLOR, NO_COLOR and TERM=dumb decide about colours. millwright explain RULE tells more of a rule.
Ends with 0 when all is well, 1 when there are problems, 3 when it failed itself, 64 when it was called wrongly.
`;

export interface ValidateArguments {
  /** As given: a folder, or files; none is the current folder. */
  paths: readonly string[];
  /** Where the text on stdin belongs, when there is one. */
  stdinPath: string | undefined;
  format: FormatName;
  secretsList: string | undefined;
  /** Where to ask for the secrets that exist instead. */
  server: { server: string; factory: string | undefined; keyFile: string | undefined } | undefined;
  isStrict: boolean;
  isVerbose: boolean;
  fixes: boolean;
  changedSince: string | undefined;
}

/** Undefined when help was asked for, a text when the arguments are wrong. */
export function readValidateArguments(argv: string[]): ValidateArguments | string | undefined {
  try {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options: OPTIONS });
    if (values.help === true) return undefined;
    if (!isFormatName(values.format)) return `--format must be one of ${Object.keys(FORMATS).join(', ')}`;
    const { server, factory, 'key-file': keyFile, 'stdin-path': stdinPath, 'changed-since': changedSince } = values;
    if (server === undefined && (factory ?? keyFile) !== undefined) return '--factory and --key-file go with --server';
    if (server !== undefined && values['secrets-list'] !== undefined)
      return 'secrets are checked against --secrets-list or --server, not both';
    const fault = stdinFault(positionals, stdinPath, values.fix || changedSince !== undefined);
    if (fault !== undefined) return fault;
    return {
      paths: positionals,
      stdinPath,
      format: values.format,
      secretsList: values['secrets-list'],
      isStrict: values.strict,
      isVerbose: values.verbose,
      fixes: values.fix,
      changedSince,
      server: server === undefined ? undefined : { server, factory, keyFile },
    };
  } catch (cause) {
    const { message, unknownOption } = parseProblem(cause);
    const names = Object.keys(OPTIONS).map((name) => `--${name}`);
    return unknownOption === undefined ? message : message + didYouMean(unknownOption, names);
  }
}

const OPTIONS = {
  format: { type: 'string', default: 'text' },
  strict: { type: 'boolean', default: false },
  fix: { type: 'boolean', default: false },
  verbose: { type: 'boolean', short: 'v', default: false },
  'stdin-path': { type: 'string' },
  'changed-since': { type: 'string' },
  'secrets-list': { type: 'string' },
  server: { type: 'string' },
  factory: { type: 'string' },
  'key-file': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

function stdinFault(paths: readonly string[], stdinPath: string | undefined, changes: boolean): string | undefined {
  const isStdin = paths.includes('-');
  if (isStdin && paths.length > 1) return '- stands alone: stdin holds the text of one file';
  if (isStdin && stdinPath === undefined) return '- needs --stdin-path FILE: where the text on stdin belongs';
  if (!isStdin && stdinPath !== undefined) return '--stdin-path goes with -, which takes the text from stdin';
  return isStdin && changes ? '- goes neither with --fix nor with --changed-since' : undefined;
}
