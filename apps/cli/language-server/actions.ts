/**
 * What an editor offers to mend: as `validate --fix` would, one problem by itself or all of a file. contract §11.4,
 * §11.11.
 */
import { dirname } from 'node:path';
import { checkReferences, fixesFor, readDefinitions, type FileFix, type Problem } from '#definitions';
import { CodeActionKind, type CodeAction, type Range, type WorkspaceEdit } from 'vscode-languageserver/node';
import { FIX_ROUNDS_MAX } from '../validation/fix.ts';
import { diagnosticsOf } from './diagnostics.ts';
import { documentOf, editsBetween, rangeOf, touches } from './ranges.ts';
import type { Checked } from './repositories.ts';

/** The kind by which editors mend on saving. */
export const FIX_ALL = `${CodeActionKind.SourceFixAll}.millwright`;

export interface ActionsDeps {
  checked: Checked;
  path: string;
  /** The address of a path of the repository, as the editor knows it. */
  uriOf(path: string): string;
  /** Version of an open text; null where it is not open. */
  versionOf(path: string): number | null;
  guide: string | undefined;
  can: { renames: boolean; versions: boolean };
}

/** Kinds that were asked for; none: all. */
export function isAsked(kind: string, only: readonly string[] | undefined): boolean {
  return only === undefined || only.some((asked) => kind === asked || kind.startsWith(`${asked}.`));
}

/** A quick fix for each problem in a range that has one right answer. */
export function quickFixes(range: Range, deps: ActionsDeps): CodeAction[] {
  const { checked, path } = deps;
  const document = documentOf(checked.textOf(path));
  const problems = problemsOf(deps).filter((problem) => touches(rangeOf(problem, document), range));
  return problems.flatMap((problem): CodeAction[] => {
    const [fix] = fixesFor([problem], checked.reading.readFiles);
    const edit = fix && editOf(fix, deps);
    if (fix === undefined || edit === undefined) return [];
    const diagnostics = diagnosticsOf([problem], () => checked.textOf(path), deps.guide);
    return [{ title: titleOf(fix), kind: CodeActionKind.QuickFix, diagnostics, isPreferred: true, edit }];
  });
}

/** Everything of a text that has one right answer, as one action. */
export function fixAll(deps: ActionsDeps): CodeAction[] {
  const text = mendedText(deps);
  if (text === undefined) return [];
  return [{ title: 'Mend what has one right answer', kind: FIX_ALL, edit: textEdit({ path: deps.path, text }, deps) }];
}

/**
 * A text in which everything is mended, as after all rounds of --fix: what is put right can bring to light what stood
 * behind it. Undefined where nothing is mended.
 */
function mendedText(deps: ActionsDeps): string | undefined {
  const { path, checked } = deps;
  let [problems, { readFiles }] = [problemsOf(deps), checked.reading];
  let mended: string | undefined;
  for (let round = 0; round < FIX_ROUNDS_MAX; round += 1) {
    const [fix] = fixesFor(problems, readFiles);
    if (fix?.kind !== 'text') break;
    mended = fix.text;
    const reading = readDefinitions([{ path, content: Buffer.from(mended) }]);
    problems = checkReferences(reading, {}).problems.filter((problem) => problem.path === path);
    ({ readFiles } = reading);
  }
  return mended;
}

function problemsOf({ checked, path }: ActionsDeps): Problem[] {
  return checked.problems.filter((problem) => problem.path === path);
}

function titleOf(fix: FileFix): string {
  if (fix.kind === 'move') return `Move to ${fix.to}`;
  const [first] = fix.kind === 'text' ? fix.replacements : [];
  return first === undefined ? 'Mend' : `Write ${first.after} in place of ${first.before}`;
}

function editOf(fix: FileFix, deps: ActionsDeps): WorkspaceEdit | undefined {
  if (fix.kind === 'refused') return undefined;
  return fix.kind === 'text' ? textEdit(fix, deps) : renameEdit(fix, deps);
}

function textEdit({ path, text }: { path: string; text: string }, deps: ActionsDeps): WorkspaceEdit {
  const uri = deps.uriOf(path);
  const edits = editsBetween(deps.checked.textOf(path), text);
  if (!deps.can.versions) return { changes: { [uri]: edits } };
  return { documentChanges: [{ textDocument: { uri, version: deps.versionOf(path) }, edits }] };
}

/** A skill moves with its folder, as its files belong together; only into a place that is free. */
function renameEdit({ path, to }: { path: string; to: string }, deps: ActionsDeps): WorkspaceEdit | undefined {
  const isFolder = to.startsWith('skills/') && path.split('/').length === 3 && dirname(path) !== dirname(to);
  const [from, target] = isFolder ? [dirname(path), dirname(to)] : [path, to];
  const isTaken = deps.checked.has(to) && to.toLowerCase() !== path.toLowerCase();
  const isRenamedInside = isFolder && path.split('/')[2] !== to.split('/')[2];
  if (!deps.can.renames || isTaken || isRenamedInside) return undefined;
  const options = { overwrite: false, ignoreIfExists: false };
  return { documentChanges: [{ kind: 'rename', oldUri: deps.uriOf(from), newUri: deps.uriOf(target), options }] };
}
