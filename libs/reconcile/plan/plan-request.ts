/** What the schema of a wanted plan cannot state. contract §4.1 (plan), §12.6 (Plan of a ref). */
import { postedTreeProblems, type PostedTreeProblem } from '#definitions';
import { parseRef } from '../revisions/refs.ts';

/** Total: what is of the wrong type is the schema's business. Pointers lead into the body. */
export function planRequestProblems(body: unknown): PostedTreeProblem[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [];
  const { files, ref } = body as { files?: unknown; ref?: unknown };
  if (files === undefined && ref === undefined)
    return [
      { pointer: '/files', message: 'is missing, and so is "ref", for a ref of the repository that is followed' },
    ];
  return [...(ref === undefined ? [] : refProblems(ref, files !== undefined)), ...postedTreeProblems(body)];
}

function refProblems(ref: unknown, hasFiles: boolean): PostedTreeProblem[] {
  if (hasFiles) return [{ pointer: '/ref', message: 'must not stand beside "files": a plan is of one of both' }];
  const parsed = typeof ref === 'string' ? parseRef(ref) : undefined;
  return parsed?.ok === false ? [{ pointer: '/ref', message: parsed.reason }] : [];
}
