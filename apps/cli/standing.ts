/** How a factory's standing reads, and which exit code it is. contract 9, 11. */
import type { Problem } from '#definitions';
import { printPlan, type Change } from '#reconcile';
import { EXIT } from './exit-codes.ts';
import { count, toSeconds, type Colour, type Output } from './output.ts';
import { FORMATS } from './report.ts';
import type { Factory, FactoryStatus, Sync, WireChange, WireProblem } from './wire.ts';

/** Reason of a condition whose deletions wait for an approval. */
const HELD = 'prune-held';

const COLOURS: Readonly<Record<string, Colour>> = { applied: 'green', blocked: 'yellow', failed: 'red' };

/** 0 applied · 1 people must change something, or no pass yet · 3 could not be read · 4 deletions wait for an approval. */
export function exitOfStanding(standing: FactoryStatus): number {
  const { condition } = standing;
  if (condition.ending === 'failed') return EXIT.internal;
  if (condition.reason === HELD) return EXIT.held;
  if (condition.ending !== 'applied') return EXIT.problems;
  const sync = currentSync(standing);
  if (sync?.plan !== undefined && sync.plan !== null) return EXIT.held;
  // In `perFile` a revision applies beside the problems of some files.
  return sync?.problems.some(({ severity }) => severity === 'error') === true ? EXIT.problems : EXIT.ok;
}

/** Everything about a factory's standing. */
export function printStanding(output: Output, factory: Factory, standing: FactoryStatus): void {
  const { suspended, condition, revision_applied: applied, revision_attempted: attempted, inventory } = standing;
  const pending = standing.generation_requested > standing.generation_handled;
  output.fields([
    ['factory', `${factory.slug} (${factory.uid})`],
    ['condition', { text: condition.ending === 'none' ? 'no pass yet' : condition.ending, colour: COLOURS[condition.ending] }],
    ['message', condition.message ?? undefined],
    ['suspended', suspended ? { text: 'yes: definitions are not reconciled', colour: 'yellow' } : undefined],
    ['since', toSeconds(condition.since)],
    ['checked', `${toSeconds(condition.checked_at)}${pending ? ' (a pass is under way)' : ''}`],
    ['serving', applied ?? 'nothing yet'],
    ['attempted', attempted !== applied ? (attempted ?? undefined) : undefined],
    ['inventory', inventoryText(inventory)],
  ]);
  const sync = currentSync(standing);
  if (sync !== undefined && sync.problems.length + sync.held.length > 0) {
    output.line('');
    printFindings(output, factory, sync);
  }
  if (inventory.length === 0) return;
  output.line('');
  output.table(['KIND', 'NAME', 'UID', 'FILE'], inventory.map(({ kind, slug, uid, path }) => [kind, slug, uid, path]));
}

/** What one pass brought; `formerId` is the pass before it, so that an old pass is not shown as news. */
export function printPass(output: Output, factory: Factory, standing: FactoryStatus, formerId: string | undefined): void {
  const { condition, suspended, revision_applied: applied } = standing;
  const sync = currentSync(standing);
  if (sync !== undefined) printFindings(output, factory, sync);
  const news = standing.last_sync !== null && standing.last_sync.id !== formerId ? standing.last_sync : undefined;
  if (news !== undefined && news.changes.length > 0) output.text(planText(news));
  const changed = news === undefined ? ' (no changes)' : '';
  const words = condition.ending === 'applied' ? `applied, serving ${applied ?? 'nothing'}${changed}` : `${condition.ending}: ${condition.message ?? 'no pass yet'}`;
  output.line(`${factory.slug}: ${words}`, COLOURS[condition.ending]);
  if (suspended) output.note(`note: ${factory.slug} is suspended, so that its definitions were not reconciled; secrets were`);
}

/** Problems in the form of `validate`, then deletions that wait and how to let them. */
function printFindings(output: Output, factory: Factory, { problems, held, plan }: Sync): void {
  if (problems.length > 0) output.text(FORMATS.text({ problems: problems.map(toProblem), notRun: [], fileCount: 0 }));
  if (held.length === 0) return;
  for (const { kind, slug, path } of held) output.line(`held: deletion of ${kind} ${slug} (${path})`, 'yellow');
  if (plan !== null) output.note(`to let them go: millwright approve ${factory.slug} ${plan}`);
}

/** The recorded pass that the condition speaks of; a pass that changed nothing is not recorded. */
function currentSync({ last_sync: last, condition }: FactoryStatus): Sync | undefined {
  return last !== null && last.ending === condition.ending && last.reason === condition.reason ? last : undefined;
}

function planText({ changes }: Sync): string {
  return printPlan({ changes: changes.map(toChange), heldDeletions: [] });
}

function toProblem({ end_line: endLine, end_column: endColumn, ...problem }: WireProblem): Problem {
  return { ...problem, endLine, endColumn };
}

function toChange({ renamed_from: renamedFrom, ...change }: WireChange): Change {
  return { ...change, renamedFrom };
}

function inventoryText(inventory: FactoryStatus['inventory']): string {
  const kinds = [...new Set(inventory.map(({ kind }) => kind))];
  return kinds.map((kind) => count(inventory.filter((object) => object.kind === kind).length, kind)).join(', ') || 'nothing';
}
