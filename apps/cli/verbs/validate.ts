/** The `validate` verb: checks a factory repository on disk, files of it, or one on stdin. contract §11.3. */
import { appendFile, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  checkReferences,
  isDefinitionPath,
  readDefinitions,
  type KnownFacts,
  type ReadFile,
  type SecretFacts,
} from '#definitions';
import { introducedProblems, changedPaths, filesSince } from '../repository/changed-since.ts';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { FORMATS } from '../reports/formats.ts';
import { fromWorkingFolder, isValid, printable, UNRUN_NAMES, UNRUN_WORDS, type Report } from '../reports/report.ts';
import { guideOf } from '../reports/rule-page.ts';
import { toGithubSummary } from '../reports/report-github.ts';
import { readValidateArguments, VALIDATE_USAGE, type ValidateArguments } from '../validation/arguments.ts';
import { isAlone, selectFiles, selectText, type Selection } from '../validation/selection.ts';

/** Where a verb prints, the folder that relative paths start from, and what the build server says of itself. */
export interface CommandIo {
  stdin?: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream;
  cwd: string;
  environment?: Readonly<Record<string, string | undefined>>;
}

/** What was found in the files that were asked for, and the texts that it was found in. */
interface Checked {
  report: Report;
  readFiles: ReadonlyMap<string, ReadFile>;
}

/** Runs `millwright validate`; resolves with the exit code. Warnings do not fail. Never throws. */
export async function validate(argv: string[], io: CommandIo): Promise<number> {
  const asked = readValidateArguments(argv);
  if (typeof asked === 'string') return refuseUsage(asked, io);
  if (asked === undefined) {
    io.stdout.write(VALIDATE_USAGE);
    return EXIT.ok;
  }
  try {
    // The YAML library looks into the environment for every piece of a text, and Node asks the system each time.
    process.env = { ...process.env };
    const known = { ...(await knownFacts(asked, io)), today: new Date().toISOString().slice(0, 10) };
    const selection = await (asked.fixes ? fixed(asked, known, io) : select(asked, io));
    for (const path of selection.leftOut)
      io.stderr.write(`${printable(path)} is no definition file, and not checked\n`);
    const checked = await check(selection, known, asked.changedSince);
    await print(checked, selection.folder, asked, io);
    const { report } = checked;
    return isValid(report) && !(asked.isStrict && report.problems.length > 0) ? EXIT.ok : EXIT.problems;
  } catch (cause) {
    return refuseCause(cause, io);
  }
}

async function select({ paths, stdinPath }: ValidateArguments, io: CommandIo): Promise<Selection> {
  if (stdinPath === undefined) return selectFiles(paths, io.cwd);
  const { readStdin } = await import('../terminal/input.ts');
  const hint = 'redirect a file or a pipe into the command';
  const content = await readStdin({ stdin: io.stdin ?? process.stdin }, hint);
  return selectText(stdinPath, content, io.cwd);
}

async function fixed(asked: ValidateArguments, known: KnownFacts, io: CommandIo): Promise<Selection> {
  const { fixFiles } = await import('../validation/fix.ts');
  return fixFiles(
    () => select(asked, io),
    known,
    (line) => void io.stderr.write(`${line}\n`),
  );
}

/** Rules about files that stand beside the one that breaks them. */
const ABOUT_OTHER_FILES: ReadonlySet<string> = new Set(['webhook-known', 'skill-known']);

async function check(selection: Selection, known: KnownFacts, changedSince: string | undefined): Promise<Checked> {
  const { root, files, only } = selection;
  if (only?.size === 0) return { report: { problems: [], notRun: [], fileCount: 0 }, readFiles: new Map() };
  const reading = readDefinitions(files);
  const { problems: all, notRun } = checkReferences(reading, known);
  const alone = isAlone(selection);
  const isAsked = ({ path }: { path: string }): boolean => only?.has(path) !== false;
  const problems = all.filter((problem) => isAsked(problem) && !(alone && ABOUT_OTHER_FILES.has(problem.rule)));
  const fileCount = files.filter((file) => isAsked(file) && isDefinitionPath(file.path)).length;
  const { readFiles } = reading;
  if (changedSince === undefined) return { report: { problems, notRun, fileCount, isAlone: alone }, readFiles };
  const before = await filesSince(root, changedSince);
  const brought = introducedProblems(
    problems,
    checkReferences(readDefinitions(before), known).problems,
    changedPaths(files, before),
  );
  return { report: { problems: brought, notRun, fileCount, leftOut: problems.length - brought.length }, readFiles };
}

async function print(
  { report, readFiles }: Checked,
  folder: string,
  { format, isVerbose, paths, server }: ValidateArguments,
  io: CommandIo,
): Promise<void> {
  // Paths are printed relative to the folder that was given; files as they were given.
  const isRelative = (format === 'text' || format === 'json') && paths[0] !== '-' && isFolderGiven(paths, folder);
  const shown = isRelative ? report : fromWorkingFolder(report, folder, io.cwd);
  if (format === 'text' && io.stdout.isTTY === true) {
    const { toTerminal } = await import('../reports/report-terminal.ts');
    io.stdout.write(toTerminal(report.problems, { readFiles, shownAs: shown.problems, io }));
  } else io.stdout.write(FORMATS[format]({ ...shown, guide: guideOf(io.environment ?? {}, server?.server) }));
  io.stderr.write(summary(report, isVerbose));
  const summaryFile = format === 'github' ? io.environment?.['GITHUB_STEP_SUMMARY'] : undefined;
  if (summaryFile !== undefined && summaryFile !== '') await appendFile(summaryFile, toGithubSummary(shown));
}

function isFolderGiven(paths: readonly string[], folder: string): boolean {
  return paths.length < 2 && (paths[0] ?? '.') === folder;
}

async function knownFacts({ secretsList, server }: ValidateArguments, io: CommandIo): Promise<KnownFacts> {
  if (secretsList !== undefined) return namedSecrets(resolve(io.cwd, secretsList));
  if (server === undefined) return {};
  // Without a server nothing that speaks to one is loaded.
  const { factsOfServer } = await import('../connection/server-facts.ts');
  return factsOfServer(server, io);
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

function summary({ problems, notRun, fileCount, leftOut = 0, isAlone: alone }: Report, isVerbose: boolean): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const found =
    `${count(fileCount, 'file')}: ${count(errors, 'error')}, ${count(problems.length - errors, 'warning')}` +
    `${leftOut === 0 ? '' : `; ${count(leftOut, 'problem')} of before left out`}\n` +
    (alone === true ? 'not checked without its repository: webhooks and skills that it refers to\n' : '');
  if (notRun.length === 0) return found;
  const begin = 'not checked without a server:';
  return isVerbose
    ? `${found}${begin}\n${notRun.map((check) => `  ${UNRUN_WORDS[check]}\n`).join('')}`
    : `${found}${begin} ${notRun.map((check) => UNRUN_NAMES[check]).join(', ')} (--verbose tells more)\n`;
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
