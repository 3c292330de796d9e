/**
 * `millwright plan`: what a folder would change in a factory, by its server or from the files alone. contract §9, §11.
 */
import { resolve } from 'node:path';
import { checkReferences, isDefinitionPath, readDefinitions, type TreeFile } from '#definitions';
import { connect, SERVER_OPTIONS } from '../connection/api.ts';
import { UsageError, verb, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readNamedFolder } from '../repository/folder.ts';
import { FORMATS, isFormatName, type FormatName } from '../reports/formats.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { GROWTH_HELD, parseRef } from '#reconcile';
import { count, Output } from '../terminal/output.ts';
import { guideOf } from '../reports/rule-page.ts';
import { printPlanned, UNPLANNED_WORDS, type PlanPrinting, type PrintablePlan } from '../reports/plan-report.ts';
import { fromWorkingFolder } from '../reports/report.ts';

const FORMAT_NAMES = Object.keys(FORMATS).join('|');

/** The verb `plan`. */
export const plan = verb({
  name: 'plan',
  arguments: '[DIR]',
  summary: 'Shows what the files of a folder (default: the current one) would change in a factory; nothing is written.',
  details: [
    'The server checks them like a pass does, with the secrets and webhooks that the factory has, predicts the ' +
      'URLs of new webhooks, counts the',
    'deliveries and runs of the last 7 days of everything that changes, and asks the last 50 stored deliveries ' +
      'what would start for them.',
    'github prints workflow commands, and a summary where GITHUB_STEP_SUMMARY says; sarif is SARIF 2.1.0, junit ' +
      'JUnit XML.',
    'REF is one of the repository that DIR, or the current folder, belongs to; where there is none, with ' +
      '--remote, and for a pull',
    'request (pull/12), it is one of the repository that the factory follows: the service fetches and plans it.',
    'With --changed-since no server is asked: the folder is compared with the commit from which its branch and ' +
      'REF go apart.',
    'Ends with 0 when nothing would change, 2 when something would, 1 when problems keep files from applying, 4 ' +
      'when the guard would',
    'hold deletions, or the sync policy what runs could do more, for an approval.',
  ],
  positionals: [0, 1],
  surplus: 'takes one DIR at most',
  options: {
    ...SERVER_OPTIONS,
    format: {
      type: 'string',
      value: FORMAT_NAMES,
      help: 'text for people (default), the JSON of the API, or what build servers show',
    },
    factory: { type: 'string', value: 'FACTORY', help: 'slug or UID of the factory (default: the only one there is)' },
    strict: { type: 'boolean', help: 'warnings are problems too' },
    ref: {
      type: 'string',
      value: 'REF',
      help: 'plan a branch, tag, commit or pull request, of the repository here or of the followed one',
    },
    remote: { type: 'boolean', help: 'REF is of the repository that the factory follows, which the service reads' },
    'changed-since': {
      type: 'string',
      value: 'REF',
      help: 'compare with the commit from which this branch and REF go apart, without a server',
    },
  },
  async run({ values, positionals }, io) {
    const isNamed = positionals.length > 0;
    const [folder = '.'] = positionals;
    const {
      format = 'text',
      factory,
      strict = false,
      'changed-since': reference,
      ref,
      remote = false,
      server,
      'key-file': keyFile,
    } = values;
    if (!isFormatName(format)) throw new UsageError(`--format must be one of ${Object.keys(FORMATS).join(', ')}`);
    if (reference !== undefined && (server ?? keyFile ?? factory) !== undefined)
      throw new UsageError('--changed-since asks no server, so that --server, --key-file and --factory say nothing');
    if (remote && (ref === undefined || reference !== undefined || isNamed))
      throw new UsageError('--remote is for --ref REF without DIR and --changed-since: the service reads the files');
    const asked = { format, folder, isStrict: strict, ref };
    if (reference !== undefined) return planOffline(asked, reference, io);
    const at = { server, keyFile, factory };
    return ref !== undefined && !isNamed && (remote || (await isRemote(ref, io)))
      ? planRemoteRef(asked, ref, at, io)
      : planOnServer(asked, at, io);
  },
});

interface Asked {
  format: FormatName;
  folder: string;
  isStrict: boolean;
  /** Whose files they are, where they are not those of the folder. */
  ref: string | undefined;
}

async function planOnServer(
  asked: Asked,
  { server, keyFile, factory: named }: { server?: string; keyFile?: string; factory?: string },
  io: CliIo,
): Promise<number> {
  const api = await connect({ server, keyFile }, io);
  const files = await filesOf(asked, io);
  const printing = printingOf(asked, files, io);
  const posted = toPosted(files);
  if (posted === undefined) return refuseUnsendable(printing);
  const factory = await findFactory(api, named);
  const answer = await api.factories.plan(factory.uid, { files: posted });
  await printPlanned(answer, printing);
  remark(factory.slug, answer, printing.output);
  return exitOf(answer, asked.isStrict);
}

/** Milliseconds for a plan whose files the service has to fetch: its own bound, and some. */
const REMOTE_REF_MS_MAX = 150_000;

/** Whether a ref can only be one of the repository that the service follows. */
async function isRemote(ref: string, io: CliIo): Promise<boolean> {
  const parsed = parseRef(ref);
  if (parsed.ok && parsed.ref.kind === 'named' && parsed.ref.isPullRequest) return true;
  const { isInRepository } = await import('../repository/changed-since.ts');
  return !(await isInRepository(io.cwd));
}

async function planRemoteRef(
  asked: Asked,
  ref: string,
  { server, keyFile, factory: named }: { server?: string; keyFile?: string; factory?: string },
  io: CliIo,
): Promise<number> {
  const api = await connect({ server, keyFile }, io);
  const printing = { ...printingOf(asked, [], io), guide: guideOf(io.environment, server) };
  const factory = await findFactory(api, named);
  const answer = await api.factories.plan(factory.uid, { ref }, { timeout: REMOTE_REF_MS_MAX });
  await printPlanned(answer, printing);
  const { name, commit } = answer.ref ?? { name: null, commit: ref };
  printing.output.note(`${factory.slug}: this is ${name ?? 'the commit'} at ${commit}, as the service reads it`);
  if (answer.not_run !== undefined)
    printing.output.note(`not looked at: ${answer.not_run.map((check) => UNPLANNED_WORDS[check]).join('; ')}`);
  remark(factory.slug, answer, printing.output);
  return exitOf(answer, asked.isStrict);
}

async function planOffline(asked: Asked, reference: string, io: CliIo): Promise<number> {
  const { planSince } = await import('../repository/plan-offline.ts');
  const folder = resolve(io.cwd, asked.folder);
  const files = await filesOf(asked, io);
  const { plan: made, brokenBefore } = await planSince(folder, reference, files);
  const printing = printingOf(asked, files, io);
  await printPlanned(made, printing);
  if (brokenBefore > 0)
    printing.output.note(`${count(brokenBefore, 'file')} of the commit before cannot apply: compared with the others`);
  remark('offline', made, printing.output);
  printing.output.note(
    `not looked at without a server: ${made.not_run?.map((check) => UNPLANNED_WORDS[check]).join('; ')}`,
  );
  return exitOf(made, asked.isStrict);
}

async function filesOf({ folder, ref }: Asked, io: CliIo): Promise<readonly TreeFile[]> {
  const place = resolve(io.cwd, folder);
  if (ref === undefined) return readNamedFolder(place);
  const { commitAt, filesAt } = await import('../repository/changed-since.ts');
  return filesAt(place, await commitAt(place, ref));
}

function printingOf({ format, folder }: Asked, files: readonly TreeFile[], io: CliIo): PlanPrinting {
  return {
    format,
    folder,
    files,
    output: new Output(io, format === 'json' ? 'json' : 'text'),
    cwd: io.cwd,
    guide: guideOf(io.environment),
    summaryFile: io.environment['GITHUB_STEP_SUMMARY'],
  };
}

/** Files as the API takes them; undefined when one could not be sent: a link, not UTF-8, over the limit. */
function toPosted(files: readonly TreeFile[]): { path: string; content: string }[] | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return files.map(({ path, content, kind, sizeBytes }) => {
      if (kind === 'symlink' || sizeBytes !== undefined) throw new TypeError('not a text');
      return { path, content: decoder.decode(content) };
    });
  } catch {
    return undefined;
  }
}

/** Files that cannot be sent are invalid anyway: the same engine reports them here. */
function refuseUnsendable({ format, output, files, folder, cwd }: PlanPrinting): number {
  const { problems, notRun } = checkReferences(readDefinitions(files), {});
  const report = { problems, notRun, fileCount: files.filter(({ path }) => isDefinitionPath(path)).length };
  output.raw(FORMATS[format](format === 'text' || format === 'json' ? report : fromWorkingFolder(report, folder, cwd)));
  output.note('the server was not asked: some files cannot be sent, as the lines above say');
  return EXIT.problems;
}

/** Whether the guard would hold deletions of a tree that applies but for them. */
function isHeld({ valid, held, reason }: PrintablePlan): boolean {
  return valid && (held.length > 0 || reason === GROWTH_HELD);
}

function exitOf(plan: PrintablePlan, isStrict: boolean): number {
  const { valid, problems, changes } = plan;
  if (!valid || (isStrict && problems.length > 0)) return EXIT.problems;
  if (isHeld(plan)) return EXIT.held;
  return changes.length > 0 ? EXIT.changes : EXIT.ok;
}

function remark(slug: string, plan: PrintablePlan, output: Output): void {
  const { problems, advice, valid, ending, reason, message, plan: digest } = plan;
  for (const { path, message: words } of advice ?? []) output.note(`advice: ${path}: ${words}`);
  const isRefused = !valid && ending === 'blocked';
  if (!valid)
    output.note(
      `${slug}: ` +
        `${count(problems.filter(({ severity }) => severity === 'error').length, 'error')};` +
        ` ${isRefused ? 'nothing of this would apply' : 'files in error would keep their last good version'}`,
    );
  if (isHeld(plan))
    output.note(
      `${slug}: ${message ?? `deletions would be held until they are approved${digest === null ? '' : `: ${digest}`}`}`,
    );
  // Changes that would be held or refused are marked apart from those that would apply.
  else if (!isRefused && (message !== null || ending !== 'applied'))
    output.note(
      `${slug}: ${message?.replace(/\.\d{3}Z/g, 'Z') ?? `nothing of this would apply (${reason ?? ending})`}`,
    );
}
