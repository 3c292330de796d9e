/** The `validate` verb: checks a factory repository on disk, without a server. contract 11. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkReferences, isDefinitionPath, readDefinitions, type KnownFacts, type SecretFacts, type UnrunCheck } from '#definitions';
import { EXIT } from './exit-codes.ts';
import { readFolder } from './folder.ts';
import { FORMATS, isFormatName, isValid, printable, type FormatName, type Report } from './report.ts';

/** Where a verb prints, and the folder that relative paths start from. */
export interface CommandIo {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  cwd: string;
}

export const VALIDATE_USAGE = `usage: millwright validate [DIR] [--format ${Object.keys(FORMATS).join('|')}] [--secrets-list FILE]

  DIR                  folder of the factory repository (default: the current one)
  --format             text (default): file:line:column: message [rule]; json: one object
  --secrets-list FILE  names of the secrets that exist, one a line; checks secretName and secrets against them
`;

interface Arguments {
  folder: string;
  format: FormatName;
  secretsList: string | undefined;
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
    const known = asked.secretsList === undefined ? {} : await namedSecrets(resolve(io.cwd, asked.secretsList));
    const report = await checkFolder(resolve(io.cwd, asked.folder), known);
    io.stdout.write(FORMATS[asked.format](report));
    io.stderr.write(summary(report));
    return isValid(report) ? EXIT.ok : EXIT.problems;
  } catch (cause) {
    return refuseCause(cause, io);
  }
}

async function checkFolder(folder: string, known: KnownFacts): Promise<Report> {
  const files = await readFolder(folder);
  const { problems, notRun } = checkReferences(readDefinitions(files), known);
  return { problems, notRun, fileCount: files.filter(({ path }) => isDefinitionPath(path)).length };
}

/** Undefined when help was asked for, a text when the arguments are wrong. */
function readArguments(argv: string[]): Arguments | string | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: { format: { type: 'string', default: 'text' }, 'secrets-list': { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help === true) return undefined;
    if (positionals.length > 1) return 'at most one DIR can be checked';
    if (!isFormatName(values.format)) return `--format must be one of ${Object.keys(FORMATS).join(', ')}`;
    return { folder: positionals[0] ?? '.', format: values.format, secretsList: values['secrets-list'] };
  } catch (cause) {
    return messageOf(cause);
  }
}

/** Facts from a list of names: that secrets exist, not whether they are set or usable. `#` starts a comment line. */
async function namedSecrets(file: string): Promise<KnownFacts> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim());
  const names = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const webhookSecrets = new Map<string, SecretFacts>(names.map((name) => [name, { name, set: true }]));
  return { webhookSecrets, runSecrets: new Set(names) };
}

const UNRUN_WORDS: Readonly<Record<UnrunCheck, string>> = {
  secrets: 'whether named secrets exist',
  'secret-values': 'whether secrets are set and usable',
  quota: 'which webhooks are new to the quota',
  uids: 'whether webhook UIDs exist',
  environments: 'whether undeclared environments exist',
};

function summary({ problems, notRun, fileCount }: Report): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const found = `${count(fileCount, 'file')}: ${count(errors, 'error')}, ${count(problems.length - errors, 'warning')}\n`;
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

/** A folder or list that is not there is a wrong argument; anything else is ours. */
function refuseCause(cause: unknown, io: CommandIo): number {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  io.stderr.write(`millwright validate: ${printable(messageOf(cause))}\n`);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' ? EXIT.usage : EXIT.internal;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'unknown failure';
}
