/** `millwright plan`: what a folder would change in a factory, asked of the server that runs it. contract 9, 11. */
import { resolve } from 'node:path';
import type { Plan } from '#contracts';
import { checkReferences, readDefinitions, type Problem, type TreeFile } from '#definitions';
import { printPlan } from '#reconcile';
import { apiVerb } from './api.ts';
import { EXIT } from './exit-codes.ts';
import { readNamedFolder } from './folder.ts';
import { findFactory } from './names.ts';
import { count, type Output } from './output.ts';
import { FORMATS } from './formats.ts';
import { toChange, toProblem } from './standing.ts';

/** The verb `plan`. */
export const plan = apiVerb({
  name: 'plan',
  arguments: '[DIR]',
  summary: 'Shows what the files of a folder (default: the current one) would change in a factory; nothing is written.',
  details: [
    'The server checks them like a pass does, with the secrets and webhooks that the factory has, and predicts the URLs of new webhooks.',
    'Ends with 0 when nothing would change, 2 when something would, 1 when problems keep files from applying, 4 when the guard would',
    'hold deletions for an approval.',
  ],
  positionals: [0, 1],
  surplus: 'takes one DIR at most',
  options: { factory: { type: 'string', value: 'FACTORY', help: 'slug or UID of the factory (default: the only one there is)' } },
  async run({ values, positionals: [folder = '.'] }, { api, output, io }) {
    const files = await readNamedFolder(resolve(io.cwd, folder));
    const posted = toPosted(files);
    if (posted === undefined) return refuseUnsendable(files, output);
    const factory = await findFactory(api, values.factory);
    const answer = await api.call<Plan>('POST', `/factory/${factory.uid}/plan`, { body: { files: posted } });
    output.result(answer, () => print(output, factory.slug, answer));
    return exitOf(answer);
  },
});

/** Files as the API takes them; undefined when one is no text that could be sent: a link, not UTF-8, over the limit. */
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

/** What cannot be sent is in error anyway: the same engine says so here. */
function refuseUnsendable(files: readonly TreeFile[], output: Output): number {
  const { problems, notRun } = checkReferences(readDefinitions(files), {});
  output.result(JSON.parse(FORMATS.json({ problems, notRun, fileCount: files.length })), () => printProblems(output, problems));
  output.note('some files are no text that could be sent, so the server was not asked');
  return EXIT.problems;
}

function exitOf({ valid, plan: digest, changes }: Plan): number {
  if (!valid) return EXIT.problems;
  if (digest !== null) return EXIT.held;
  return changes.length > 0 ? EXIT.changes : EXIT.ok;
}

function print(output: Output, slug: string, { problems, changes, held, valid, ending, message, plan: digest }: Plan): void {
  printProblems(output, problems.map(toProblem));
  if (valid || ending === 'applied') output.text(printPlan({ changes: changes.map(toChange), heldDeletions: held.map(toChange) }));
  for (const { action, slug: name, ingress_url: url } of changes) if (action === 'create' && url !== undefined) output.line(`${name}: ${url}`);
  if (!valid) output.note(`${slug}: ${count(problems.filter(({ severity }) => severity === 'error').length, 'error')}; ${ending === 'blocked' ? 'nothing of this would apply' : 'files in error would keep their last good version'}`);
  if (digest !== null) output.note(`${slug}: ${message ?? `deletions would be held until they are approved: ${digest}`}`);
}

function printProblems(output: Output, problems: readonly Problem[]): void {
  if (problems.length > 0) output.text(FORMATS.text({ problems, notRun: [], fileCount: 0 }));
}
