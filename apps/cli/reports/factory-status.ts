/** Printed status of a factory and its exit code. contract §9, §11. */
import type { Change as ChangeItem, Diagnostic } from '#contracts';
import type { Problem } from '#definitions';
import { GROWTH_HELD, NO_SYNC_PROCESS, printPlan, type Change } from '#reconcile';
import { EXIT } from '../exit-codes.ts';
import { count, toSeconds, type Cell, type Colour, type Output } from '../terminal/output.ts';
import { FORMATS } from './formats.ts';
import type { Factory, FactoryStatus, Sync } from '#client';

/** Words for a factory that no files decide. */
const BY_API = 'managed over the API, so there are no files to read';

const COLOURS: Readonly<Record<string, Colour>> = { applied: 'green', blocked: 'yellow', failed: 'red' };

/** Events that a status shows. */
const EVENTS_SHOWN = 5;

/**
 * 0 what the files say serves · 1 it does not: people must change something, a sync window is closed (it opens by
 * itself; the message says
 * when), or no pass yet · 3 the files could not be read · 4 deletions, a rewritten history or growth wait for an
 * approval.
 */
export function statusExitCode(status: FactoryStatus): number {
  const { ending, reason } = status.condition;
  if (isTrue(status, 'Ready')) return EXIT.ok;
  if (ending === 'failed' || isTrue(status, 'FetchFailed')) return EXIT.internal;
  return isTrue(status, 'PruneHeld') || (ending === 'blocked' && APPROVABLE.has(reason ?? ''))
    ? EXIT.held
    : EXIT.problems;
}

/** Reasons that an approval ends. */
const APPROVABLE: ReadonlySet<string> = new Set(['history-rewritten', GROWTH_HELD]);

function isTrue({ conditions }: FactoryStatus, type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}

/** Notes that no process reconciles, so that the request waits, even if the factory is healthy otherwise. */
export function noteUnattended(output: Output, { conditions }: Pick<FactoryStatus, 'conditions'>): void {
  const found = conditions.find(
    ({ type, status, reason }) => type === 'Stalled' && status === 'True' && reason === NO_SYNC_PROCESS,
  );
  if (found !== undefined) output.note(found.message);
}

/** Everything about a factory's status. */
export function printStatus(output: Output, factory: Factory, status: FactoryStatus): void {
  const {
    suspended,
    condition,
    revision_applied: applied,
    revision_attempted: attempted,
    inventory,
    definitions_managed: managed,
  } = status;
  const pending = status.generation_requested > status.generation_handled;
  const wordsOf = (type: string): Cell | undefined => {
    const found = status.conditions.find((condition) => condition.type === type && condition.status === 'True');
    return found === undefined || found.message === condition.message
      ? undefined
      : { text: found.message, colour: 'yellow' };
  };
  output.fields([
    ['factory', `${factory.slug} (${factory.uid})`],
    [
      'condition',
      managed
        ? { text: condition.ending === 'none' ? 'no pass yet' : condition.ending, colour: COLOURS[condition.ending] }
        : BY_API,
    ],
    ['message', managed ? (condition.message ?? undefined) : undefined],
    ['suspended', suspended ? { text: 'yes: definitions are not reconciled', colour: 'yellow' } : undefined],
    ['since', toSeconds(condition.since)],
    ['checked', `${toSeconds(condition.checked_at)}${pending ? ' (a pass is under way)' : ''}`],
    ['serving', managed ? (applied ?? 'nothing yet') : undefined],
    ['attempted', managed && attempted !== applied ? (attempted ?? undefined) : undefined],
    ['seen', managed && status.revision_seen !== attempted ? (status.revision_seen ?? undefined) : undefined],
    ['history', wordsOf('HistoryRewritten')],
    ['secrets', wordsOf('SecretsDegraded')],
    ['inventory', inventoryText(inventory)],
  ]);
  const sync = currentSync(status);
  if (sync !== undefined && (sync.problems.length > 0 || sync.plan !== null)) {
    output.line('');
    printFindings(output, factory, sync);
  }
  const held = heldBefore(status, sync);
  if (held !== undefined) {
    output.line('');
    if (held.reason === GROWTH_HELD) output.line(`held: ${held.message ?? held.reason}`, 'yellow');
    printHeld(output, factory, held);
  }
  printInventory(output, inventory);
  printEvents(output, status);
}

function printInventory(output: Output, inventory: FactoryStatus['inventory']): void {
  if (inventory.length === 0) return;
  output.line('');
  output.table(
    ['KIND', 'NAME', 'STATE', 'UID', 'FILE'],
    inventory.map(({ kind, slug, state, uid, file }) => [
      kind,
      slug,
      { text: state, colour: state === 'held' ? 'yellow' : undefined },
      uid,
      file ?? '-',
    ]),
  );
}

/** What one pass brought; `formerId` is the pass before it, so that an old pass is not shown as news. */
export function printPass(output: Output, factory: Factory, status: FactoryStatus, formerId: string | undefined): void {
  const { condition, suspended, revision_applied: applied, definitions_managed: managed } = status;
  if (!managed) return output.line(`${factory.slug}: ${BY_API}`);
  const sync = currentSync(status);
  if (sync !== undefined) printFindings(output, factory, sync);
  const news = status.last_sync !== null && status.last_sync.id !== formerId ? status.last_sync : undefined;
  if (news !== undefined && news.changes.length > 0) output.text(planText(news));
  const changed = news === undefined ? ' (no changes)' : '';
  const words =
    condition.ending === 'applied'
      ? `applied, serving ${applied ?? 'nothing'}${changed}`
      : `${condition.ending}: ${condition.message ?? 'no pass yet'}`;
  output.line(`${factory.slug}: ${words}`, COLOURS[condition.ending]);
  if (suspended)
    output.note(`note: ${factory.slug} is suspended, so that its definitions were not reconciled; secrets were`);
}

/** What happened last, newest first. */
function printEvents(output: Output, { events }: FactoryStatus): void {
  if (events.length === 0) return;
  output.line('');
  output.table(
    ['EVENT', 'REASON', 'MESSAGE'],
    events
      .slice(0, EVENTS_SHOWN)
      .map(({ at, type, reason, message }) => [
        toSeconds(at),
        { text: reason, colour: type === 'Warning' ? 'yellow' : undefined },
        message,
      ]),
    2,
  );
}

/** Problems in the form of `validate`, then what waits for an approval and how to give it. */
function printFindings(output: Output, factory: Factory, sync: Sync): void {
  const { problems } = sync;
  if (problems.length > 0) output.text(FORMATS.text({ problems: problems.map(toProblem), notRun: [], fileCount: 0 }));
  printHeld(output, factory, sync);
}

/** What waits for an approval, and how to give it. */
function printHeld(
  output: Output,
  factory: Factory,
  { held, plan, revision, rewritten_from: rewrittenFrom }: Sync,
): void {
  if (plan !== null && rewrittenFrom !== null)
    output.line(`held: history rewritten from ${rewrittenFrom} to ${revision ?? 'another tip'}`, 'yellow');
  for (const { kind, slug, path } of held) output.line(`held: deletion of ${kind} ${slug} (${path})`, 'yellow');
  if (plan !== null) output.note(`to let them go: millwright approve ${factory.slug} ${plan}`);
}

/**
 * The earlier pass whose findings wait for an approval although the last one could not read the files. A server of
 * before tells of none.
 */
function heldBefore(
  { held_sync: held }: Partial<Pick<FactoryStatus, 'held_sync'>>,
  current: Sync | undefined,
): Sync | undefined {
  return held?.id === current?.id ? undefined : (held ?? undefined);
}

/** The recorded pass that the condition speaks of; a pass that changed nothing is not recorded. */
function currentSync({ last_sync: last, condition }: FactoryStatus): Sync | undefined {
  return last !== null && last.ending === condition.ending && last.reason === condition.reason ? last : undefined;
}

function planText({ changes }: Sync): string {
  return printPlan({ changes: changes.map(toChange), heldDeletions: [] });
}

/** A problem of a file as the printers have it. */
export function toProblem({
  path,
  line,
  column,
  end_line: endLine,
  end_column: endColumn,
  severity,
  rule,
  code,
  message,
}: Diagnostic): Problem {
  return { path, line, column, endLine, endColumn, severity, rule, code, message };
}

/** A change as the plan's printer has it. */
function toChange({ action, kind, slug, uid, path, changes, renamed_from: renamedFrom }: ChangeItem): Change {
  return { action, kind, slug, uid, path, changes, renamedFrom };
}

function inventoryText(inventory: FactoryStatus['inventory']): string {
  const kinds = [...new Set(inventory.map(({ kind }) => kind))];
  return (
    kinds.map((kind) => count(inventory.filter((object) => object.kind === kind).length, kind)).join(', ') || 'nothing'
  );
}
