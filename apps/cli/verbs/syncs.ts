/** `millwright status`, `sync`, `syncs` and `approve`: state of a factory and its passes. contract §4, §9, §11. */
import type { Approval, Factory, FactoryStatus, Sync } from '#client';
import { apiVerb, type Calling } from '../connection/api.ts';
import { CommandError, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { count, toSeconds, type Cell, type Colour } from '../terminal/output.ts';
import { noteMore, PAGE_OPTIONS, pageQuery } from '../connection/pages.ts';
import { pollUntil, readTimeout, WAIT_SECONDS } from '../connection/polling.ts';
import { printPullRequests } from '../reports/pull-requests-report.ts';
import { statusExitCode, noteUnattended, printPass, printStatus } from '../reports/factory-status.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Status of a refusal because of how things are. */
const CONFLICT = 409;

const ENDINGS = [
  'Ends with 0 when the revision is applied, 1 when problems block it (or parts of it), 3 when it could not be ' +
    'read, 4 when',
  'deletions or a rewritten history wait for an approval, or when it waits for a sync window.',
];

/** The verb `status`. */
export const status = apiVerb({
  name: 'status',
  arguments: '[FACTORY]',
  summary: 'Shows where a factory stands: condition, revisions, problems, and what it serves.',
  details: ENDINGS,
  positionals: [0, 1],
  options: {},
  async run({ positionals: [name] }, { api, output }) {
    const factory = await findFactory(api, name);
    const state = await api.factories.status(factory.uid);
    // Only a server that knows of forges has a source that names one.
    const pulls =
      factory.source.forge === undefined ? undefined : (await api.factories.pullRequests.list(factory.uid)).body;
    const shown = pulls === undefined ? state : { ...state, pull_requests: pulls.pull_requests, forge: pulls.forge };
    output.result(shown, () => {
      printStatus(output, factory, state);
      if (pulls !== undefined) printPullRequests(output, pulls);
    });
    noteUnattended(output, state);
    return statusExitCode(state);
  },
});

/** The verb `sync`. */
export const sync = apiVerb({
  name: 'sync',
  arguments: '[FACTORY]',
  summary: 'Reads the factory repository now and waits for the end of the pass.',
  details: ENDINGS,
  positionals: [0, 1],
  options: {
    'no-wait': { type: 'boolean', help: 'ask for the pass and do not wait for it' },
    timeout: { type: 'string', value: 'SECONDS', help: `how long to wait (default ${WAIT_SECONDS})` },
  },
  async run({ values, positionals: [name] }, calling) {
    const { api, output } = calling;
    const timeoutMs = readTimeout(values.timeout);
    const factory = await findFactory(api, name);
    const before = values['no-wait'] === true ? undefined : await api.factories.status(factory.uid);
    const asked = await api.factories.sync(factory.uid);
    noteUnattended(output, asked);
    if (before === undefined) {
      output.result(asked, () => output.line(`${factory.slug}: a pass is asked for`));
      return EXIT.ok;
    }
    const state = await waitForSync(calling, factory, asked.generation_requested, timeoutMs);
    output.result(state, () => printPass(output, factory, state, before.last_sync?.id));
    // A suspended factory retains its condition: the requested sync did not run.
    return state.suspended ? Math.max(EXIT.problems, statusExitCode(state)) : statusExitCode(state);
  },
});

/** The verb `approve`. */
export const approve = apiVerb({
  name: 'approve',
  arguments: '[FACTORY] DIGEST',
  summary: 'Approves held deletions, a rewritten history, or what runs could do more, by their digest.',
  details: [
    'The digest covers factory, revision and deletions (of rewritten history both revisions, of growth all of it): ' +
      'whatever comes later is held again.',
    'What is not held now is not approved: a digest that was copied wrongly would look like success.',
  ],
  positionals: [1, 2],
  options: {},
  async run({ positionals }, { api, output }) {
    const digest = positionals.at(-1) ?? '';
    if (!DIGEST.test(digest))
      throw new UsageError('DIGEST must be sha256: and 64 hexadecimal digits, as `millwright status` prints it');
    const factory = await findFactory(api, positionals.length === 2 ? positionals[0] : undefined);
    const answer = await approved(api, factory, digest);
    output.result(answer, () =>
      output.line(`${factory.slug}: approved; see it applied with: millwright sync ${factory.slug}`),
    );
    return EXIT.ok;
  },
});

/** The verb `syncs`. */
export const syncs = apiVerb({
  name: 'syncs',
  arguments: '[FACTORY]',
  summary: 'Lists the passes that brought something new, newest first.',
  positionals: [0, 1],
  options: PAGE_OPTIONS,
  async run({ values, positionals: [name] }, { api, output }) {
    const query = pageQuery(values);
    const factory = await findFactory(api, name);
    const { body: answer } = await api.factories.syncs.list(factory.uid, query);
    output.result(answer, () => {
      if (answer.syncs.length === 0) return output.note(`${factory.slug}: no pass yet`);
      output.table(
        ['ENDED', 'ENDING', 'TRIGGERS', 'CHANGES', 'PROBLEMS', 'REVISION', 'MESSAGE'],
        answer.syncs.map(rowOf),
        6,
      );
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

/** Throws what to do where the server holds nothing with this digest. */
async function approved({ factories }: Calling['api'], { uid, slug }: Factory, digest: string): Promise<Approval> {
  try {
    return await factories.approve(uid, { plan: digest });
  } catch (error) {
    if (!(error instanceof CommandError) || error.answer?.status !== CONFLICT) throw error;
    const wayOut = `see what is held: millwright status ${slug}`;
    throw new CommandError(error.message, error.code, [...error.details, wayOut], { answer: error.answer });
  }
}

/** Looks until the pass that was asked for is over. */
async function waitForSync(
  { api, output }: Calling,
  factory: Factory,
  generation: number,
  timeoutMs: number,
): Promise<FactoryStatus> {
  output.note(`syncing ${factory.slug} …`);
  const over = await pollUntil(async () => {
    const state = await api.factories.status(factory.uid);
    return state.generation_handled >= generation ? state : undefined;
  }, timeoutMs);
  if (over === undefined)
    throw new CommandError(
      `the pass is not over after ${timeoutMs / 1_000} s; it goes on, see: millwright status ${factory.slug}`,
      EXIT.internal,
    );
  return over;
}

const COLOURS: Readonly<Record<string, Colour>> = { applied: 'green', blocked: 'yellow', failed: 'red' };

function rowOf({
  finished_at: ended,
  ending,
  triggers,
  changes,
  problems,
  revision,
  message,
  superseded,
}: Sync): Cell[] {
  const amount = (action: string): number => changes.filter((change) => change.action === action).length;
  const changed = changes.length === 0 ? '-' : `+${amount('create')} ~${amount('update')} -${amount('delete')}`;
  return [
    toSeconds(ended),
    { text: ending, colour: COLOURS[ending] },
    triggers.join(','),
    changed,
    problems.length === 0 ? '-' : String(problems.length),
    shortRevision(revision),
    message ?? (superseded === 0 ? '' : `${count(superseded, 'commit')} before it superseded`),
  ];
}

/** A shortened revision, distinct within a list. */
function shortRevision(revision: string | null): string {
  return revision?.replace(/((?:^|@)sha\d+:[0-9a-f]{12})[0-9a-f]+$/, '$1') ?? '-';
}
