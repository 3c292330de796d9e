/** The `validate` verb: checks a factory repository on disk, without a server. contract §11. */
import { appendFile, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkReferences, isDefinitionPath, readDefinitions, type KnownFacts, type SecretFacts } from '#definitions';
import { introducedProblems, changedPaths, filesSince } from '../repository/changed-since.ts';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readNamedFolder } from '../repository/folder.ts';
import { FORMATS, isFormatName, type FormatName } from '../reports/formats.ts';
import { fromWorkingFolder, isValid, printable, UNRUN_WORDS, type Report } from '../reports/report.ts';
import { toGithubSummary } from '../reports/report-github.ts';

/** Where a verb prints, the folder that relative paths start from, and what the build server says of itself. */
export interface CommandIo {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  cwd: string;
  environment?: Readonly<Record<string, string | undefined>>;
}

export const VALIDATE_USAGE = [
  `usage: millwright validate [DIR] [--format ${Object.keys(FORMATS).join('|')}] [--strict] [--changed-since REF] ` +
    '[--secrets-list FILE | --server URL]',
  '',
  '  DIR                  folder of the factory repository (default: the current one)',
  '  --format             text (default): file:line:column: message [rule]; json: one object; github: workflow ' +
    'commands, and a',
  '                       summary where GITHUB_STEP_SUMMARY says; sarif: SARIF 2.1.0; junit: JUnit XML',
  '  --strict             warnings fail too',
  '  --changed-since REF  only what changed since the branch left REF: problems of those files, and those they cause ' +
    'elsewhere',
  '  --secrets-list FILE  names of the secrets that exist, one a line; checks secretName and secrets against them',
  '  --server URL         checks them against the secrets that a factory of this server may use; the key has to be ' +
    'one that may list them',
  '                       (MILLWRIGHT_API_KEY or --key-file FILE), and --factory FACTORY names the factory, unless ' +
    'there is only one',
  '',
  'Ends with 0 when all is well, 1 when there are problems, 3 when it failed itself, 64 when it was called wrongly.',
  '',
].join('\n');

interface Arguments {
  folder: string;
  format: FormatName;
  secretsList: string | undefined;
  /** Where to ask for the secrets that exist instead. */
  server: { server: string; factory: string | undefined; keyFile: string | undefined } | undefined;
  isStrict: boolean;
  changedSince: string | undefined;
}

/** Runs `millwright validate`; resolves with the exit code. Warnings do not fail. Never throws. */
export async function validate(argv: string[], io: CommandIo): Promise<number> {
  const asked = readArguments(argv);
  if (typeof asked === 'string') return refuseUsage(asked, io);
  if (asked === undefined) {
    io.stdout.write(VALIDATE_USAGE);
    return EXIT.ok;
  }
  try {
    const known = await knownFacts(asked, io);
    const report = await checkFolder(resolve(io.cwd, asked.folder), known, asked.changedSince);
    await print(report, asked, io);
    return isValid(report) && !(asked.isStrict && report.problems.length > 0) ? EXIT.ok : EXIT.problems;
  } catch (cause) {
    return refuseCause(cause, io);
  }
}

async function checkFolder(folder: string, known: KnownFacts, changedSince: string | undefined): Promise<Report> {
  const files = await readNamedFolder(folder);
  const { problems, notRun } = checkReferences(readDefinitions(files), known);
  const fileCount = files.filter(({ path }) => isDefinitionPath(path)).length;
  if (changedSince === undefined) return { problems, notRun, fileCount };
  const before = await filesSince(folder, changedSince);
  const brought = introducedProblems(
    problems,
    checkReferences(readDefinitions(before), known).problems,
    changedPaths(files, before),
  );
  return { problems: brought, notRun, fileCount, leftOut: problems.length - brought.length };
}

async function print(report: Report, { format, folder }: Arguments, io: CommandIo): Promise<void> {
  // Paths are printed relative to the folder that was given.
  const shown = format === 'text' || format === 'json' ? report : fromWorkingFolder(report, folder, io.cwd);
  io.stdout.write(FORMATS[format](shown));
  io.stderr.write(summary(report));
  const summaryFile = format === 'github' ? io.environment?.['GITHUB_STEP_SUMMARY'] : undefined;
  if (summaryFile !== undefined && summaryFile !== '') await appendFile(summaryFile, toGithubSummary(shown));
}

/** Undefined when help was asked for, a text when the arguments are wrong. */
function readArguments(argv: string[]): Arguments | string | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        format: { type: 'string', default: 'text' },
        strict: { type: 'boolean', default: false },
        'changed-since': { type: 'string' },
        'secrets-list': { type: 'string' },
        server: { type: 'string' },
        factory: { type: 'string' },
        'key-file': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return undefined;
    if (positionals.length > 1) return 'at most one DIR can be checked';
    if (!isFormatName(values.format)) return `--format must be one of ${Object.keys(FORMATS).join(', ')}`;
    const { server, factory, 'key-file': keyFile } = values;
    if (server === undefined && (factory ?? keyFile) !== undefined) return '--factory and --key-file go with --server';
    if (server !== undefined && values['secrets-list'] !== undefined)
      return 'secrets are checked against --secrets-list or --server, not both';
    return {
      folder: positionals[0] ?? '.',
      format: values.format,
      secretsList: values['secrets-list'],
      isStrict: values.strict,
      changedSince: values['changed-since'],
      server: server === undefined ? undefined : { server, factory, keyFile },
    };
  } catch (cause) {
    return messageOf(cause);
  }
}

async function knownFacts({ secretsList, server }: Arguments, io: CommandIo): Promise<KnownFacts> {
  if (secretsList !== undefined) return namedSecrets(resolve(io.cwd, secretsList));
  if (server === undefined) return {};
  // Without a server nothing that speaks to one is loaded.
  const { secretsOfServer } = await import('../connection/factory-secrets.ts');
  return secretsOfServer(server, io);
}

/** Facts from a list of names: that secrets exist, not whether they are set or usable. `#` starts a comment line. */
async function namedSecrets(file: string): Promise<KnownFacts> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`the file ${file} cannot be read (${cause.code ?? 'unknown'})`, EXIT.usage, [], { cause });
  });
  const lines = text.split('\n').map((line) => line.trim());
  const names = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const webhookSecrets = new Map<string, SecretFacts>(names.map((name) => [name, { name, set: true }]));
  return { webhookSecrets, runSecrets: new Set(names) };
}

function summary({ problems, notRun, fileCount, leftOut = 0 }: Report): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const found =
    `${count(fileCount, 'file')}: ${count(errors, 'error')}, ${count(problems.length - errors, 'warning')}` +
    `${leftOut === 0 ? '' : `; ${count(leftOut, 'problem')} of before left out`}\n`;
  if (notRun.length === 0) return found;
  return `${found}not checked without a server: ${notRun.map((check) => UNRUN_WORDS[check]).join('; ')}\n`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

function refuseUsage(message: string, io: CommandIo): number {
  io.stderr.write(`millwright validate: ${printable(message)}\n${VALIDATE_USAGE}`);
  return EXIT.usage;
}

/** What is not known to be wrong elsewhere is ours. */
function refuseCause(cause: unknown, io: CommandIo): number {
  io.stderr.write(`millwright validate: ${printable(messageOf(cause))}\n`);
  return cause instanceof CommandError ? cause.code : EXIT.internal;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'unknown failure';
}
